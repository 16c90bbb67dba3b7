"""Exact rationals as Arb balls, and Arb's global settings for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq


def exact(value: str | int | Fraction) -> arb:
    """The number as written: exact('0.333') encloses 333/1000. arb(0.333) would be the double."""
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


@contextmanager
def precision(bits: int | None = 120, terms: int | None = None) -> Iterator[None]:
    """Working precision in bits and length of power series, restored afterwards; None leaves what is set."""
    before = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = bits or ctx.prec, terms or ctx.cap
    try:
        yield
    finally:
        ctx.prec, ctx.cap = before
