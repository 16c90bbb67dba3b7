"""The second derivative of g in p: negative for gamma <= 1, of two signs above (M20 App. B, KN24 on curvature)."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step, step_of_several
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps

q = symbols.q
g = sp.Symbol("gamma", positive=True)
r = 1 - q
b = sp.Function("b")(q)


def gain_concave_steps() -> tuple[Step, ...]:
    """g'' < 0 for 0 < gamma <= 1."""
    rest, b0, b1, b2 = sp.symbols("r b b_1 b_2", positive=True)  # 1-q, b, b', -b''
    second = sp.diff(gain_of_b(), q, 2).doit()
    second = second.subs({b.diff(q, 2): -b2, b.diff(q): b1}).subs(b, b0).subs(q, 1 - rest)
    written = -(g * (1 - g) * rest ** (g - 2) * (1 + g * b0) + 2 * g**2 * rest ** (g - 1) * b1 + g * rest**g * b2)
    return (
        *entropy_ratio_steps(),
        step(
            r"$g'' = -\big[\gamma(1-\gamma)r^{\gamma-2}(1+\gamma b) + 2\gamma^2r^{\gamma-1}b' + \gamma r^\gamma|b''|\big] < 0$ for "
            r"$\gamma \le 1$, $r = 1-q$",
            sp.expand(sp.powsimp(sp.expand((second - written) / rest ** (g - 2)), force=True)),
            0,
        ),
    )


def slope_over_power() -> sp.Expr:
    """g' over (1-p)^(gamma-1)."""
    return sp.simplify(sp.expand(sp.powsimp(sp.expand(sp.diff(symbols.gain(q, g), q) / r ** (g - 1)), force=True)))


def gain_slope_end_steps() -> tuple[Step, ...]:
    """g' is positive at p = 0 and negative at p = 1, for gamma <= 1."""
    ratio = symbols.entropy_ratio()
    return (
        step_of_several(
            r"$g' \to \infty$ as $p \to 0$: $b' \to \infty$, and $b \to 0$",
            (1 / sp.limit(sp.diff(ratio, q), q, 0, "+"), 0),
            (sp.limit(ratio, q, 0, "+"), 0),
        ),
        step(
            r"$g'/r^{\gamma-1} \to -\gamma(1+\gamma) < 0$ as $p \to 1$, $r = 1-p$",
            sp.limit(slope_over_power(), q, 1, "-"),
            -g * (1 + g),
        ),
    )


def gain_curvature_steps() -> tuple[Step, ...]:
    """g'' = gamma r^(gamma-2) phi with phi increasing from -oo to gamma^2 - 1: for gamma > 1 one change of sign."""
    phi = (g - 1) * (1 + g * b) - 2 * g * r * b.diff(q) + r**2 * b.diff(q, 2)
    rising = g * (g + 1) * b.diff(q) - 2 * (g + 1) * r * b.diff(q, 2) + r**2 * b.diff(q, 3)
    ratio = symbols.entropy_ratio()
    return (
        *entropy_ratio_steps(),
        step(
            r"$g'' = \gamma r^{\gamma-2}\varphi$, $\varphi = (\gamma-1)(1+\gamma b) - 2\gamma r\,b' + r^2b''$, $r = 1-q$",
            over_power(sp.diff(gain_of_b(), q, 2), 2) - g * phi,
            0,
        ),
        step(
            r"$\varphi' = \gamma(\gamma+1)b' - 2(\gamma+1)r\,b'' + r^2b^{(3)} > 0$",
            sp.expand(sp.diff(phi, q) - rising),
            0,
        ),
        step(r"at 0 it is $-\infty$: $b' \to \infty$", 1 / sp.limit(sp.diff(ratio, q), q, 0, "+"), 0),
        step(
            r"$b'' < 0$ stays finite at 1, so $\varphi \to (\gamma-1)(1+\gamma) > 0$: $b \to 1$",
            sp.limit(ratio, q, 1, "-"),
            1,
        ),
        step_of_several(
            r"$r\,b' \to 0$ and $r^2b'' \to 0$ there",
            *((sp.limit((1 - q) ** k * sp.diff(ratio, q, k), q, 1, "-"), 0) for k in (1, 2)),
        ),
    )


def gain_of_b() -> sp.Expr:
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
