r"""Confidence intervals for binned calibration errors, which the usual bootstrap does not give.

An ECE is a sum of absolute gaps, so noise only adds: a calibrated model has ECE 0 and never an estimate of 0, and
a resample adds its noise to that of the sample. Percentile intervals of a calibrated model then never hold 0 (measured
by `coverage`, and in the book). Here each bin's gap is normal with the variance of its samples, gaps are moved
towards 0 or away from it by a common number a of standard errors,

.. math:: |g_b(a)| = \max(|\hat g_b| + a\,s_b,\ 0),

and the interval holds the errors of those g(a) under which the observed error is neither too large nor too small, each
with probability (1 - level) / 2. The draws are simulated, the same ones for every a. The variance of a bin is that of
its samples, or that of a calibrated model where it is larger; where that, too, is next to nothing, as at confidences
near 1, the upper end allows for the errors that so many samples need not show. Since the estimate is biased upwards
and the interval is not, the estimate may lie above it. The error under which the observed one is the median,
`debiased`, lies in the interval; in simulations it is nearer to the truth, and a little low. Where the observed error
is smaller than that of nearly every calibrated model, the test would leave 0 alone: the upper end is then that of a
calibrated model's 16th percentile (a power-constrained limit, Cowan et al. 2011), so luck shows no more than the
samples can. Of an error that is a sum, the upper end is also at least that of gaps which are all equally many standard
errors: E|g + noise| is convex in g, so of all gaps under which as much is observed theirs have the largest sum.

As in `bins`, a function whose name ends in `_of` takes confidences (n,) and correctness (n,).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from focal_lib.metrics.bins import DEFAULT_BINS, Binning, ClassGaps, assign_bins, sum_class_gaps
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS, design_gaps
from focal_lib.metrics.gap_bounds import bound_sum
from focal_lib.metrics.intervals import Interval, exact_binomial_ends
from focal_lib.metrics.scores import top_label

_KIND = "inverted test"
_DRAWS, _NUMBERS = 2000, 2_000_000  # fewer draws where classes times bins are many
_BEYOND, _MOST_DRAWS = 50, 20_000  # draws that a tail is read from, where it is thin more are drawn
_CALM = 0.16  # quantile of a calibrated model's error: of a smaller one the upper end is that of this
_FURTHEST = 8.0  # standard errors away from 0


def ece_interval(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95) -> Interval:
    """ECE, of equal width, with its confidence interval.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: as metrics.ece; level not in (0, 1).
    """
    return ece_interval_of(*top_label(probs, labels), n_bins, level=level)


def adaptive_ece_interval(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95) -> Interval:
    """Adaptive ECE, of equal mass, with its confidence interval; arguments and errors as ece_interval."""
    return adaptive_ece_interval_of(*top_label(probs, labels), n_bins, level=level)


def mce_interval(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", level: float = 0.95
) -> Interval:
    """MCE, the largest gap of a non-empty bin, with its confidence interval; arguments and errors as ece_interval."""
    return mce_interval_of(*top_label(probs, labels), n_bins, binning=binning, level=level)


def classwise_ece_interval(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95) -> Interval:
    """Classwise ECE, of equal width, with its confidence interval; arguments and errors as ece_interval.

    Of more than two classes its kind is 'bounds', since a class and a bin may have few counts, and classes depend on
    one another: it covers at least as often as it says, and is wide (focal_lib.metrics.gap_bounds).
    """
    return classwise_ece_interval_of(sum_class_gaps(probs, labels, n_bins), level=level)


def ece_interval_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`ece_interval` of confidences (n,) and correctness (n,).

    Args:
        design: weights and groups of the samples; groups that are worth fewer than 10 of equal size have no interval.

    Raises:
        ValueError: no samples, n_bins < 1 or level not in (0, 1).
    """
    return _sum_of_gaps(confidence, correct, n_bins, "width", level, design)


def adaptive_ece_interval_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`adaptive_ece_interval` of confidences (n,) and correctness (n,); arguments and errors as ece_interval_of."""
    return _sum_of_gaps(confidence, correct, n_bins, "mass", level, design)


def mce_interval_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`mce_interval` of confidences (n,) and correctness (n,); arguments and errors as ece_interval_of.

    Its ends are at least those of the ECE, a mean of the gaps whose largest the MCE is: what shows the one shows the
    other, though no single bin may.
    """
    gaps, errors, share, noise = _gaps(confidence, correct, n_bins, binning, level, design)
    found = _invert(lambda size: (size / share).max(-1), gaps, errors, level, noise)
    if np.isnan(found.low):
        return found
    ece = _sum_of_gaps(confidence, correct, n_bins, binning, level, design)
    low, high = max(found.low, ece.low), max(found.high, ece.high)
    of_mean = ece.low if ece.debiased is None else ece.debiased
    return replace(found, low=low, high=high, debiased=max(found.debiased or 0.0, of_mean))


def classwise_ece_interval_of(gaps: ClassGaps, *, level: float = 0.95) -> Interval:
    """`classwise_ece_interval` from the sums of metrics.sum_class_gaps.

    Raises:
        ValueError: level not in (0, 1).
    """
    classes = len(gaps.gap)
    first = int(classes == 2)  # two classes are each other's mirror
    gap, square, variance = (sums[first:].ravel() for sums in (gaps.gap, gaps.square, gaps.variance))
    means, errors = _standard_errors(gap, square, variance, gaps.n)
    filled = (means != 0) | (errors > 0)
    means, errors = means[filled], errors[filled]
    estimate = float(np.abs(gaps.gap).sum() / gaps.n / classes)
    _check_level(level)
    # errors that were not seen, in cells where a calibrated model would hardly have one: each is in two classes
    few = bool((variance < 1).any())
    unseen = -2 * np.log((1 - level) / 2) / gaps.n / classes if few else 0.0
    if classes == 2 or not errors.any():
        counted = classes - first
        found = _invert(lambda size: size.sum(-1) / counted, means, errors, level, sums=True)
        found = replace(found, estimate=estimate)
        return replace(found, high=min(1.0, found.high + unseen))
    ends = bound_sum(means * gaps.n, (errors * gaps.n) ** 2, level)
    low, high, debiased = (min(1.0, end / gaps.n / classes) for end in ends)
    return Interval(estimate, low, min(1.0, high + unseen), "bounds", level, debiased=debiased)


def _sum_of_gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> Interval:
    gaps, errors, _, noise = _gaps(confidence, correct, n_bins, binning, level, design)
    found = _invert(lambda size: size.sum(-1), gaps, errors, level, noise, sums=True)
    if np.isnan(found.high):
        return found
    return replace(found, high=min(1.0, found.high + _unseen(confidence, correct, n_bins, binning, level, design)))


def _unseen(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> float:
    """What events that were not seen may add to the ECE, where a calibrated model would hardly have one in a bin.

    There a normal gap knows nothing: twenty of twenty right, at confidence 1, have no variance, and an accuracy of 83 %
    would do. Of such bins together, the sure ones and the unsure ones, the exact end (Clopper & Pearson 1934) is taken
    instead, with as many samples as weights and groups are worth.
    """
    index, tail = assign_bins(confidence, n_bins, binning), (1 - level) / 2
    few = np.bincount(index, confidence * (1 - confidence), n_bins)[index] < 1
    added, weights = 0.0, np.ones(len(confidence)) if design.weights is None else design.weights
    for chosen, sure in ((few & (confidence > 0.5), True), (few & (confidence <= 0.5), False)):
        if not chosen.any():
            continue
        c, own = confidence[chosen], design.take(chosen)
        parts = own.totals(np.ones(len(c)))
        count = float(parts.sum() ** 2 / (parts**2).sum())
        share, mean = own.mean(correct[chosen]), own.mean(c)
        low, high = exact_binomial_ends(share * count, count, tail)
        furthest = float(mean - low if sure else high - mean)
        spread = np.sqrt(max(share * (1 - share), own.mean(c * (1 - c))) / count)
        allowed = abs(mean - share) + norm.ppf(1 - tail) * spread
        added += float(weights[chosen].sum() / weights.sum() * max(0.0, furthest - allowed))
    return added


def _gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Gap of each non-empty bin as its part of the ECE, its standard error, the bin's share of the samples; draws.

    The draws of noise are nan where no interval is known that covers, and None where bins are independent.
    """
    n = len(confidence)
    if n == 0:
        raise ValueError("confidence must have at least one sample. Got none.")
    if not design.is_plain:
        _check_level(level)
        found = design_gaps(confidence, correct, n_bins, binning, design, lambda bins: _normals(bins, level))
        few = design.groups is not None and design.effective(n) < LEAST_GROUPS
        return found._replace(noise=found.noise * np.nan) if few else found
    index, residual = assign_bins(confidence, n_bins, binning), confidence - correct
    of_samples = np.ones(n), residual, residual**2, confidence * (1 - confidence)
    count, *sums = (np.bincount(index, v, minlength=n_bins) for v in of_samples)
    filled = count > 0
    total, squares, expected = (part[filled] for part in sums)
    return *_standard_errors(total, squares, expected, n), count[filled] / n, None


def _standard_errors(
    sums: np.ndarray, squares: np.ndarray, expected: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Gaps as parts of the ECE, with the larger of their own and a calibrated model's standard errors."""
    own = squares if n == 1 else (squares - sums**2 / n) * n / (n - 1)  # of one sample the spread is not known
    return sums / n, np.sqrt(np.maximum(own, expected)) / n


def _invert(
    statistic: Callable[[np.ndarray], Any],
    gaps: np.ndarray,
    errors: np.ndarray,
    level: float,
    noise: np.ndarray | None = None,
    *,
    sums: bool = False,
) -> Interval:
    """The statistic of absolute gaps (..., bins) -> (...), increasing in each, with its interval.

    Args:
        noise: draws of it (draws, bins), None where bins are independent.
        sums: whether the statistic is the sum.
    """
    _check_level(level)
    size, observed = np.abs(gaps), float(statistic(np.abs(gaps)))
    if not errors.any():  # every probability 0 or 1, and right
        return Interval(observed, observed, observed, _KIND, level, debiased=observed)
    noise = errors * _normals(len(gaps), level) if noise is None else noise
    if np.isnan(noise).any():
        return Interval(observed, np.nan, np.nan, level=level)
    none = -float(np.max(size / np.maximum(errors, 1e-300)))  # at which every gap is 0

    def moved(a: float) -> np.ndarray:
        return np.maximum(size + a * errors, 0)

    def end(probability: float, seen: float = observed) -> float:
        def excess(a: float) -> float:
            return float(np.quantile(statistic(np.abs(moved(a) + noise)), probability)) - seen

        if excess(max(none, -1e6)) >= 0:
            return 0.0
        return min(1.0, float(statistic(moved(brentq(excess, max(none, -1e6), _FURTHEST, xtol=1e-3)))))

    calm = float(np.quantile(statistic(np.abs(noise)), _CALM))
    low, high = end((1 + level) / 2), end((1 - level) / 2, max(observed, calm))
    if sums:  # of all gaps under which as much is observed, those of equally many standard errors have the largest sum
        furthest = _FURTHEST + 2 * max(observed, calm) / float(errors.sum())

        def alike(t: float) -> float:
            drawn = np.quantile(np.abs(t * errors + noise).sum(-1), (1 - level) / 2)
            return float(drawn) - max(observed, calm)

        high = max(high, 0.0 if alike(0.0) >= 0 else min(1.0, brentq(alike, 0.0, furthest, xtol=1e-3) * errors.sum()))
    return Interval(observed, low, high, _KIND, level, debiased=end(0.5))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1). Got {level}.")


@functools.lru_cache(1)
def _normals(bins: int, level: float) -> np.ndarray:
    beyond = int(np.clip(2 * _BEYOND / (1 - level), _DRAWS, _MOST_DRAWS))
    return np.random.default_rng(0).standard_normal((min(beyond, max(200, _NUMBERS // bins)), bins))
