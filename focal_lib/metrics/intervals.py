"""Estimates with intervals, each of which says how it was made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["Interval", "bootstrap", "mean_and_range", "paired_t_interval"]


@dataclass(frozen=True)
class Interval:
    """An estimate with an interval, nan where there is none.

    Attributes:
        kind: how it was made: 'percentile bootstrap', 't', 'inverted test', 'min to max'; '' for none.
        level: its confidence level.
    """

    estimate: float
    low: float
    high: float
    kind: str = ""
    level: float = 0.95

    def scaled(self, factor: float) -> Interval:
        """In other units: factor 100 for per cent."""
        return replace(self, estimate=factor * self.estimate, low=factor * self.low, high=factor * self.high)


def bootstrap(
    statistic: Callable[..., float],
    *samples: np.ndarray,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of ``statistic(*samples)``, by scipy.stats.bootstrap; entries are drawn together.

    Raises:
        ValueError: samples of different lengths, or of fewer than two entries.
    """
    lengths = {len(sample) for sample in samples}
    if len(lengths) != 1 or min(lengths) < 2:
        raise ValueError(f"samples must have one common length of at least 2. Got {sorted(lengths)}.")
    found = stats.bootstrap(
        samples,
        statistic,
        paired=True,
        vectorized=False,
        n_resamples=resamples,
        batch=1,  # an index array of all resamples at once would be large
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(statistic(*samples)), float(found.low), float(found.high), "percentile bootstrap", level)


def paired_t_interval(first: Any, second: Any, *, level: float = 0.95) -> Interval:
    """Mean of first - second over pairs, runs of one seed say, with its Student t interval.

    Raises:
        ValueError: fewer than two pairs, or different lengths.
    """
    one, two = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if one.shape != two.shape or one.ndim != 1 or len(one) < 2:
        raise ValueError(f"pairs must be at least two, of equal number. Got shapes {one.shape} and {two.shape}.")
    mean = float((one - two).mean())
    if np.ptp(one - two) == 0:  # SciPy's standard error is 0, and its interval nan
        return Interval(mean, mean, mean, "t", level)
    found = stats.ttest_rel(one, two).confidence_interval(level)
    return Interval(mean, float(found.low), float(found.high), "t", level)


def mean_and_range(values: Any) -> Interval:
    """Mean, smallest and largest value (n,): no confidence interval, and its kind says so.

    Raises:
        ValueError: no values.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        raise ValueError("values must not be empty. Got none.")
    return Interval(float(found.mean()), float(found.min()), float(found.max()), "min to max", 1.0)
