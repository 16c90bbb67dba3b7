r"""Proofs by ball arithmetic (Arb): formulas on balls, sign certificates over boxes, their checker.

A certificate is a tuple of boxes. `prove_*` finds the boxes by bisection; `check_*` is separate
and small: it verifies that the boxes cover the range without a gap and that the sign holds on
each. Numbers enter as exact rationals: arb(0.1) would be the double.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, arb_series, ctx, fmpq

__all__ = [
    "Box",
    "covers",
    "curvature_cubic",
    "exact",
    "focal_map",
    "gain",
    "logit_gap",
    "logit_gap_slope",
    "precision",
    "proves_curvature_negative",
    "proves_slope_below",
    "search_boxes",
    "weight",
]

Box = tuple[Fraction, Fraction]
_LN2 = arb(2).log()


@contextmanager
def precision(bits: int = 120) -> Iterator[None]:
    """Arb's working precision, restored afterwards."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def exact(value: str | int | Fraction) -> arb:
    """The number as written: exact('0.333') encloses 333/1000."""
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def _ball(low: Fraction, high: Fraction) -> arb:
    return exact(low).union(exact(high))


# --- the papers' formulas on balls ------------------------------------------------------


def gain(q: arb, gamma: arb) -> arb:
    """g(q) = (1-q)^gamma (1 + gamma b(q))."""
    rest = 1 - q
    return (gamma * rest.log()).exp() * (1 - gamma * q * q.log() / rest)


def weight(q: arb, gamma: arb) -> arb:
    """w(q) = q / g(q)."""
    return q / gain(q, gamma)


def focal_map(probs: Sequence[arb], gamma: arb) -> list[arb]:
    """KK24 Eq. (1) on a row of balls."""
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


def curvature_cubic(s: Any) -> tuple[Any, Any, Any, Any]:
    """Coefficients in gamma of P(s, gamma), which has the sign of R''(s).

    R'' = A''(s) - A''(-s) with A = log(1 + gamma u), so with u' = u - q, u'' = u' - q(1-q)
    P = (u'' + gamma (u u'' - u'^2)) (1 + gamma v)^2 - (the same with u and v = u(-s) exchanged).
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


# --- boxes ------------------------------------------------------------------------------


def search_boxes(
    proves: Callable[[Fraction, Fraction], bool], low: Fraction, high: Fraction, max_boxes: int = 20_000
) -> tuple[Box, ...]:
    """Boxes of [low, high] on each of which `proves` says yes, by bisection; () where it fails."""
    done: list[Box] = []
    pieces = max(1, int(high - low))  # start at length about 1: formulas on wider balls can be 0/0
    ends = [low + (high - low) * k / pieces for k in range(pieces + 1)]
    todo = list(itertools.pairwise(ends))[::-1]
    while todo:
        a, b = todo.pop()
        if proves(a, b):
            done.append((a, b))
        elif len(done) + len(todo) >= max_boxes or b - a < Fraction(1, 2**24):
            return ()
        else:
            middle = (a + b) / 2
            todo += [(middle, b), (a, middle)]
    return tuple(done)


def covers(boxes: Sequence[Box], low: Fraction, high: Fraction) -> bool:
    """Whether the boxes, in order, cover [low, high] without a gap."""
    if not boxes or boxes[0][0] > low or boxes[-1][1] < high:
        return False
    return all(a < b for a, b in boxes) and all(left[1] >= right[0] for left, right in itertools.pairwise(boxes))


def _taylor(function: Callable[[Any], Any], low: Fraction, high: Fraction, order: int, derivative: int = 0) -> Any:
    """Enclosures of function (or its derivative) over [low, high]: Taylor at the middle, ball remainder."""
    middle, radius = (low + high) / 2, (high - low) / 2
    step = _ball(-radius, radius)
    ctx.cap = order + 1
    at_middle = function(arb_series([exact(middle), 1]))
    on_box = function(arb_series([_ball(low, high), 1]))
    enclosures = []
    for point, box in zip(at_middle, on_box, strict=True):
        coefficients = [point[k] for k in range(order)] + [box[order]]
        value = arb(0)
        for k in range(order, derivative - 1, -1):
            falling = arb(1)
            for j in range(derivative):
                falling *= k - j
            value = falling * coefficients[k] + step * value
        enclosures.append(value)
    return enclosures


def _cubic_is_negative(c: Sequence[arb], low: Fraction, high: Fraction, depth: int = 14) -> bool:
    """Whether c0 + c1 g + c2 g^2 + c3 g^3 < 0 for all g in [low, high], by the mean value form."""
    middle, g = exact((low + high) / 2), _ball(low, high)
    at_middle = c[0] + middle * (c[1] + middle * (c[2] + middle * c[3]))
    slope = c[1] + g * (2 * c[2] + 3 * g * c[3])
    if at_middle + slope * (g - middle) < 0:
        return True
    half = (low + high) / 2
    return depth > 0 and all(_cubic_is_negative(c, a, b, depth - 1) for a, b in ((low, half), (half, high)))


def proves_curvature_negative(low: Fraction, high: Fraction, gamma_max: Fraction) -> bool:
    """Whether R''(s) < 0 for all s in [low, high], s > 0, and gamma in (0, gamma_max].

    P is odd in s, so a box that touches 0 is settled by its derivative.
    """
    derivative = 1 if low < Fraction(1, 10) else 0
    with precision():
        if derivative:  # dP/ds < 0 on [0, s] and P(0) = 0 give P < 0
            return _cubic_is_negative(_taylor(curvature_cubic, low, high, 5, 1), Fraction(0), gamma_max)
        return _cubic_is_negative(_taylor(curvature_cubic, low, high, 4), Fraction(0), gamma_max)


def proves_slope_below(low: Fraction, high: Fraction, gamma_range: Box, tightness: Fraction = Fraction(1)) -> bool:
    """Whether R'(s) < tightness * log(1+gamma)/2 for all s in [low, high] and gamma in the range.

    For gamma <= 1 with log(1+gamma) >= 2 gamma/(2+gamma), which has no 0/0 at gamma = 0.
    """

    def settled(a: Fraction, b: Fraction, depth: int) -> bool:
        g = _ball(a, b)
        bound = 1 / (2 + g) if b <= 1 else (1 + g).log() / (2 * g)
        try:
            (slope,) = _taylor(lambda s: (logit_gap_slope(s, g),), low, high, 2)
            if slope < exact(tightness) * bound:
                return True
        except ValueError:  # a ball so wide that a denominator may vanish: split it
            pass
        half = (a + b) / 2
        return depth > 0 and settled(a, half, depth - 1) and settled(half, b, depth - 1)

    with precision(90):
        return settled(*gamma_range, depth=7)
