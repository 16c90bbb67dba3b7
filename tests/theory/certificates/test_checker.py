"""The checker of sign certificates accepts what is true and no more."""

from fractions import Fraction

import pytest
import sympy as sp
from flint import arb_series

from focal_lib.theory.certificates.balls import exact, settings
from focal_lib.theory.certificates.checker import Box, certifies, covers, on_series, positive, vanishes
from focal_lib.theory.certificates.search import find_boxes

X = sp.Symbol("x")


def test_cover_must_have_no_gap():
    boxes = [Box(Fraction(0), Fraction(1)), Box(Fraction(1), Fraction(2))]
    assert covers(boxes, Fraction(0), Fraction(2))
    assert not covers(boxes, Fraction(0), Fraction(3))
    assert not covers([boxes[0], Box(Fraction(3, 2), Fraction(2))], Fraction(0), Fraction(2))
    assert not covers([], Fraction(0), Fraction(2))


@pytest.mark.parametrize(
    ("expression", "low", "high", "order", "expected"),
    [
        (sp.exp(X) - 1 - X, "1/2", "2", 0, True),
        (sp.exp(X) - 1 - X, "0", "2", 0, False),  # it is 0 at 0
        (sp.exp(X) - 1 - X, "0", "2", 2, True),  # its second derivative is not
        (sp.log(X), "1/2", "2", 0, False),
        (sp.log(X), "1/2", "2", 1, True),
        (X - sp.Rational(1, 2) - sp.Rational(1, 10**12), "1/2", "1", 0, False),  # negative on a sliver
    ],
)
def test_positive(expression, low, high, order, expected):
    box = Box(Fraction(low), Fraction(high), order)
    assert positive(on_series(expression, X), box) is expected


def test_a_series_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="series of order 2"):
        positive(lambda s: arb_series([s[0]], prec=1), Box(Fraction(0), Fraction(1)))


def test_found_boxes_are_a_cover_that_the_checker_accepts():
    function = on_series(sp.exp(X) - 1 - X - X**2 / 2, X)
    boxes = find_boxes(function, Fraction(0), Fraction(4), order=3)
    assert covers(boxes, Fraction(0), Fraction(4))
    assert all(positive(function, box) for box in boxes)
    assert find_boxes(on_series(X - 1, X), Fraction(0), Fraction(4)) == ()


@pytest.mark.parametrize("low", ["0", "1"])
def test_a_derivative_says_nothing_where_the_function_is_not_zero(low):
    """s^3 - 1000 has a positive third derivative and is negative up to 10."""
    box = Box(Fraction(low), Fraction(9), order=3)
    assert positive(on_series(X**3 - 1000, X), box)
    assert not certifies(X**3 - 1000, X, [box], box.low, box.high)
    assert certifies(X**3, X, [Box(Fraction(0), Fraction(9), order=3)], Fraction(0), Fraction(9))
    assert not certifies(X**3, X, [Box(Fraction(1), Fraction(9), order=3)], Fraction(1), Fraction(9))


@pytest.mark.parametrize(
    ("expression", "at", "order"),
    [
        (sp.exp(X) - 1 - X - X**2 / 2, "0", 3),
        (sp.log(1 + X) / X - 1 + X / 3, "2", 0),
        ((X - sp.Rational(1, 3)) ** 2 * sp.log(X), "1/3", 2),
        (sp.log(3 * X) - sp.log(2), "2/3", 1),
        (1 / (1 + X) ** 2 - 1 + 2 * X, "0", 2),
    ],
)
def test_the_order_of_a_zero_is_exact(expression, at, order):
    assert vanishes(expression, X, Fraction(at), order)
    assert not vanishes(expression, X, Fraction(at), order + 1)
    if order:
        assert not vanishes(expression + sp.Rational(1, 10**40), X, Fraction(at), order)
        assert not vanishes(expression + X * sp.Rational(1, 10**40), X, Fraction(at), order)


def test_fractions_enter_exactly():
    """A third as Python's number is off by 2e-17."""
    with settings(200, 2):
        at_third = on_series(X - sp.Rational(1, 3), X)(arb_series([exact("1/3"), 1]))[0]
    assert abs(at_third) < 1e-50
