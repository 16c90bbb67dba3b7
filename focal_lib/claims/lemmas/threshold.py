"""g rises, then falls: the shape behind tau(gamma), used in Prop. 5 and in M20 Prop. 2."""

from __future__ import annotations

import sympy as sp

from focal_lib.claims.evidence import Step, step
from focal_lib.theory import symbols

__all__ = ["gain_at_half_step", "gain_positive_step", "threshold_steps"]

q, gamma = symbols.q, symbols.gamma


def threshold_steps() -> tuple[Step, ...]:
    """g rises from 1, then falls to 0, so h = 1/g is at most 1 before tau and increasing after it."""
    b = symbols.entropy_ratio()
    log_g = gamma * sp.log(1 - q) + sp.log(1 + gamma * b)
    k = symbols.gain_sign()
    factor = -gamma * sp.log(q) / ((1 - q) ** 2 * (1 + gamma * b))
    x = sp.Symbol("x", positive=True)
    mean = (1 - sp.exp(-x)) / x  # (1-q)/(-log q) at q = e^-x
    fall = 1 - (1 + x) * sp.exp(-x)
    return (
        step(
            r"$(\log g)' = \frac{-\gamma\log q}{(1-q)^2(1+\gamma b)}\,k(q)$, $k = \frac{2(1-q)}{\log q} + 1 - \gamma q$",
            sp.diff(log_g, q),
            factor * k,
        ),
        step(
            r"with $q = e^{-x}$: $\big(\frac{1-q}{-\log q}\big)' = -\frac{1-(1+x)e^{-x}}{x^2}$ in $x$",
            sp.diff(mean, x),
            -fall / x**2,
        ),
        step(
            r"$1-(1+x)e^{-x}$ is 0 at 0 with derivative $xe^{-x} > 0$: $\frac{1-q}{-\log q}$ increases in $q$, so $k$ decreases",
            sp.diff(fall, x) + fall.subs(x, 0),
            x * sp.exp(-x),
        ),
        step(
            r"$k \to 1$ as $q \to 0$",
            sp.limit(2 * (1 - q) / sp.log(q) + 1, q, 0, "+") - (gamma * q).subs(q, 0),
            1,
        ),
        step(r"$k \to -1-\gamma < 0$ as $q \to 1$: $g$ rises, then falls", sp.limit(k, q, 1, "-"), -1 - gamma),
    )


def gain_positive_step() -> Step:
    """g = -q L' > 0, the factor (1-q)^gamma apart: b(e^-x) = x/(e^x - 1), and e^x - 1 rises from 0."""
    x = sp.Symbol("x", positive=True)
    residual = -q * sp.diff(symbols.focal_loss(), q) / (1 - q) ** gamma - (1 + gamma * symbols.entropy_ratio())
    in_x = sp.simplify(symbols.entropy_ratio(sp.exp(-x)) - x / (sp.exp(x) - 1))
    rises = sp.exp(sp.S.Zero) == 1 and sp.diff(sp.exp(x) - 1, x).is_positive
    return Step(
        r"$g = -q\,L' = (1-q)^\gamma(1+\gamma b) > 0$ on $(0, 1)$, as $b(e^{-x}) = \frac{x}{e^x-1} > 0$",
        bool(sp.simplify(residual) == 0 and in_x == 0 and rises),
    )


def gain_at_half_step() -> Step:
    """g(1/2) <= 1 for every gamma, so tau(gamma) < 1/2."""
    g = sp.Symbol("gamma", positive=True)
    return step(
        r"$\log g(\frac12) = \log(1+\gamma\log2) - \gamma\log2$ is 0 at $\gamma = 0$ and falls: its derivative is "
        r"$-\frac{\gamma\log^22}{1+\gamma\log2}$",
        sp.diff(sp.log(symbols.gain(sp.Rational(1, 2), g)), g),
        -g * sp.log(2) ** 2 / (1 + g * sp.log(2)),
        lambda e: sp.simplify(sp.expand_log(e, force=True)),
    )
