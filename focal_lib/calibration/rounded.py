"""Detect rounded probabilities: rounding sets small ones to 0, whose logits are extreme."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_ENDS = 1000  # units: larger numbers may be off by more than a part of one, in single precision
_OFF = 0.05  # units


class Rounding(NamedTuple):
    """The rounding step, and its description: '4 decimals'."""

    unit: float
    words: str


_HALF = Rounding(2.0**-24, "half precision (float16)")
_ROUNDINGS = (Rounding(0.1, "1 decimal"), *(Rounding(10.0**-d, f"{d} decimals") for d in range(2, 9)), _HALF)


def rounding_of(p: np.ndarray) -> Rounding | None:
    """How the probabilities p (n, K) were rounded; None where no rounding is detected.

    Three conditions: the smallest number above 0 is a power of ten (or the smallest of half precision); the small
    numbers are multiples of it; not all samples sum to 1. The votes of a forest are multiples of 1 / (number of
    trees), too, but sum to 1. Two rounded classes also sum to 1; there the step must be at most 1e-4.
    """
    above = p[p > 0]
    least = above.min() if above.size else 1.0
    for rounding in _ROUNDINGS:
        unit = rounding.unit
        if abs(least / unit - 1) < _OFF:
            small = above[above < _ENDS * unit] / unit
            multiples = bool((np.abs(small - np.round(small)) < _OFF).all())
            sums = p.shape[1] > 2 and bool((np.abs(p.sum(1) - 1) > unit / 2).any())
            two = p.shape[1] == 2 and unit < 5e-4
            return rounding if multiples and (sums or two) else None
    return None
