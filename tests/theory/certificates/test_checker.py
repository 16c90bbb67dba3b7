"""The checker of sign certificates accepts what is true and no more."""

from fractions import Fraction

import pytest
import sympy as sp

from focal_lib.theory.certificates.checker import Box, covers, on_series, positive
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
    from flint import arb_series

    with pytest.raises(ValueError, match="series of order 2"):
        positive(lambda s: arb_series([s[0]], prec=1), Box(Fraction(0), Fraction(1)))


def test_found_boxes_are_a_cover_that_the_checker_accepts():
    function = on_series(sp.exp(X) - 1 - X - X**2 / 2, X)
    boxes = find_boxes(function, Fraction(0), Fraction(4), order=3)
    assert covers(boxes, Fraction(0), Fraction(4))
    assert all(positive(function, box) for box in boxes)
    assert find_boxes(on_series(X - 1, X), Fraction(0), Fraction(4)) == ()
