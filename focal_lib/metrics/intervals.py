"""Estimates with intervals: bootstrap, Student's t, exact binomial."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from focal_lib.validation import check_level


@dataclass(frozen=True)
class Interval:
    """An estimate with an interval, whose ends are nan if there is none.

    Attributes:
        kind: method: 'percentile bootstrap', 't', 'inverted test', 'bounds', 'min to max'; '' if there is no interval.
        level: confidence level.
        degrees: degrees of freedom of a t interval.
        debiased: for a biased estimate, such as an ECE: a less biased one inside the interval.
        within: limits at which the ends were clipped, see `clipped`.
        error: standard error of a clipped t interval.

    >>> found = t_interval([1.0, 2.0, 3.0])
    >>> found.kind, found.estimate, round(found.standard_error, 4)  # 1 / sqrt(3)
    ('t', 2.0, 0.5774)
    >>> found.scaled(100).estimate
    200.0
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
        """The interval in other units, e.g. factor 100 for per cent."""
        low, high = sorted((factor * self.low, factor * self.high))
        debiased = None if self.debiased is None else factor * self.debiased
        found = replace(self, estimate=factor * self.estimate, low=low, high=high, debiased=debiased)
        if self.within is None:
            return found
        least, most = sorted(factor * end for end in self.within)
        return replace(found, within=(least, most), error=None if self.error is None else abs(factor) * self.error)

    @property
    def is_confidence(self) -> bool:
        """Whether this is a confidence interval, rather than a range of values or none."""
        return self.kind not in ("", "min to max")

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate; ValueError unless it is a t interval."""
        return (self.high - self.low) / 2 / self.quantile() if self.error is None else self.error

    def at(self, level: float) -> Interval:
        """The t interval of the same data at another level; errors as `quantile`."""
        half = self.standard_error * self.quantile(level)
        found = replace(self, low=self.estimate - half, high=self.estimate + half, level=level)
        return found if self.within is None else clipped(found, *self.within)

    def quantile(self, level: float | None = None) -> float:
        """Quantile of Student's t: half the width in standard errors, at this level or another.

        Raises:
            ValueError: not a t interval; level not in (0, 1).
        """
        if self.kind != "t" or self.degrees is None:
            raise ValueError(f"interval must be a t interval with its degrees of freedom. Got {self}.")
        chosen = self.level if level is None else level
        check_level(chosen)
        return float(scipy.stats.t.ppf((1 + chosen) / 2, self.degrees))


def clipped(interval: Interval, least: float, most: float) -> Interval:
    """The interval clipped to the range of the estimated quantity, e.g. -1 to 1 for a correlation."""
    if not interval.kind:
        return interval
    error = interval.standard_error if interval.kind == "t" else None
    low, high = max(interval.low, least), min(interval.high, most)
    return replace(interval, low=low, high=high, within=(least, most), error=error)


def bootstrap(
    statistic: Callable[..., float], *samples: np.ndarray, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of ``statistic(*samples)``, by scipy.stats.bootstrap; samples are drawn jointly.

    Raises:
        ValueError: samples of different lengths, or of fewer than two entries.

    >>> found = bootstrap(np.mean, np.array([1.0, 2.0, 3.0, 4.0]))
    >>> found.estimate, found.low < found.estimate < found.high
    (2.5, True)
    """
    lengths = {len(sample) for sample in samples}
    if len(lengths) != 1 or min(lengths) < 2:
        raise ValueError(f"samples must have one common length of at least 2. Got {sorted(lengths)}.")

    def each(draws: np.ndarray) -> np.ndarray:
        return np.array([statistic(*(sample[draw] for sample in samples)) for draw in draws])

    return bootstrap_draws(each, len(samples[0]), resamples=resamples, level=level, seed=seed)


_BATCH = 2**17  # indices drawn at once, to bound memory


def bootstrap_draws(
    statistic: Callable[[np.ndarray], np.ndarray], n: int, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """`bootstrap` of a vectorised statistic: indices (resamples, n) -> (resamples,); ValueError for n < 2."""
    if n < 2:
        raise ValueError(f"samples must be at least 2. Got {n}.")
    everything = np.arange(n)
    found = scipy.stats.bootstrap(
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
    """Mean of first - second over pairs, e.g. runs with the same seed, with its Student t interval.

    Raises:
        ValueError: fewer than two pairs, or different lengths.

    >>> found = paired_t_interval([3.0, 4.0, 5.0], [1.0, 3.0, 2.0])
    >>> found.estimate, round(found.low, 4), round(found.high, 4)  # 2 -+ 4.3027 / sqrt(3)
    (2.0, -0.4841, 4.4841)
    """
    one, two = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if one.shape != two.shape or one.ndim != 1 or len(one) < 2:
        raise ValueError(f"pairs must be at least two, of equal number. Got shapes {one.shape} and {two.shape}.")
    return t_interval(one - two, level=level)


def t_interval(values: Any, *, level: float = 0.95, step: float = 0.0) -> Interval:
    """Mean of values (n,) with its Student t interval, n - 1 degrees of freedom.

    Args:
        step: resolution of the values, e.g. 1 for differences of epochs. The standard deviation is taken as at least
            step / sqrt(6), that of the difference of two rounding errors uniform over a step. Equal values on a coarse
            scale would otherwise give an interval of width 0.

    Raises:
        ValueError: fewer than two values, or a negative step.

    >>> found = t_interval([1.0, 2.0, 3.0])
    >>> round(found.low, 4), round(found.high, 4)  # 2 -+ 4.3027 / sqrt(3)
    (-0.4841, 4.4841)
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or len(found) < 2:
        raise ValueError(f"values must be at least two. Got shape {found.shape}.")
    if not step >= 0:
        raise ValueError(f"step must be at least 0. Got {step}.")
    mean, degrees = float(found.mean()), len(found) - 1
    spread = 0.0 if np.ptp(found) == 0 else float(found.std(ddof=1))  # rounding of the mean is no spread
    error = max(spread, step / math.sqrt(6)) / math.sqrt(len(found))
    half = error * float(scipy.stats.t.ppf((1 + level) / 2, degrees))
    return Interval(mean, mean - half, mean + half, "t", level, degrees)


def t_interval_if_any(values: Any, *, level: float = 0.95, step: float = 0.0) -> Interval:
    """As `t_interval`, but the ends are nan for a single value."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape == (1,):
        return Interval(float(found[0]), np.nan, np.nan)
    return t_interval(found, level=level, step=step)


def welch_interval(weights: Any, means: Any, deviations: Any, n: Any, *, level: float = 0.95) -> Interval:
    r"""Weighted sum of independent means of n values each, with its interval (Welch 1947, Satterthwaite 1946).

    .. math:: \sum w_i m_i \pm t_\nu \sqrt{\sum v_i}, \quad v_i = w_i^2 s_i^2 / n_i, \quad
              \nu = \Big(\sum v_i\Big)^2 \Big/ \sum \frac{v_i^2}{n_i - 1}

    Weights (1, -1) give Welch's interval of a difference.

    Args:
        n: number of values of every mean, or of each.

    Raises:
        ValueError: different lengths, fewer than two values in a mean, negative deviations, or all deviations 0.
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
    half = math.sqrt(variances.sum()) * float(scipy.stats.t.ppf((1 + level) / 2, degrees))
    mean = float(w @ m)
    return Interval(mean, mean - half, mean + half, "t", level, degrees)


def correlation_interval(values: Any, step: float = 0.0, *, level: float = 0.95) -> Interval:
    """Mean of correlations (n,), e.g. one per seed, with its Student t interval clipped to [-1, 1]; nan for one value.

    Args:
        step: resolution of a rank correlation of k items, see `t_interval`: 4 / (k (k - 1)) for Kendall's,
            12 / (k (k^2 - 1)) for Spearman's.

    Raises:
        ValueError: no value, or a negative step.
    """
    return clipped(t_interval_if_any(values, level=level, step=step), -1.0, 1.0)


def exact_binomial_ends(count: Any, n: Any, tail: Any) -> tuple[np.ndarray, np.ndarray]:
    """Clopper-Pearson limits of a probability from `count` successes in `n` trials, each missed with at most `tail`.

    Clopper and Pearson's (1934): quantiles of Beta(count, n - count + 1) and Beta(count + 1, n - count). Arrays
    broadcast. The low end is 0 without successes, the high end 1 without failures. Counts may be fractional, as
    effective numbers of weighted samples are.

    >>> low, high = exact_binomial_ends(0, 4, 0.0625)
    >>> float(low), round(float(high), 4)  # 0.5 ** 4 is 0.0625
    (0.0, 0.5)
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    missed = n - count
    low = np.where(count > 0, scipy.stats.beta.ppf(tail, np.where(count > 0, count, 1), missed + 1), 0.0)
    high = np.where(missed > 0, scipy.stats.beta.isf(tail, count + 1, np.where(missed > 0, missed, 1)), 1.0)
    return low, high


def mean_and_range(values: Any) -> Interval:
    """Mean, smallest and largest of values (n,), n > 0: kind 'min to max', not a confidence interval."""
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        raise ValueError("values must not be empty. Got none.")
    return Interval(float(found.mean()), float(found.min()), float(found.max()), "min to max", 1.0)
