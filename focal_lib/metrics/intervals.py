"""Estimates with intervals, each of which says how it was made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Interval:
    """An estimate with an interval, nan where there is none.

    Attributes:
        kind: how it was made: 'percentile bootstrap', 't', 'inverted test', 'bounds', 'min to max'; '' for none.
        level: its confidence level.
        degrees: of freedom, of a t interval.
        debiased: of an estimate that is biased, as an ECE is, one that is less so and lies in the interval.
        within: the ends at which it was cut, see `clipped`; error: its standard error before that, of a t interval.
    """

    estimate: float
    low: float
    high: float
    kind: str = ""
    level: float = 0.95
    degrees: float | None = None
    debiased: float | None = None
    within: tuple[float, float] | None = None
    error: float | None = None

    def scaled(self, factor: float) -> Interval:
        """In other units: factor 100 for per cent."""
        low, high = sorted((factor * self.low, factor * self.high))
        debiased = None if self.debiased is None else factor * self.debiased
        found = replace(self, estimate=factor * self.estimate, low=low, high=high, debiased=debiased)
        if self.within is None:
            return found
        least, most = sorted(factor * end for end in self.within)
        return replace(found, within=(least, most), error=None if self.error is None else abs(factor) * self.error)

    @property
    def is_confidence(self) -> bool:
        """Whether it is a confidence interval, rather than a range of values or nothing."""
        return self.kind not in ("", "min to max")

    @property
    def standard_error(self) -> float:
        """Of the estimate of a t interval.

        Raises:
            ValueError: it is no t interval.
        """
        return (self.high - self.low) / 2 / self.quantile() if self.error is None else self.error

    def at(self, level: float) -> Interval:
        """The t interval of the same data at another level.

        Raises:
            ValueError: it is no t interval; level not in (0, 1).
        """
        half = self.standard_error * self.quantile(level)
        found = replace(self, low=self.estimate - half, high=self.estimate + half, level=level)
        return found if self.within is None else clipped(found, *self.within)

    def quantile(self, level: float | None = None) -> float:
        """Of Student's t: half the width of a t interval, at its own level or another, in standard errors.

        Raises:
            ValueError: it is no t interval; level not in (0, 1).
        """
        if self.kind != "t" or self.degrees is None:
            raise ValueError(f"interval must be a t interval with its degrees of freedom. Got {self}.")
        chosen = self.level if level is None else level
        if not 0 < chosen < 1:
            raise ValueError(f"level must be in (0, 1). Got {chosen}.")
        return float(stats.t.ppf((1 + chosen) / 2, self.degrees))


def clipped(interval: Interval, least: float, most: float) -> Interval:
    """The interval cut at the least and the most that what it estimates can be: -1 and 1 of a correlation."""
    if not interval.kind:
        return interval
    error = interval.standard_error if interval.kind == "t" else None
    low, high = max(interval.low, least), min(interval.high, most)
    return replace(interval, low=low, high=high, within=(least, most), error=error)


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

    def each(draws: np.ndarray) -> np.ndarray:
        return np.array([statistic(*(sample[draw] for sample in samples)) for draw in draws])

    return bootstrap_draws(each, len(samples[0]), resamples=resamples, level=level, seed=seed)


_BATCH = 2**17  # indices drawn at once: those of all resamples would be large


def bootstrap_draws(
    statistic: Callable[[np.ndarray], np.ndarray], n: int, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """`bootstrap` of a statistic that takes many resamples at once: indices (resamples, n) -> (resamples,).

    Raises:
        ValueError: fewer than two samples to draw from.
    """
    if n < 2:
        raise ValueError(f"samples must be at least 2. Got {n}.")
    everything = np.arange(n)
    found = stats.bootstrap(
        (everything,),
        lambda draws, axis: statistic(np.atleast_2d(draws)),
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, _BATCH // n),
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    estimate = float(statistic(everything[None])[0])
    return Interval(estimate, float(found.low), float(found.high), "percentile bootstrap", level)


def paired_t_interval(first: Any, second: Any, *, level: float = 0.95) -> Interval:
    """Mean of first - second over pairs, runs of one seed say, with its Student t interval.

    Raises:
        ValueError: fewer than two pairs, or different lengths.
    """
    one, two = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if one.shape != two.shape or one.ndim != 1 or len(one) < 2:
        raise ValueError(f"pairs must be at least two, of equal number. Got shapes {one.shape} and {two.shape}.")
    return t_interval(one - two, level=level)


def t_interval(values: Any, *, level: float = 0.95, step: float = 0.0) -> Interval:
    """Mean of values (n,), runs say, with its Student t interval, n - 1 degrees of freedom.

    Args:
        step: of differences of two whole numbers, of epochs say, 1: their standard deviation counts as at least
            step / sqrt(6), that of the difference of two rounding errors, which are uniform over a step. Values that
            are all the same would have an interval of no width, and say only that the scale is coarse.

    Raises:
        ValueError: fewer than two values, or a negative step.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or len(found) < 2:
        raise ValueError(f"values must be at least two. Got shape {found.shape}.")
    if not step >= 0:
        raise ValueError(f"step must be at least 0. Got {step}.")
    mean, degrees = float(found.mean()), len(found) - 1
    spread = 0.0 if np.ptp(found) == 0 else float(found.std(ddof=1))  # its rounding error is no spread
    error = max(spread, step / math.sqrt(6)) / math.sqrt(len(found))
    half = error * float(stats.t.ppf((1 + level) / 2, degrees))
    return Interval(mean, mean - half, mean + half, "t", level, degrees)


def t_interval_if_any(values: Any, *, level: float = 0.95, step: float = 0.0) -> Interval:
    """As `t_interval`; of one value, which has none, the value with nan and nan.

    Raises:
        ValueError: no value.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.shape == (1,):
        return Interval(float(found[0]), np.nan, np.nan)
    return t_interval(found, level=level, step=step)


def welch_interval(weights: Any, means: Any, deviations: Any, n: Any, *, level: float = 0.95) -> Interval:
    r"""A weighted sum of independent means, of n values each with that standard deviation (Welch 1947, Satterthwaite).

    .. math:: \sum w_i m_i \pm t_\nu \sqrt{\sum v_i}, \quad v_i = w_i^2 s_i^2 / n_i, \quad
              \nu = \Big(\sum v_i\Big)^2 \Big/ \sum \frac{v_i^2}{n_i - 1}

    Weights (1, -1) are Welch's interval of a difference.

    Args:
        n: one number for all of the means, or one for each.

    Raises:
        ValueError: different lengths, fewer than two values a mean, negative deviations, or no spread at all.
    """
    w, m, s = (np.asarray(values, dtype=np.float64) for values in (weights, means, deviations))
    if w.ndim != 1 or not w.shape == m.shape == s.shape:
        raise ValueError(f"weights, means and deviations must be as many. Got {w.shape}, {m.shape}, {s.shape}.")
    counts = np.broadcast_to(np.asarray(n, dtype=np.float64), w.shape)
    if not (counts >= 2).all():
        raise ValueError(f"each mean must be of two values or more. Got {n}.")
    variances = (w * s) ** 2 / counts
    if not (s >= 0).all() or not variances.sum() > 0:
        raise ValueError(f"standard deviations must be at least 0, one above it. Got {s}.")
    degrees = float(variances.sum() ** 2 / (variances**2 / (counts - 1)).sum())
    half = math.sqrt(variances.sum()) * float(stats.t.ppf((1 + level) / 2, degrees))
    mean = float(w @ m)
    return Interval(mean, mean - half, mean + half, "t", level, degrees)


def correlation_interval(values: Any, step: float = 0.0, *, level: float = 0.95) -> Interval:
    """Mean of correlations (n,), one a seed say, with its Student t interval cut at -1 and 1; of one value none.

    Args:
        step: by how much such a correlation of ranks changes at least, 4 / (k (k - 1)) of Kendall's and 12 / (k (k^2 -
            1)) of Spearman's of k things; see `t_interval` for what seeds show that all have the same.

    Raises:
        ValueError: no value, or a negative step.
    """
    return clipped(t_interval_if_any(values, level=level, step=step), -1.0, 1.0)


def exact_binomial_ends(count: Any, n: Any, tail: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ends for a probability of which `count` of `n` came true, each missed with probability `tail` at most.

    Clopper and Pearson's (1934): quantiles of Beta(count, n - count + 1) and Beta(count + 1, n - count). Arrays
    broadcast; 0 and 1 where nothing was seen. Counts need not be whole: weighted samples are worth such.
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    missed = n - count
    low = np.where(count > 0, stats.beta.ppf(tail, np.where(count > 0, count, 1), missed + 1), 0.0)
    high = np.where(missed > 0, stats.beta.isf(tail, count + 1, np.where(missed > 0, missed, 1)), 1.0)
    return low, high


def mean_and_range(values: Any) -> Interval:
    """Mean, smallest and largest value (n,): no confidence interval, and its kind says so.

    Raises:
        ValueError: no values.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        raise ValueError("values must not be empty. Got none.")
    return Interval(float(found.mean()), float(found.min()), float(found.max()), "min to max", 1.0)
