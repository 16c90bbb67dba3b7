"""Focal loss is convex in the probability, and its slope vanishes at 1: KK24 Props. 1 and 4, KN24 Fig. 1, L25."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.second_derivative import convexity_factor
from reproduction.ledger.evidence import Derivation, Step, derivation, step
from reproduction.theorems import symbols

g = symbols.g
r, x = sp.symbols("r x", positive=True)  # 1 - q, -log q


def convexity_proof() -> Derivation:
    """L'' is (1-q)^(gamma-2) times a quadratic in gamma whose coefficients are non-negative."""
    q, gamma = symbols.q, symbols.gamma
    reduced = sp.diff(symbols.focal_loss(), q, 2) * (1 - q) ** (2 - gamma)
    quadratic = convexity_factor(q, gamma, sp.log)
    c = 2 - 2 * q + q * sp.log(q)  # q times the coefficient of gamma
    at = {q: sp.exp(-x)}
    return derivation(
        step(r"$(1-q)^{2-\gamma}\,L''(q)$ is the quadratic in $\gamma$", (reduced, quadratic), simplify=symbols.tidy),
        step(r"coefficient of $\gamma^2$: $-\log q > 0$", (-sp.log(q)).subs(at).is_positive),
        step(
            r"coefficient of $\gamma$: $c(q)/q$, $c = 2-2q+q\log q$",
            (quadratic.coeff(gamma, 1), c / q),
            simplify=symbols.tidy,
        ),
        step(r"$c'(q) = \log q - 1 < 0$ on $(0,1)$", sp.expand_log(sp.diff(c, q).subs(at)).is_negative),
        step(r"$c(1) = 0$, so $c > 0$ on $(0,1)$", (c.subs(q, 1), 0)),
        step(r"constant term $((1-q)/q)^2$, a square", (quadratic.subs(gamma, 0), ((1 - q) / q) ** 2)),
        remark="Nothing asks for gamma >= 1: the range 0 < gamma < 1 is included.",
    )


def slope_step(text: str) -> Step:
    """L' is negative: -L' q / (1-q)^(gamma-1) = 1 - q - gamma q log q, in which no term is negative."""
    q, gamma = symbols.q, symbols.gamma
    scaled = -symbols.focal_loss_slope() * q / (1 - q) ** (gamma - 1)
    return step(text, (scaled, 1 - q - gamma * q * sp.log(q)), simplify=symbols.tidy)


def gradient_limit_steps() -> tuple[Step, ...]:
    """L' = gamma r^gamma log(1-r)/r - r^gamma/(1-r) with r = 1 - p: both terms vanish as r -> 0."""
    slope = symbols.focal_loss_slope(1 - r, g)
    return (
        step(
            r"$L' = \gamma r^\gamma\frac{\log(1-r)}{r} - \frac{r^\gamma}{1-r}$ with $r = 1-p$",
            (slope, g * r**g * sp.log(1 - r) / r - r**g / (1 - r)),
        ),
        step(r"$\frac{\log(1-r)}{r} \to -1$", (sp.limit(sp.log(1 - r) / r, r, 0, "+"), -1)),
        step(r"$r^\gamma \to 0$ for every $\gamma > 0$: $L' \to 0$", (sp.limit(r**g, r, 0, "+"), 0)),
    )
