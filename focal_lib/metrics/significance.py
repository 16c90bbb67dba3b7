"""Significance and power of t intervals: p-values, Holm's adjustment, smallest detectable effect, sample size."""

from __future__ import annotations

import bisect
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.intervals import Interval


def t_p_value(interval: Interval) -> float:
    """Two-sided p-value of the t test of mean 0: 1 - the level at which the t interval ends at 0.

    Raises:
        ValueError: not a t interval.

    >>> from focal_lib.metrics.intervals import t_interval
    >>> round(t_p_value(t_interval([1.0, 2.0, 3.0])), 4)  # t = 2 sqrt(3), 2 degrees of freedom: 1 - sqrt(12 / 14)
    0.0742
    """
    error = interval.standard_error
    if interval.estimate == 0 or error == 0:
        return float(interval.estimate == 0)
    return float(2 * scipy.stats.t.sf(abs(interval.estimate) / error, interval.degrees))


def smallest_effect(interval: Interval, power: float = 0.8) -> float:
    """Smallest true mean that a t test detects with probability `power`: its interval excludes 0, on the right side.

    From the noncentral t distribution, with the estimated standard error taken as the true one.

    Raises:
        ValueError: not a t interval; power not between (1 - level) / 2 and 1.

    >>> many = Interval(0.0, -1.96, 1.96, kind="t", degrees=10_000)  # standard error 1
    >>> round(smallest_effect(many), 1)  # 1.96 + 0.84
    2.8
    """
    chance = (1 - interval.level) / 2  # with no effect at all
    if not chance < power < 1:
        raise ValueError(f"power must be in ({chance:g}, 1). Got {power}.")
    quantile = interval.quantile()

    def lacking(effect: float) -> float:
        return float(scipy.stats.nct.sf(quantile, interval.degrees, effect)) - power

    return interval.standard_error * float(scipy.optimize.brentq(lacking, 0, 10 * (1 + quantile)))


def values_needed(interval: Interval, effect: float, power: float = 0.8, most: int = 10_000) -> int | None:
    """Fewest values that detect a true mean of `effect` with probability `power`; None beyond `most`.

    The standard deviation is that of the t interval, of 1 + its degrees of freedom values.

    Raises:
        ValueError: not a t interval; power not between (1 - level) / 2 and 1.
    """
    scatter = interval.standard_error * (1 + (interval.degrees or 0)) ** 0.5

    def shows(count: int) -> bool:
        with_so_many = replace(interval, degrees=count - 1)
        half = with_so_many.quantile() * scatter / count**0.5
        return smallest_effect(replace(with_so_many, low=-half, high=half), power) <= abs(effect)

    if effect == 0:
        return None
    found = 2 + bisect.bisect_left(range(2, most + 1), True, key=shows)
    return found if found <= most else None


def holm(p_values: Any) -> np.ndarray:
    r"""Holm's adjusted p-values (n,): those of at most a are jointly significant at level a (Holm 1979).

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\big((n - j + 1)\,p_{(j)},\ 1\big)

    Raises:
        ValueError: p-values outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()  # 3 * 0.01, 2 * 0.03, and no less
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p values must be a list of numbers in [0, 1]. Got {p_values}.")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum((len(p) - np.arange(len(p))) * p[order], 1))
    return adjusted
