"""Binned calibration errors and reliability diagrams, from probabilities (n, K) and labels (n,).

Bins of equal width are (lo, hi], with 0 in the first; bins of equal mass are consecutive runs of the sorted
confidences whose sizes differ by at most one. Functions that end in `_of` take confidences (n,) and correctness (n,)
instead, unchecked, for use in inner loops.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from focal_lib.arrays import label_index
from focal_lib.metrics.scores import checked_samples, label_probs, top_label

Binning = Literal["width", "mass"]
_AT_ONCE = 16_384  # numbers whose temporary arrays stay in the cache


DEFAULT_BINS = 15


@dataclass(frozen=True)
class Bins:
    """The non-empty bins of a reliability diagram; arrays (bins,).

    >>> bins = reliability_bins([[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2, [0, 0, 0, 1])
    >>> bins.gap.round(4).tolist()
    [0.1, -0.1]
    """

    count: np.ndarray
    confidence: np.ndarray  # mean in the bin
    accuracy: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """Confidence minus accuracy, (bins,)."""
        return self.confidence - self.accuracy

    def consistency(self, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Consistency band: ends, (bins,) each, for the accuracy of a calibrated model (Broecker & Smith 2007).

        Binomial quantiles at the bin's mean confidence. Confidences within a bin differ, so the band is a little wide.
        """
        probability, count, quantile = np.clip(self.confidence, 0, 1), self.count, scipy.stats.binom.ppf
        return tuple(quantile(tail, count, probability) / count for tail in ((1 - level) / 2, (1 + level) / 2))

    def consistency_together(self, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Simultaneous consistency band: holds all accuracies with probability at least `level` (Bonferroni)."""
        return self.consistency(level=1 - (1 - level) / len(self.count))


# --- which bin ----------------------------------------------------------------------------


def _check_bins(n_bins: int) -> None:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")


def inner_edges(n_bins: int) -> np.ndarray:
    """The inner edges of bins of equal width."""
    _check_bins(n_bins)
    return np.arange(1, n_bins) / n_bins


def _width_index(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many of the edges k / n_bins lie below each value in [0, 1], (...) -> (...): np.searchsorted, but faster.

    Multiplies by slightly less than n_bins, so that no value lands above its bin. Values that may lie just above an
    edge are looked up.
    """
    n_bins = len(edges) + 1
    rounding = 8 * np.finfo(np.float64).eps
    scaled = np.multiply(values, n_bins * (1 - rounding), dtype=np.float64)
    np.minimum(scaled, n_bins - 0.5, out=scaled)  # the last bin, above 1 too
    index = scaled.astype(np.intp)
    slack = 2 * n_bins * rounding  # covers the smaller factor, and rounding
    if values.dtype == np.float32 and slack < 2**-24:
        return index  # n_bins times a float32 is no nearer to a whole number, as it is a multiple of its last digit
    scaled -= np.floor(scaled)
    if scaled.max(initial=0.0) > 1 - slack:
        doubtful = scaled > 1 - slack
        index[doubtful] = np.searchsorted(edges, values[doubtful])
    return index


def assign_bins(confidence: np.ndarray, n_bins: int, binning: Binning) -> np.ndarray:
    """Bin index of each sample, (n,) -> (n,).

    Raises:
        ValueError: n_bins < 1, or a binning that is neither 'width' nor 'mass'.
    """
    if binning == "width":
        edges, values = inner_edges(n_bins), np.asarray(confidence, dtype=np.float64)
        index = np.empty(len(values), dtype=np.intp)
        for start in range(0, len(values), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            index[some] = _width_index(values[some], edges)
        return index
    _check_bins(n_bins)
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return _equal_mass(confidence, n_bins)


def equal_mass_starts(n: int, n_bins: int) -> np.ndarray:
    """Start of every bin of equal mass except the first, among n sorted samples, (bins - 1,)."""
    bins = min(n_bins, n)
    return np.cumsum(np.full(bins, n // bins) + (np.arange(bins) < n % bins))[:-1]


def _equal_mass(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Equal-mass bin of each sample, (n,); samples tied across an edge fill the bins in input order.

    Counts samples in narrow cells and sorts only the cells that an edge cuts. Partitioning all samples and searching
    the bin of each takes five times as long.
    """
    starts = equal_mass_starts(len(confidence), n_bins)
    cell, cells = _narrow_cells(np.asarray(confidence, dtype=np.float64))
    before = np.r_[0, np.cumsum(np.bincount(cell, minlength=cells))]  # samples in the cells below
    first, last = (np.searchsorted(before, ranks, side="right") - 1 for ranks in (starts, starts - 1))
    index = np.cumsum(np.bincount(first, minlength=cells))[cell]
    cut = np.zeros(cells, dtype=bool)
    cut[first[first == last]] = True
    inside = np.flatnonzero(cut[cell])
    inside = inside[np.argsort(confidence[inside], kind="stable")]
    within = cell[inside]
    held = np.bincount(within, minlength=cells)
    rank = np.arange(len(inside)) + (before[:-1] - np.cumsum(held) + held)[within]
    index[inside] = np.searchsorted(starts, rank, side="right")
    return index


def _narrow_cells(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Cell of each value in [0, 1], non-decreasing in the value, and the number of cells.

    Leading bits of the distance to 0 or 1, whichever is nearer: cells narrow towards both ends, where values crowd.
    """
    octaves, digits = 62, min(max(len(values).bit_length() - 9, 0), 9)
    middle = octaves << digits
    cell = np.empty(len(values), dtype=np.uint16)
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        near = np.minimum(some, 1 - some).astype(np.float32)  # to round keeps the order
        bits = near.view(np.int32) >> (23 - digits)  # exponent, then digits of the mantissa
        bits -= (127 - octaves) << digits
        np.maximum(bits, 0, out=bits)
        cell[start : start + _AT_ONCE] = np.where(some > 0.5, 2 * middle - bits, bits)
    return cell, 2 * middle + 1


# --- top label ----------------------------------------------------------------------------


def ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Bins have equal width, as in Guo et al. (2017) and M20 section 2; M20 section 6 uses 15. L25 A.1 also bins, but the
    text we read states neither number nor width. KK24's ECE is `adaptive_ece`.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels not integers in 0 ... K-1, n_bins < 1.

    >>> round(ece([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # confidence 0.8, accuracy 0.75
    0.05
    """
    _check_bins(n_bins)  # before the data are read
    return ece_of(*top_label(probs, labels), n_bins)


def adaptive_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> float:
    """ECE over bins of equal mass (Nguyen & O'Connor 2015); arguments and errors as `ece`.

    M20 and L25 call it AdaECE, KK24 (section 5.1) ECE.

    >>> probs = [[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2
    >>> round(adaptive_ece(probs, [0, 1, 0, 1], n_bins=2), 4)  # mean of |0.9 - 0.5| and |0.6 - 0.5|
    0.25
    """
    _check_bins(n_bins)  # before the data are read
    return adaptive_ece_of(*top_label(probs, labels), n_bins)


def mce(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width") -> float:
    """Maximum calibration error: the largest absolute gap of a non-empty bin (Guo et al. 2017); errors as `ece`.

    >>> round(mce([[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2, [0, 1, 0, 1]), 4)  # |0.9 - 0.5|
    0.4
    """
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning=binning).gap).max())


def reliability_bins(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width") -> Bins:
    """Count, mean confidence and accuracy of each non-empty bin of a reliability diagram; errors as `ece`.

    >>> reliability_bins([[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2, [0, 0, 0, 1]).accuracy.tolist()
    [0.5, 1.0]
    """
    _check_bins(n_bins)  # before the data are read
    return reliability_bins_of(*top_label(probs, labels), n_bins, binning=binning)


def ece_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, weights: np.ndarray | None = None
) -> float:
    """`ece` of confidences (n,) and correctness (n,), unchecked.

    Args:
        weights: (n,), sample weights; whole ones count as repetitions.

    >>> round(ece_of(np.full(4, 0.8), np.array([1, 1, 1, 0])), 4)  # |0.8 - 0.75|
    0.05
    """
    return _binned_error(confidence, correct, assign_bins(confidence, n_bins, "width"), weights)


def adaptive_ece_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, weights: np.ndarray | None = None
) -> float:
    """`adaptive_ece` of confidences (n,) and correctness (n,), unchecked.

    Args:
        weights: (n,), sample weights; the bins then have equal weight, and a sample across an edge is split.

    >>> confidence, correct = np.array([0.9, 0.9, 0.6, 0.6]), np.array([1, 0, 1, 0])
    >>> round(adaptive_ece_of(confidence, correct, n_bins=2), 4)  # mean of |0.9 - 0.5| and |0.6 - 0.5|
    0.25
    """
    _check_bins(n_bins)
    if weights is None:
        return _binned_error(confidence, correct, _equal_mass(confidence, n_bins))
    order = np.argsort(confidence, kind="stable")
    mass = np.r_[0.0, np.cumsum(weights[order])]
    gap = np.r_[0.0, np.cumsum((weights * (confidence - correct))[order])]
    whole = bool((weights == np.round(weights)).all())
    starts = equal_mass_starts(int(mass[-1]), n_bins) if whole else mass[-1] * np.arange(1, n_bins) / n_bins
    return float(np.abs(np.diff(np.interp(np.r_[0.0, starts, mass[-1]], mass, gap))).sum() / mass[-1])


def reliability_bins_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width"
) -> Bins:
    """`reliability_bins` of confidences (n,) and correctness (n,), unchecked.

    >>> bins = reliability_bins_of(np.array([0.9, 0.9, 0.6, 0.6]), np.array([1, 1, 1, 0]))
    >>> bins.count.tolist(), bins.accuracy.tolist()
    ([2, 2], [0.5, 1.0])
    """
    index = assign_bins(confidence, n_bins, binning)
    sums = np.stack([np.bincount(index, v, n_bins) for v in (None, confidence, correct)])
    count, confidence, correct = sums[:, sums[0] > 0]
    return Bins(count.astype(np.int64), confidence / count, correct / count)


def _binned_error(
    confidence: np.ndarray, correct: np.ndarray, index: np.ndarray, weights: np.ndarray | None = None
) -> float:
    gaps = np.subtract(confidence, correct, dtype=np.float64)
    sums = np.bincount(index, gaps if weights is None else weights * gaps)
    return float(np.abs(sums).sum()) / (len(confidence) if weights is None else float(weights.sum()))


# --- every class --------------------------------------------------------------------------


class ClassGaps(NamedTuple):
    """Sums over the samples in each class and bin of equal width, (K, n_bins) each, and the number of samples.

    Sums over disjoint sets of samples add up. `classwise_ece_interval_of` takes them.
    """

    gap: np.ndarray  # probability minus one-hot label
    square: np.ndarray  # of that difference
    variance: np.ndarray  # p (1 - p), the mean square of a calibrated model
    n: int


def classwise_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> float:
    """ECE over bins of equal width of each class's probability, averaged over the K classes (Kull et al. 2019).

    L25 reports it in Table 7; its formula in A.1 is missing in the text we read. Errors as `ece`.

    >>> round(classwise_ece([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # |0.8 - 0.75| and |0.2 - 0.25|
    0.05
    """
    samples = checked_samples(probs, labels)
    gap = samples.total(functools.partial(class_gap_of_chunk, inner_edges(n_bins)))
    return float(np.abs(gap).sum() / len(samples) / samples.classes)


def sum_class_gaps(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, weights: np.ndarray | None = None) -> ClassGaps:
    """Sums from which the classwise ECE and its interval are computed, weighted by weights (n,); errors as `ece`."""
    samples = checked_samples(probs, labels)
    sums = samples.total(functools.partial(_class_sums, inner_edges(n_bins)), weights)
    gap, square, variance = sums.reshape(3, samples.classes, n_bins)
    return ClassGaps(gap, square, variance, len(samples))


def class_gap_of_chunk(edges: np.ndarray, p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probability minus one-hot label of a chunk (m, K), (m,), summed in each class and bin: (K n_bins,)."""
    (sums,) = _sum_cells(edges, p, p)
    cells = _width_index(label_probs(p, y), edges) + (len(edges) + 1) * y
    return sums - np.bincount(cells, minlength=len(sums))


def _class_sums(edges: np.ndarray, p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """The three sums of `ClassGaps` of a chunk (m, K), (m,), with weights (m,) or without, (3, K n_bins)."""
    gap = np.minimum(p, 1, dtype=np.float64)  # rounding may put it above
    variance = gap * (1 - gap)
    gap[label_index(y)] -= 1
    if w is not None:
        gap *= w[:, None]
        variance *= (w * w)[:, None]
    return _sum_cells(edges, p, gap, gap * gap, variance)


def _sum_cells(edges: np.ndarray, p: np.ndarray, *values: np.ndarray) -> np.ndarray:
    """Sum each array of values (m, K) in every class and bin of p (m, K): (arrays, K n_bins)."""
    n_bins, classes = len(edges) + 1, p.shape[1]
    sums, rows = np.zeros((len(values), n_bins * classes)), max(_AT_ONCE // classes, 4 * n_bins)
    first = np.tile(n_bins * np.arange(classes), (min(rows, len(p)), 1))  # broadcasting one row is far slower
    for start in range(0, len(p), rows):
        some = slice(start, start + rows)
        cells = _width_index(p[some], edges)
        cells += first[: len(cells)]
        for total, each in zip(sums, values, strict=True):
            total += np.bincount(cells.ravel(), each[some].ravel(), len(total))
    return sums
