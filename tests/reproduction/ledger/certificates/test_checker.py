"""The checker of sign certificates accepts what is true and no more."""

from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from flint import arb, arb_series

from reproduction.ledger.certificates import checker
from reproduction.ledger.certificates.balls import exact, precision
from reproduction.ledger.certificates.checker import Box, certifies, covers, on_series, positive, vanishes

X = sp.Symbol("x")


def test_cover_must_have_no_gap():
    boxes = [Box(Fraction(0), Fraction(1)), Box(Fraction(1), Fraction(2))]
    assert covers(boxes, Fraction(0), Fraction(2))
    assert not covers(boxes, Fraction(0), Fraction(3))
    assert not covers([boxes[0], Box(Fraction(3, 2), Fraction(2))], Fraction(0), Fraction(2))
    assert not covers([], Fraction(0), Fraction(2))
    assert not covers([boxes[0], Box(Fraction(1), Fraction(1)), boxes[1]], Fraction(0), Fraction(2))  # an empty one


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


@pytest.mark.parametrize(
    ("function", "order"),
    [(lambda s, c: s + c, 0), (lambda s, c: s * s / 2 + c * s, 1), (lambda s, c: s * s * s / 6 + c * s * s / 2, 2)],
)
def test_of_a_derivative_that_is_linear_the_mean_value_form_is_exact(function, order):
    """It is x + c on [0, 1]: no half is needed, and none helps."""
    box = Box(Fraction(0), Fraction(1), order)
    assert positive(lambda s: function(s, exact("0.001")), box, depth=0)
    for shift in ("0", "-0.25"):
        assert not positive(lambda s, c=shift: function(s, exact(c)), box, depth=0)
        assert not positive(lambda s, c=shift: function(s, exact(c)), box)


def test_zero_is_not_positive():
    assert not positive(lambda s: 0 * s, Box(Fraction(0), Fraction(1)))


def test_the_centre_is_the_middle_and_slopes_are_of_the_whole_box():
    seen = []
    positive(lambda s: seen.append(s) or s, Box(Fraction(5), Fraction(6)), depth=0)
    centre, whole = seen
    assert (centre[0], centre[1], whole[1]) == (arb("5.5"), 1, 1)
    assert whole[0].contains(arb(5).union(arb(6)))


def test_a_box_is_halved_so_many_times():
    function, box = on_series(X**2 - X + sp.Rational(9, 20), X), Box(Fraction(0), Fraction(1))
    assert not positive(function, box, depth=0)
    assert positive(function, box, depth=1)


@pytest.mark.parametrize("at", ["1/3", "2", "7"])
def test_the_series_is_that_of_the_expression(at):
    expression = sp.exp(X / 3) * sp.log(1 + X) + sp.log(2) / X - sp.exp(2) + sp.log(X) ** 2
    with precision(200, 4):
        found = on_series(expression, X)(arb_series([exact(at), 1]))
        with mp.workdps(50):
            wanted = mp.taylor(
                sp.lambdify(X, expression, "mpmath"), mp.mpf(Fraction(at).numerator) / Fraction(at).denominator, 3
            )
            for k in range(4):
                assert abs(found[k] - arb(str(wanted[k]))) < 1e-20


def test_a_series_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="series of order 2"):
        positive(lambda s: arb_series([s[0]], prec=1), Box(Fraction(0), Fraction(1)))


@pytest.mark.parametrize("low", ["0", "1"])
def test_a_derivative_says_nothing_where_the_function_is_not_zero(low):
    """s^3 - 1000 has a positive third derivative and is negative up to 10."""
    box = Box(Fraction(low), Fraction(9), order=3)
    assert positive(on_series(X**3 - 1000, X), box)
    assert not certifies(X**3 - 1000, X, [box], box.low, box.high)
    assert certifies(X**3, X, [Box(Fraction(0), Fraction(9), order=3)], Fraction(0), Fraction(9))
    assert not certifies(X**3, X, [Box(Fraction(1), Fraction(9), order=3)], Fraction(1), Fraction(9))


def test_each_box_counts():
    half = Fraction(1, 2)
    below, above = Box(Fraction(0), half), Box(half, Fraction(1))
    assert not certifies(X - sp.Rational(1, 4), X, [below, above], below.low, above.high)  # positive above only
    first, second = Box(Fraction(0), half, 1), Box(half, Fraction(1), 1)
    assert certifies(X, X, [first, above], below.low, above.high)
    assert not certifies(X, X, [first, second], below.low, above.high)  # not 0 at 1/2


def test_a_checker_that_lets_a_little_less_than_zero_pass_certifies_nothing(monkeypatch):
    right, box = checker.positive, Box(Fraction(0), Fraction(1))
    assert certifies(X + 1, X, [box], box.low, box.high)
    monkeypatch.setattr(checker, "positive", lambda f, *rest: right(lambda s: f(s) + exact("0.001"), *rest))
    assert not certifies(X + 1, X, [box], box.low, box.high)


def test_a_number_alone_vanishes_where_it_is_zero():
    assert vanishes(sp.S.Zero, X, Fraction(1, 2), 3)
    assert not vanishes(sp.Rational(1, 100), X, Fraction(1, 2), 3)


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
    with precision(200, 2):
        at_third = on_series(X - sp.Rational(1, 3), X)(arb_series([exact("1/3"), 1]))[0]
    assert abs(at_third) < 1e-50
