"""The factor g of M20: it rises, then falls; its limits; its second derivative. For KK24 Prop. 5, M20 App. B, KN24."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import entropy_ratio
from reproduction.theorems.lemmas.entropy_ratio import b, fall, rise, value

q, gamma, g = symbols.q, symbols.gamma, symbols.g
r = 1 - q
CRITICAL = (  # for statements
    r"$\gamma^*(p)$ is the $\gamma > 0$ with which focal loss and cross-entropy have equal gradients at $p$"
)


def threshold_steps() -> tuple[Step, ...]:
    """g rises from 1, then falls to 0, so h = 1/g is at most 1 before tau and increasing after it."""
    b = symbols.entropy_ratio()
    log_g = sp.expand_log(sp.log(symbols.gain()), force=True)
    k = symbols.gain_sign()
    factor = -gamma * sp.log(q) / ((1 - q) ** 2 * (1 + gamma * b))
    x = sp.Symbol("x", positive=True)
    mean = (1 - sp.exp(-x)) / x  # (1-q)/(-log q) at q = e^-x
    excess = 1 - (1 + x) * sp.exp(-x)
    return (
        step(
            r"$(\log g)' = \frac{-\gamma\log q}{(1-q)^2(1+\gamma b)}\,k(q)$, $k = \frac{2(1-q)}{\log q} + 1 - \gamma q$",
            (sp.diff(log_g, q), factor * k),
        ),
        step(
            r"with $q = e^{-x}$: $\big(\frac{1-q}{-\log q}\big)' = -\frac{1-(1+x)e^{-x}}{x^2}$ in $x$",
            (sp.diff(mean, x), -excess / x**2),
        ),
        step(
            r"$1-(1+x)e^{-x}$ is 0 at 0 with derivative $xe^{-x} > 0$: $\frac{1-q}{-\log q}$ increases in $q$, so $k$ decreases",
            (excess.subs(x, 0), 0),
            (sp.diff(excess, x), x * sp.exp(-x)),
        ),
        step(r"$k \to 1$ as $q \to 0$", (sp.limit(2 * (1 - q) / sp.log(q) + 1, q, 0, "+") - (gamma * q).subs(q, 0), 1)),
        step(r"$k \to -1-\gamma < 0$ as $q \to 1$: $g$ rises, then falls", (sp.limit(k, q, 1, "-"), -1 - gamma)),
        *limit_steps(),
    )


def positive_step() -> Step:
    """g = -q L' > 0, the factor (1-q)^gamma apart: b(e^-x) = x/(e^x - 1), and e^x - 1 rises from 0."""
    x = sp.Symbol("x", positive=True)
    residual = -q * sp.diff(symbols.focal_loss(), q) / (1 - q) ** gamma - (1 + gamma * symbols.entropy_ratio())
    in_x = sp.simplify(symbols.entropy_ratio(sp.exp(-x)) - x / (sp.exp(x) - 1))
    rises = sp.exp(sp.S.Zero) == 1 and sp.diff(sp.exp(x) - 1, x).is_positive
    return Step(
        r"$g = -q\,L' = (1-q)^\gamma(1+\gamma b) > 0$ on $(0, 1)$, as $b(e^{-x}) = \frac{x}{e^x-1} > 0$",
        bool(sp.simplify(residual) == 0 and in_x == 0 and rises),
    )


def of_loss_step(text: str = r"$-q\,L' = g$", g: sp.Symbol = g) -> Step:
    """g is -q times the slope of the loss, the power of 1 - q apart."""
    residual = -q * sp.diff(symbols.focal_loss(q, g), q) - symbols.gain(q, g)
    return step(text, (residual / (1 - q) ** (g - 1), 0), simplify=symbols.tidy)


def at_half_step() -> Step:
    """g(1/2) <= 1 for every gamma, so tau(gamma) < 1/2."""
    g = sp.Symbol("gamma", nonnegative=True)
    at_half = sp.expand_log(sp.log(symbols.gain(sp.Rational(1, 2), g)), force=True)
    return step(
        r"$\log g(\frac12) = \log(1+\gamma\log2) - \gamma\log2$ is 0 at $\gamma = 0$ and falls: its derivative is "
        r"$-\frac{\gamma\log^22}{1+\gamma\log2}$",
        (at_half.subs(g, 0), 0),
        (sp.diff(at_half, g), -g * sp.log(2) ** 2 / (1 + g * sp.log(2))),
    )


def limit_steps() -> tuple[Step, ...]:
    """g tends to 1 at p = 0 and to 0 at p = 1, for every gamma > 0."""
    r, ratio = sp.Symbol("r", positive=True), symbols.entropy_ratio()  # r = 1 - p
    at_zero, at_one = (sp.limit(ratio, q, point, side) for point, side in ((0, "+"), (1, "-")))
    over_power = sp.simplify(symbols.gain(q, g) / (1 - q) ** g)
    return (
        step(
            r"$g = (1-p)^\gamma(1+\gamma b) \to 1$ as $p \to 0$: $b \to 0$",
            (over_power, 1 + g * ratio),
            (((1 - q) ** g).subs(q, 0) * (1 + g * at_zero), 1),
        ),
        step(
            r"$g \to 0$ as $p \to 1$: $b \to 1$ stays finite, and $r^\gamma \to 0$, $r = 1-p$",
            (at_one, 1),
            (sp.limit(r**g, r, 0, "+") * (1 + g * at_one), 0),
        ),
    )


def larger_gamma_steps() -> tuple[Step, ...]:
    """d log g / d gamma is at most its value at gamma = 0, which is not positive for p >= 1/2."""
    rest, b = sp.symbols("r b", positive=True)
    log_g = g * sp.log(rest) + sp.log(1 + g * b)
    printed = sp.expand_log(sp.log(symbols.gain(q, g)), force=True)
    f = (1 - q) * sp.log(1 - q) - q * sp.log(q)  # (1-q) (log(1-q) + b)
    slope = sp.log(rest) + b / (1 + g * b)
    return (
        step(
            r"$\log g = \gamma\log(1-p) + \log(1+\gamma b)$, so $\partial_\gamma\log g = \log(1-p) + \frac{b}{1+\gamma b} = \log(1-p) + b - \frac{\gamma b^2}{1+\gamma b} \le \log(1-p) + b$",
            (printed, log_g.subs({rest: 1 - q, b: symbols.entropy_ratio()})),
            (sp.diff(log_g, g), slope),
            (slope, sp.log(rest) + b - g * b**2 / (1 + g * b)),
        ),
        *entropy_ratio.terms_steps(),
        step(r"$\log(1-p) + b = \frac{f(p)}{1-p}$", (sp.log(1 - q) + symbols.entropy_ratio(), f / (1 - q))),
    )


def concave_steps() -> tuple[Step, ...]:
    """g'' < 0 for 0 < gamma <= 1."""
    rest = sp.Symbol("r", positive=True)
    second = entropy_ratio.derivative_by_signs(of_b(), 2).subs(q, 1 - rest)
    written = -g * ((1 - g) * rest ** (g - 2) * (1 + g * value) + 2 * g * rest ** (g - 1) * rise + rest**g * fall)
    return (
        *entropy_ratio.sign_steps(),
        step(
            r"$g'' = -\big[\gamma(1-\gamma)r^{\gamma-2}(1+\gamma b) + 2\gamma^2r^{\gamma-1}b' + \gamma r^\gamma|b''|\big] < 0$ for "
            r"$\gamma \le 1$, $r = 1-q$",
            (sp.expand(sp.powsimp(sp.expand((second - written) / rest ** (g - 2)), force=True)), 0),
        ),
    )


def slope_over_power() -> sp.Expr:
    """g' over (1-p)^(gamma-1)."""
    return sp.simplify(sp.expand(sp.powsimp(sp.expand(sp.diff(symbols.gain(q, g), q) / r ** (g - 1)), force=True)))


def slope_end_steps() -> tuple[Step, ...]:
    """g' is positive at p = 0 and negative at p = 1, for gamma <= 1."""
    ratio = symbols.entropy_ratio()
    return (
        step(
            r"$g' \to \infty$ as $p \to 0$: $b' \to \infty$, and $b \to 0$",
            (1 / sp.limit(sp.diff(ratio, q), q, 0, "+"), 0),
            (sp.limit(ratio, q, 0, "+"), 0),
        ),
        step(
            r"$g'/r^{\gamma-1} \to -\gamma(1+\gamma) < 0$ as $p \to 1$, $r = 1-p$",
            (sp.limit(slope_over_power(), q, 1, "-"), -g * (1 + g)),
        ),
    )


def curvature_steps() -> tuple[Step, ...]:
    """g'' = gamma r^(gamma-2) phi with phi increasing from -oo to gamma^2 - 1: for gamma > 1 one change of sign."""
    phi = (g - 1) * (1 + g * b) - 2 * g * r * b.diff(q) + r**2 * b.diff(q, 2)
    rising = g * (g + 1) * b.diff(q) - 2 * (g + 1) * r * b.diff(q, 2) + r**2 * b.diff(q, 3)
    ratio = symbols.entropy_ratio()
    return (
        *entropy_ratio.sign_steps(),
        step(
            r"$g'' = \gamma r^{\gamma-2}\varphi$, $\varphi = (\gamma-1)(1+\gamma b) - 2\gamma r\,b' + r^2b''$, $r = 1-q$",
            (over_power(sp.diff(of_b(), q, 2), 2) - g * phi, 0),
        ),
        step(
            r"$\varphi' = \gamma(\gamma+1)b' - 2(\gamma+1)r\,b'' + r^2b^{(3)} > 0$",
            (sp.expand(sp.diff(phi, q) - rising), 0),
        ),
        step(r"at 0 it is $-\infty$: $b' \to \infty$", (1 / sp.limit(sp.diff(ratio, q), q, 0, "+"), 0)),
        entropy_ratio.limit_step(
            r"$b'' < 0$ stays finite at 1, so $\varphi \to (\gamma-1)(1+\gamma) > 0$: $b \to 1$", 1
        ),
        step(
            r"$r\,b' \to 0$ and $r^2b'' \to 0$ there",
            *((sp.limit((1 - q) ** k * sp.diff(ratio, q, k), q, 1, "-"), 0) for k in (1, 2)),
        ),
    )


def of_b() -> sp.Expr:
    """g with b as a function."""
    return symbols.gain(q, g).subs(symbols.entropy_ratio(), b)


def over_power(expression: sp.Expr, below: int) -> sp.Expr:
    """The expression over r^(gamma - below), expanded."""
    rest = sp.Symbol("r", positive=True)
    return (
        sp.expand(sp.powsimp(sp.expand(expression.doit().subs(1 - q, rest) / rest ** (g - below)), force=True))
        .subs(rest, r)
        .expand()
    )
