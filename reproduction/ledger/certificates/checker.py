r"""A small checker of sign certificates, apart from the code that finds them.

A certificate is a list of boxes [a, b] with a derivative order k: the k-th derivative of F is positive on the box.
With k > 0 that says something of F only if F and its lower derivatives are 0 at the box's low end, which `vanishes`
decides in exact numbers. The checker evaluates F in ball arithmetic from the sympy expression of symbols.py, not from
those of formulas.py, and splits a box further where one evaluation is too wide. It knows nothing of how the boxes were
found.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb, arb_series
from sympy.printing.pycode import PythonCodePrinter

from reproduction.ledger.certificates.balls import exact, precision


@dataclass(frozen=True)
class Box:
    """On [low, high] the derivative of that order is positive."""

    low: Fraction
    high: Fraction
    order: int = 0


def ball(low: Fraction, high: Fraction) -> arb:
    """The smallest ball that holds [low, high]."""
    return exact(low).union(exact(high))


class _Printer(PythonCodePrinter):
    """Fractions as calls: printed as 1/3 they would be Python's, rounded."""

    def _print_Rational(self, number: sp.Rational) -> str:
        return f"rational({number.p}, {number.q})"


def on_series(expression: sp.Expr, symbol: sp.Symbol) -> Callable[[Any], Any]:
    """The expression as a function of an Arb power series; numbers enter as exact rationals."""
    functions = {"exp": "exp", "log": "log"}
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "user_functions": functions})
    names = {
        "exp": lambda v: _number(v).exp(),
        "log": lambda v: _number(v).log(),
        "rational": lambda p, q: exact(Fraction(p, q)),
    }
    return sp.lambdify(symbol, sp.nsimplify(expression), modules=[names], cse=True, printer=printer)


def _number(value: Any) -> Any:
    return arb(value) if isinstance(value, int) else value  # log(2) has an integer argument


def vanishes(expression: sp.Expr, symbol: sp.Symbol, at: Fraction, order: int) -> bool:
    """Whether the expression and its derivatives below that order are 0 at the point, in sympy's exact numbers."""
    point, derivative = sp.Rational(at.numerator, at.denominator), sp.nsimplify(expression)
    for _ in range(order):
        if sp.expand(derivative.subs(symbol, point)) != 0:
            return False
        derivative = sp.diff(derivative, symbol)
    return True


def covers(boxes: Sequence[Box], low: Fraction, high: Fraction) -> bool:
    """Whether the boxes, in order, cover [low, high] without a gap."""
    if not boxes or boxes[0].low > low or boxes[-1].high < high:
        return False
    joined = all(left.high >= right.low for left, right in itertools.pairwise(boxes))
    return joined and all(box.low < box.high for box in boxes)


def positive(function: Callable[[Any], Any], box: Box, bits: int = 200, depth: int = 6) -> bool:
    """Whether the derivative of `function` is positive on the box: mean value form, halved if too wide.

    The ball of a Taylor coefficient over a box encloses the derivative at each of its points.

    Raises:
        ValueError: the function returns a series that is too short.
    """
    middle = (box.low + box.high) / 2
    with precision(bits, box.order + 2):
        centre = function(arb_series([ball(middle, middle), 1]))[box.order]
        on_box = function(arb_series([ball(box.low, box.high), 1]))
        if on_box.prec <= box.order + 1:  # a missing coefficient would read as 0
            raise ValueError(f"function must return a series of order {box.order + 2}. Got {on_box.prec}.")
        slope = (box.order + 1) * on_box[box.order + 1]
        if centre + slope * ball(box.low - middle, box.high - middle) > 0:
            return True
    halves = (Box(box.low, middle, box.order), Box(middle, box.high, box.order))
    return depth > 0 and all(positive(function, half, bits, depth - 1) for half in halves)


def certifies(
    expression: sp.Expr, symbol: sp.Symbol, boxes: Sequence[Box], low: Fraction, high: Fraction, bits: int = 200
) -> bool:
    """Whether the boxes prove the expression positive on [low, high], but for the low end of a box of higher order.

    They cover the range, on each its derivative of that order is positive, and those below are 0 at the box's low end.
    As a control the negative of the expression, made tiny, must be refused: a checker that takes both proves nothing.
    """
    function = on_series(expression, symbol)
    tiny = exact(Fraction(-1, 2**100))
    return (
        covers(boxes, low, high)
        and all(vanishes(expression, symbol, box.low, box.order) for box in boxes if box.order)
        and not positive(lambda series: tiny * function(series), boxes[-1], bits)
        and all(positive(function, box, bits) for box in boxes)
    )
