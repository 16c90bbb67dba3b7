"""w = -1/L' of the map on the simplex: where it comes from, and that it increases from 0 to infinity. KK24 Prop. 4."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import entropy_ratio

q, gamma, g = symbols.q, symbols.gamma, symbols.g


def lagrange_steps() -> tuple[Step, ...]:
    """At a stationary point of the conditional risk, p_j is proportional to w(q_j)."""
    p, lam = sp.symbols("p lambda", positive=True)
    stationary = sp.solve(sp.Eq(p * symbols.focal_loss_slope(), -lam), p)[0]
    common = (1 - q) ** (gamma - 1)
    return (
        step(
            r"$p_j L'(q_j) + \lambda = 0$ gives $p_j = \lambda w(q_j)$, $w = -1/L'$",
            (1 / (stationary / lam) / common, -symbols.focal_loss_slope() / common),
            simplify=symbols.tidy,
        ),
        _summand_step(),
    )


def _summand_step(gamma: sp.Symbol = gamma) -> Step:
    """Of Eq. (1), from the slope of the loss."""
    common = (1 - q) ** (gamma - 1)
    printed = 1 / ((1 - q) ** gamma * (1 / q - gamma * sp.log(q) / (1 - q)))
    slope = symbols.focal_loss_slope(q, gamma)
    return step(
        r"$w$ is the summand of the printed map", (1 / printed / common, -slope / common), simplify=symbols.tidy
    )


def weight_steps() -> tuple[Step, ...]:
    """w = q / ((1-q)^gamma (1 + gamma b)) increases from 0 to infinity, for every gamma > 0."""
    r = sp.Symbol("r", positive=True)
    return (
        weight_slope_step(r"$w' = L''/L'^2$, positive by Prop. 1"),
        _weight_step(g),
        entropy_ratio.limit_step(r"$b \to 0$ as $q \to 0$, so $w/q \to 1$ and $w \to 0$"),
        entropy_ratio.limit_step(r"$b \to 1$ as $q \to 1$", 1),
        step(r"and $r^\gamma \to 0$ as $r = 1 - q \to 0$, so $w \to \infty$", (sp.limit(r**g, r, 0, "+"), 0)),
    )


def weight_slope_step(text: str) -> Step:
    """w' = L''/L'^2."""
    slope = sp.Function("L")(q).diff(q)
    return step(text, (sp.diff(-1 / slope, q), slope.diff(q) / slope**2))


def _weight_step(g: sp.Symbol) -> Step:
    """From the loss itself, by its derivative."""
    return step(
        r"$w = -1/L' = \frac{q}{(1-q)^\gamma(1+\gamma b)}$",
        (-sp.diff(symbols.focal_loss(q, g), q) / (1 - q) ** g, (1 + g * symbols.entropy_ratio()) / q),
    )


def printed_weight_steps(g: sp.Symbol = g) -> tuple[Step, ...]:
    """w = q h, h = 1/g, is the summand of the printed map: what ties a proof about g or h to Eq. (1).

    Args:
        g: gamma, a symbol whose assumptions are the proof's.
    """
    return (
        _summand_step(g),
        _weight_step(g),
        step(
            r"so $w = q\,h(q)$ with $h = \frac1g$, $g = (1-q)^\gamma(1+\gamma b)$",
            (symbols.weight(q, g), q / symbols.gain(q, g)),
            (symbols.gain(q, g), (1 - q) ** g * (1 + g * symbols.entropy_ratio())),
        ),
    )


def top_class_step() -> Step:
    """What the map does to the top class, m, from its weight: p_m = w(m) / S."""
    m, total = sp.symbols("m S", positive=True)
    return step(
        r"$\hat p_{\max} - q_{\max} = \frac{w(m)}{S} - m = m\,(h(m) - S)/S$ with $m = q_{\max}$, $S = \sum_i w(q_i) = \sum_i q_i h(q_i)$",
        (symbols.weight(m, gamma) / total - m, m * (1 / symbols.gain(m, gamma) - total) / total),
    )
