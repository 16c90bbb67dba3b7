r"""Confidence intervals of binned calibration errors, by inversion of a test.

An ECE is a sum of absolute gaps, so noise biases it upwards: the estimate of a calibrated model, whose ECE is 0, is
positive. A bootstrap resample adds noise once more, so percentile intervals of a calibrated model never contain 0, as
the book measures. Here each bin's gap is taken as normal with the variance of its samples. All gaps are moved towards 0
or away from it by a common number a of standard errors,

.. math:: |g_b(a)| = \max(|\hat g_b| + a\,s_b,\ 0),

and the interval contains the errors of those g(a) under which the observed error is neither too large nor too small,
each with probability (1 - level) / 2. The same simulated draws serve every a.

* Variance: that of the bin's samples, or of a calibrated model if larger. If both nearly vanish, as at confidences near
  1, the upper end allows for errors that so many samples need not show.
* Bias: the estimate is biased upwards and may lie above the interval. `debiased`, the error under which the observed
  one is the median, lies in the interval; in simulations it is closer to the truth and slightly low.
* Small errors: if nearly every calibrated model has a larger error than the observed one, the test would accept only 0.
  The upper end is then that of a calibrated model's 16th percentile (a power-constrained limit, Cowan et al. 2011).
* Sums: the upper end is also at least that of gaps with equally many standard errors. E|g + noise| is convex in g, so
  among gaps with the same mean observed error these have the largest sum.

As in `bins`, functions that end in `_of` take confidences (n,) and correctness (n,).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.bins import DEFAULT_BINS, Binning, ClassGaps, binned, sum_class_gaps
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS, design_gaps, joint_normals
from focal_lib.metrics.gap_bounds import bound_sum
from focal_lib.metrics.intervals import Interval, exact_binomial_ends
from focal_lib.metrics.scores import weighted_top_label
from focal_lib.validation import check_level, check_weights

_KIND = "inverted test"
_DRAWS, _NUMBERS = 2000, 2_000_000  # fewer draws where classes times bins are many
_BEYOND, _MOST_DRAWS = 50, 20_000  # draws in both tails together, and most draws: at levels near 1 more are drawn
CALM = 0.16  # quantile of a calibrated model's error; smaller observed errors get its upper end
FURTHEST = 8.0  # standard errors away from 0


def ece_interval(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95, weights: Any = None
) -> Interval:
    """ECE over bins of equal width with its confidence interval.

    Args:
        probs, labels: as in ece.
        weights: (n,), of single samples: weight 2 counts a sample twice in the estimate, but is no second sample.

    Raises:
        ValueError: as metrics.ece; level not in (0, 1).

    >>> found = ece_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50)  # 0.4 -+ 1.96 * 0.05
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.4, 0.3, 0.5)
    """
    return interval_of_top_label(ece_interval_of, probs, labels, weights, n_bins=n_bins, level=level)


def adaptive_ece_interval(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95, weights: Any = None
) -> Interval:
    """ECE over bins of equal mass with its confidence interval; arguments and errors as ece_interval.

    >>> round(adaptive_ece_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50, n_bins=1).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
    return interval_of_top_label(adaptive_ece_interval_of, probs, labels, weights, n_bins=n_bins, level=level)


def mce_interval(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    level: float = 0.95,
    weights: Any = None,
) -> Interval:
    """Maximum calibration error with its confidence interval; arguments and errors as ece_interval.

    >>> round(mce_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
    return interval_of_top_label(mce_interval_of, probs, labels, weights, n_bins=n_bins, binning=binning, level=level)


def interval_of_top_label(
    interval: Callable[..., Interval], probs: Any, labels: Any, weights: Any, **options: Any
) -> Interval:
    """An interval of confidences and correctness, from probs (n, K), labels (n,) and weights (n,) or None."""
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return interval(confidence, correct, design=Design(weights), **options)


def classwise_ece_interval(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, level: float = 0.95, weights: Any = None
) -> Interval:
    """Classwise ECE over bins of equal width with its confidence interval; arguments and errors as ece_interval.

    With more than two classes the interval is conservative and wide (kind 'bounds', focal_lib.metrics.gap_bounds): bins
    of a class may have few counts, and classes are dependent.

    >>> found = classwise_ece_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50)
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.4, 0.3, 0.53)
    """
    design = Design(None if weights is None else check_weights(weights, len(labels)))
    gaps = sum_class_gaps(probs, labels, n_bins, design.weights)
    return classwise_ece_interval_of(as_counts(gaps, design), level=level)


def as_counts(gaps: ClassGaps, design: Design) -> ClassGaps:
    """Class gaps of weighted samples, scaled to Kish's effective number of samples."""
    if design.weights is None:
        return gaps
    n = max(1, round(gaps.n**2 / float((design.weights**2).sum())))
    unit = gaps.n / n
    return ClassGaps(gaps.gap / unit, gaps.square / unit**2, gaps.variance / unit**2, n)


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
        design: weights and groups of the samples; with fewer than 10 effective groups the ends are nan.

    Raises:
        ValueError: no samples, n_bins < 1 or level not in (0, 1).

    >>> round(ece_interval_of(np.full(100, 0.9), np.repeat([1, 0], 50)).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
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
    """`adaptive_ece_interval` of confidences (n,) and correctness (n,); arguments and errors as ece_interval_of.

    >>> round(adaptive_ece_interval_of(np.full(100, 0.9), np.repeat([1, 0], 50), n_bins=1).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
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

    Its ends are at least those of the ECE, since the largest gap is at least the mean gap.
    """
    design, confidence, correct = design.counted(confidence, correct)
    gaps, errors, share, noise = bin_gaps(confidence, correct, n_bins, binning, level, design)
    found = _invert(lambda size: (size / share).max(-1), gaps, errors, level, noise)
    if np.isnan(found.low):
        return found
    ece = _sum_of_gaps(confidence, correct, n_bins, binning, level, design)
    low, high = max(found.low, ece.low), max(found.high, ece.high)
    of_mean = ece.low if ece.debiased is None else ece.debiased
    return replace(found, low=low, high=high, debiased=max(found.debiased or 0.0, of_mean))


def classwise_ece_interval_of(gaps: ClassGaps, *, level: float = 0.95) -> Interval:
    """`classwise_ece_interval` from the sums of bins.sum_class_gaps."""
    classes = len(gaps.gap)
    first = int(classes == 2)  # the gaps of two classes mirror each other
    gap, square, variance = (sums[first:].ravel() for sums in (gaps.gap, gaps.square, gaps.variance))
    means, errors = _standard_errors(gap, square, variance, gaps.n)
    filled = (means != 0) | (errors > 0)
    means, errors = means[filled], errors[filled]
    estimate = float(np.abs(gaps.gap).sum() / gaps.n / classes)
    check_level(level)
    # errors not seen, in cells where a calibrated model expects less than one; each is in two classes
    few = bool((variance < 1).any())
    unseen = float(-2 * np.log((1 - level) / 2)) / gaps.n / classes if few else 0.0
    if classes == 2 or not errors.any():
        counted, order = classes - first, np.lexsort((errors, _ranks(np.abs(means))))  # not that of the classes
        means, errors = means[order], errors[order]
        found = _invert(lambda size: size.sum(-1) / counted, means, errors, level, sums=True)
        found = replace(found, estimate=estimate)
        return replace(found, high=min(1.0, found.high + unseen))
    ends = bound_sum(means * gaps.n, (errors * gaps.n) ** 2, level)
    low, high, debiased = (min(1.0, end / gaps.n / classes) for end in ends)
    return Interval(estimate, low, min(1.0, high + unseen), "bounds", level, debiased=debiased)


def _ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each of some values >= 0, (n,), the same for values that differ by rounding."""
    order, found = values.argsort(), np.empty(len(values), dtype=np.int64)
    found[order] = np.cumsum(np.diff(values[order], prepend=0.0) > 1e-9 * values.max(initial=0.0))
    return found


def _sum_of_gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> Interval:
    design, confidence, correct = design.counted(confidence, correct)
    gaps, errors, _, noise = bin_gaps(confidence, correct, n_bins, binning, level, design)
    found = _invert(lambda size: size.sum(-1), gaps, errors, level, noise, sums=True)
    if np.isnan(found.high):
        return found
    return replace(found, high=min(1.0, found.high + unseen_part(confidence, correct, n_bins, binning, level, design)))


def unseen_part(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> float:
    """What unseen events may add to the ECE, in bins where a calibrated model expects less than one.

    A normal gap fails there: 20 of 20 right at confidence 1 have no variance, but are compatible with an accuracy of
    83 %. Such bins are pooled, separately above and below confidence 0.5, and get the exact end (Clopper & Pearson
    1934) at the effective number of samples.
    """
    bins, tail = binned(confidence, n_bins, binning, design.given), (1 - level) / 2
    few = bins.touches(bins.total(confidence * (1 - confidence)) < 1)
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
        allowed = abs(mean - share) + scipy.stats.norm.ppf(1 - tail) * spread
        added += float(weights[chosen].sum() / weights.sum() * max(0.0, furthest - allowed))
    return added


def bin_gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, level: float, design: Design
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Gap of each non-empty bin as its part of the ECE, its standard error, its share of the samples; noise draws.

    The draws are nan with too few groups for an interval, and None if bins are independent.
    """
    n = len(confidence)
    if n == 0:
        raise ValueError("confidence must have at least one sample. Got none.")
    if not design.is_plain:
        check_level(level)
        few = design.groups is not None and design.effective(n) < LEAST_GROUPS
        own = Design(design.given) if few else design
        found = design_gaps(confidence, correct, n_bins, binning, own, lambda bins: noise_draws(bins, level))
        return found._replace(noise=found.noise * np.nan) if few else found
    bins = binned(confidence, n_bins, binning, design.given)
    residual, calm = confidence - correct, confidence * (1 - confidence)
    count, squares, expected = bins.total(), bins.total(residual**2, power=2), bins.total(calm, power=2)
    filled = count > 0
    gaps, errors = _standard_errors(bins.total(residual)[filled], squares[filled], expected[filled], n)
    if not bins.is_split:
        return gaps, errors, count[filled] / n, None
    draws = joint_normals(bins, filled, residual, calm, lambda parts: noise_draws(parts, level))
    return gaps, errors, count[filled] / n, errors * draws


def _standard_errors(
    sums: np.ndarray, squares: np.ndarray, expected: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Gaps as parts of the ECE, with the larger of their own and a calibrated model's standard errors."""
    own = squares if n == 1 else (squares - sums**2 / n) * n / (n - 1)  # one sample has no spread
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
    """A statistic of absolute gaps, (..., bins) -> (...), that increases in each, with its interval.

    Args:
        noise: draws of the gaps' noise (draws, bins); None if bins are independent.
        sums: whether the statistic is the sum of the gaps.
    """
    check_level(level)
    size, observed = np.abs(gaps), float(statistic(np.abs(gaps)))
    if not errors.any():  # every probability 0 or 1, and right
        return Interval(observed, observed, observed, _KIND, level, debiased=observed)
    noise = errors * noise_draws(len(gaps), level) if noise is None else noise
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
        return min(1.0, float(statistic(moved(scipy.optimize.brentq(excess, max(none, -1e6), FURTHEST, xtol=1e-3)))))

    calm = float(np.quantile(statistic(np.abs(noise)), CALM))
    low, high = end((1 + level) / 2), end((1 - level) / 2, max(observed, calm))
    if sums:  # of gaps with the same mean observed error, equally many standard errors give the largest sum
        total = float(errors.sum())
        furthest = FURTHEST + 2 * max(observed, calm) / total

        def alike(t: float) -> float:
            drawn = np.quantile(np.abs(t * errors + noise).sum(-1), (1 - level) / 2)
            return float(drawn) - max(observed, calm)

        if alike(0.0) < 0:
            high = max(high, min(1.0, total * scipy.optimize.brentq(alike, 0.0, furthest, xtol=1e-3)))
    return Interval(observed, low, high, _KIND, level, debiased=end(0.5))


@functools.lru_cache(1)
def noise_draws(bins: int, level: float) -> np.ndarray:
    """Standard normals (draws, bins), always the same; read-only, as they are kept for the next call."""
    beyond = int(np.clip(2 * _BEYOND / (1 - level), _DRAWS, _MOST_DRAWS))
    draws = np.random.default_rng(0).standard_normal((min(beyond, max(200, _NUMBERS // bins)), bins))
    draws.setflags(write=False)
    return draws
