"""Exact rationals as balls, and precision that is restored."""

from fractions import Fraction

import pytest
from flint import ctx

from reproduction.ledger.certificates import balls


def test_a_decimal_is_the_rational_it_says():
    with balls.precision(200):
        third = balls.exact("0.333")
        assert (1000 * third - 333).contains(0)
        assert float((third - balls.exact(Fraction(333, 1000))).abs_upper()) < 1e-50
        assert float(abs(third - 0.333)) > 1e-20  # the double is another number


def test_precision_is_restored():
    before = ctx.prec
    with balls.precision(333):
        assert ctx.prec == 333
    assert ctx.prec == before


def test_precision_is_restored_after_an_error():
    before = ctx.prec, ctx.cap
    with pytest.raises(KeyError), balls.precision(77, 3):
        raise KeyError
    assert (ctx.prec, ctx.cap) == before
