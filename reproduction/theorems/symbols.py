r"""The papers' formulas as sympy expressions, for the proofs: what notebooks, claims and tests manipulate and print.

Apart from the functions that compute, so that one checks the other: `test_one_formula` compares the two.

`q` is what the model says, `s` its logit, `gamma` the focal parameter. Functions take the
symbols they depend on, so that a caller can substitute anything sympy understands.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

q = sp.Symbol("q", positive=True)  # in (0, 1)
s = sp.Symbol("s", real=True)
gamma = sp.Symbol("gamma", nonnegative=True)
g = sp.Symbol("gamma", positive=True)  # where a proof needs that


def focal_loss(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """L(q) = -(1-q)^gamma log q, the loss on the true class (KK24 section 2)."""
    return -((1 - q) ** gamma) * sp.log(q)


def focal_loss_slope(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """L'(q) = gamma (1-q)^(gamma-1) log q - (1-q)^gamma / q (KK24 App. A.1)."""
    return gamma * (1 - q) ** (gamma - 1) * sp.log(q) - (1 - q) ** gamma / q


def entropy_ratio(q: Any = q) -> sp.Expr:
    """b(q) = -q log q / (1-q), in (0, 1)."""
    return -q * sp.log(q) / (1 - q)


def gain(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """g(q) = (1-q)^gamma (1 + gamma b(q)) = -q L'(q): focal over cross-entropy gradient (M20 Prop. 1)."""
    return (1 - q) ** gamma * (1 + gamma * entropy_ratio(q))


def gain_sign(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """k(q) = 2 (1-q)/log q + 1 - gamma q, which has the sign of g'(q) (M20 Eq. (9))."""
    return 2 * (1 - q) / sp.log(q) + 1 - gamma * q


def weight(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """w(q) = -1 / L'(q) = q / g(q): the unnormalised map of KK24 Eq. (1)."""
    return q / gain(q, gamma)


def probability_curvature_ratio(q: sp.Symbol = q, gamma: Any = gamma) -> sp.Expr:
    """q^2 L''(q) = g - q g': the second derivative in q over that of cross-entropy (KN24)."""
    return gain(q, gamma) - q * sp.diff(gain(q, gamma), q)


def logit_curvature_ratio(q: sp.Symbol = q, gamma: Any = gamma) -> sp.Expr:
    """g - (1-q) g': the second derivative in the logit of the true class over that of cross-entropy (KN24)."""
    return gain(q, gamma) - (1 - q) * sp.diff(gain(q, gamma), q)


def binary_map(q: Any = q, gamma: Any = gamma) -> sp.Expr:
    """p-hat(q) as printed in KK24 Prop. 2."""
    odds = ((1 - q) / q) ** gamma
    odds *= ((1 - q) - gamma * q * sp.log(q)) / (q - gamma * (1 - q) * sp.log(1 - q))
    return 1 / (1 + odds)


def u(s: Any = s) -> sp.Expr:
    """u(s) = e^s log(1 + e^-s), which is b(sigmoid(s))."""
    return sp.exp(s) * sp.log(1 + sp.exp(-s))


def logit_gap(s: Any = s, gamma: Any = gamma) -> sp.Expr:
    """R(s) = log((1 + gamma u(s)) / (1 + gamma u(-s))), odd in s."""
    return sp.log((1 + gamma * u(s)) / (1 + gamma * u(-s)))


def binary_map_of_logit(s: Any = s, gamma: Any = gamma) -> sp.Expr:
    """logit FC(s) = (gamma + 1) s - R(s)."""
    return (gamma + 1) * s - logit_gap(s, gamma)


def curvature_cubic(s: sp.Symbol = s) -> tuple[sp.Expr, ...]:
    r"""The numerators c_0(s), ..., c_3(s) of R''(s), with u = u(s) and its mirror image u(-s):

    .. math:: R''(s) = \gamma\,\frac{c_0 + c_1\gamma + c_2\gamma^2 + c_3\gamma^3}{(1+\gamma u)^2(1+\gamma\bar u)^2}.
    """
    g = sp.Symbol("g", positive=True)
    here, mirrored = sp.symbols("u_:3"), sp.symbols("v_:3")  # u and its derivatives, at s and mirrored

    def part(value: sp.Expr, slope: sp.Expr, second: sp.Expr) -> sp.Expr:
        return second * (1 + g * value) - g * slope**2  # numerator of (log(1 + g u))'' / g

    numerator = sp.expand(part(*here) * (1 + g * mirrored[0]) ** 2 - part(*mirrored) * (1 + g * here[0]) ** 2)
    values = {here[k]: sp.diff(u(s), s, k) for k in range(3)} | {mirrored[k]: sp.diff(u(-s), s, k) for k in range(3)}
    return tuple(numerator.coeff(g, k).subs(values) for k in range(4))


def tidy(expression: Any) -> sp.Expr:
    """Simplified, with the powers of each base taken together as those of a positive one: (1-q)^gamma / (1-q)."""
    return sp.simplify(sp.powsimp(sp.expand(expression), force=True))
