"""What a t interval over few seeds can say: p values, those of several together, and what it could have shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from focal_lib.metrics.intervals import Interval


def t_p_value(interval: Interval) -> float:
    """Two-sided p value of a mean of 0 from its t interval: 1 - the level at which the interval ends at 0.

    Raises:
        ValueError: it is no t interval.
    """
    error = interval.standard_error
    if interval.estimate == 0 or error == 0:
        return float(interval.estimate == 0)
    return float(2 * stats.t.sf(abs(interval.estimate) / error, interval.degrees))


def smallest_effect(interval: Interval, power: float = 0.8) -> float:
    """The smallest true mean that so many values show, with probability `power`: the t interval lies on its side of 0.

    By the noncentral t distribution, with the standard error, itself estimated, taken as known.

    Raises:
        ValueError: it is no t interval; power not between (1 - level) / 2 and 1.
    """
    chance = (1 - interval.level) / 2  # with no effect at all
    if not chance < power < 1:
        raise ValueError(f"power must be in ({chance:g}, 1). Got {power}.")
    quantile = interval.quantile()

    def lacking(effect: float) -> float:
        return float(stats.nct.sf(quantile, interval.degrees, effect)) - power

    return interval.standard_error * float(brentq(lacking, 0, 10 * (1 + quantile)))


def values_needed(interval: Interval, effect: float, power: float = 0.8, most: int = 10_000) -> int | None:
    """The fewest values that would show a true mean of this size, with probability `power`; None beyond `most`.

    For values as scattered as those of the t interval, which is over 1 + its degrees of freedom of them.

    Raises:
        ValueError: it is no t interval; power not between (1 - level) / 2 and 1.
    """
    scatter = interval.standard_error * (1 + (interval.degrees or 0)) ** 0.5

    def shows(count: int) -> bool:
        with_so_many = replace(interval, degrees=count - 1)
        half = with_so_many.quantile() * scatter / count**0.5
        return smallest_effect(replace(with_so_many, low=-half, high=half), power) <= abs(effect)

    if effect == 0 or not shows(most):
        return None
    low, high = 1, most  # too few, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def holm(p_values: Any) -> np.ndarray:
    r"""Holm's adjusted p values (n,): those of at most a are significant together at level a (Holm 1979).

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\big((n - j + 1)\,p_{(j)},\ 1\big)

    Raises:
        ValueError: a p value outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p values must be a list of numbers in [0, 1]. Got {p_values}.")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum((len(p) - np.arange(len(p))) * p[order], 1))
    return adjusted
