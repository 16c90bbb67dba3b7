"""The papers' formulas on Arb balls, written by hand to find certificates: the checker has its own, from sympy.

tests/reproduction/theorems/test_one_formula.py compares them with the functions that compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, arb_series, ctx

from reproduction.ledger.certificates.balls import precision


def gain(q: arb, gamma: arb) -> arb:
    """g(q) = (1-q)^gamma (1 + gamma b(q))."""
    rest = 1 - q
    return (gamma * rest.log()).exp() * (1 - gamma * q * q.log() / rest)


def weight(q: arb, gamma: arb) -> arb:
    """w(q) = q / g(q)."""
    return q / gain(q, gamma)


def focal_map(probs: Sequence[arb], gamma: arb) -> list[arb]:
    """KK24 Eq. (1), a ball for each class."""
    weights = [weight(q, gamma) for q in probs]
    total = sum(weights[1:], weights[0])
    return [w / total for w in weights]


def _u_pair(s: Any) -> tuple[Any, Any, Any]:
    """q = sigmoid(s), u(s), u(-s); s a ball or a power series."""
    x = (-s).exp()
    soft = (1 + x).log()
    return 1 / (1 + x), soft / x, x * (soft + s)


def logit_gap(s: arb, gamma: arb) -> arb:
    """R(s) = log((1 + gamma u(s)) / (1 + gamma u(-s)))."""
    _, high, low = _u_pair(s)
    return ((1 + gamma * high) / (1 + gamma * low)).log()


def logit_gap_slope(s: Any, gamma: Any) -> Any:
    """R'(s) / gamma."""
    q, high, low = _u_pair(s)
    return (high - q) / (1 + gamma * high) + (low - (1 - q)) / (1 + gamma * low)


def _curvature_cubic(s: Any) -> tuple[Any, Any, Any, Any]:
    """c_0 .. c_3 of symbols.curvature_cubic, written out by hand.

    u' = u - q and u'' = u' - q(1-q) with q = sigmoid(s).
    """
    q, high, low = _u_pair(s)
    variance = q * (1 - q)
    a, b = high - q, low - (1 - q)  # u' at s and at -s
    a2, b2 = a - variance, b - variance
    a3, b3 = high * a2 - a * a, low * b2 - b * b
    return (
        a2 - b2,
        a3 - b3 + 2 * (a2 * low - b2 * high),
        a2 * low * low - b2 * high * high + 2 * (a3 * low - b3 * high),
        a3 * low * low - b3 * high * high,
    )


def curvature_growth(s: Any, k: int) -> Any:
    """c_k c_3' - c_k' c_3 for k = 0, 1, 2, or c_3 for k = 3, on a power series."""
    with precision(None, ctx.cap + 1):  # a derivative loses one order
        *lower, top = _curvature_cubic(arb_series([s[0], s[1]]))
        return top if k == 3 else lower[k] * top.derivative() - lower[k].derivative() * top


def curvature_sum(s: Any, weights: Sequence[int]) -> Any:
    """weights[0] c_0 + ... + weights[3] c_3 on a power series."""
    return sum(weight * c for weight, c in zip(weights, _curvature_cubic(s), strict=True))
