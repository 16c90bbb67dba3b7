"""Binned calibration errors and reliability diagrams, from probabilities (n, K) and labels (n,).

Bins of equal width are (lo, hi], with 0 in the first; bins of equal mass are consecutive runs of the sorted
confidences whose sizes differ by at most one. Samples that tie across an edge are averaged over their orders: each
bin gets its share of the tied, with their mean correctness. Functions that end in `_of` take confidences (n,) and
correctness (n,) instead, unchecked, for use in inner loops.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from focal_lib.arrays import label_index
from focal_lib.metrics.scores import checked_samples, label_probs, weighted_samples, weighted_top_label

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

    count: np.ndarray  # samples, or their total weight
    confidence: np.ndarray  # mean in the bin
    accuracy: np.ndarray
    effective: np.ndarray | None = None  # with weights: samples of equal weight that are worth as much (Kish 1965)

    @property
    def gap(self) -> np.ndarray:
        """Confidence minus accuracy, (bins,)."""
        return self.confidence - self.accuracy

    def consistency(self, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Consistency band: ends, (bins,) each, for the accuracy of a calibrated model (Broecker & Smith 2007).

        Binomial quantiles at the bin's mean confidence. Confidences within a bin differ, so the band is a little wide.
        """
        count = self.count if self.effective is None else np.maximum(np.rint(self.effective), 1)
        quantile = scipy.stats.binom.ppf
        probability = np.clip(self.confidence, 0, 1)
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


def assign_bins(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of equal width of each sample, (n,) -> (n,); ValueError for n_bins < 1."""
    edges, values = inner_edges(n_bins), np.asarray(confidence, dtype=np.float64)
    index = np.empty(len(values), dtype=np.intp)
    for start in range(0, len(values), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        index[some] = _width_index(values[some], edges)
    return index


class Binned(NamedTuple):
    """The bins of n samples, by parts: the samples of a part are in the same bins with the same shares.

    Each bin is a part. Samples that tie across an edge, and a weighted one across it, are one more, with a share in
    every bin it reaches into: sums over bins are then those expected of tied samples in random order.
    """

    part: np.ndarray  # of each sample, (n,): its bin, or n_bins and above for a part that is in several
    n_bins: int
    of: np.ndarray  # a part that is in several bins, one of these bins, and its share there, (pieces,) each
    into: np.ndarray
    share: np.ndarray

    @property
    def is_split(self) -> bool:
        """Whether a part is in several bins."""
        return len(self.of) > 0

    @property
    def parts(self) -> int:
        """Number of parts."""
        return self.n_bins + (int(self.of[-1]) + 1 if self.is_split else 0)

    def touches(self, chosen: np.ndarray) -> np.ndarray:
        """Whether each sample is in one of the chosen bins, (n_bins,) -> (n,)."""
        of_parts = np.append(chosen, np.zeros(self.parts - self.n_bins, dtype=bool))
        np.logical_or.at(of_parts, self.n_bins + self.of, chosen[self.into])
        return of_parts[self.part]

    def of_parts(self, values: np.ndarray | None = None) -> np.ndarray:
        """Sums of values (n,), or numbers of samples, in each part, (parts,)."""
        return np.bincount(self.part, values, self.parts)

    def total(self, values: np.ndarray | None = None, power: int = 1) -> np.ndarray:
        """Sums of values (n,), or numbers of samples, in each bin, (n_bins,), by the shares to this power."""
        return self.from_parts(self.of_parts(values), power)

    def from_parts(self, sums: np.ndarray, power: int = 1) -> np.ndarray:
        """Sums of each bin from those of each part, (..., parts) -> (..., n_bins), by the shares to this power."""
        if not self.is_split:
            return sums
        found = sums[..., : self.n_bins].astype(np.float64)
        for of, into, share in zip(self.of, self.into, self.share**power, strict=True):
            found[..., into] += share * sums[..., self.n_bins + of]
        return found


_WHOLE = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)  # no part is in several bins
_TIED = 4 * np.finfo(np.float64).eps  # confidences that are relatively no further apart differ by rounding


def binned(confidence: np.ndarray, n_bins: int, binning: Binning, weights: np.ndarray | None = None) -> Binned:
    """The bins of confidences (n,), those of equal mass by weights (n,).

    Raises:
        ValueError: n_bins < 1, or a binning that is neither 'width' nor 'mass'.
    """
    if binning == "width":
        return Binned(assign_bins(confidence, n_bins), n_bins, *_WHOLE)
    _check_bins(n_bins)
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return _equal_mass(confidence, n_bins) if weights is None else _equal_weight(confidence, n_bins, weights)


def equal_mass_starts(n: int, n_bins: int) -> np.ndarray:
    """Start of every bin of equal mass except the first, among n sorted samples, (bins - 1,)."""
    bins = min(n_bins, n)
    return np.cumsum(np.full(bins, n // bins) + (np.arange(bins) < n % bins))[:-1]


def _equal_mass(confidence: np.ndarray, n_bins: int) -> Binned:
    """`binned` of equal mass, unweighted.

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
    after = np.searchsorted(rank, starts[first == last])  # of each edge that cuts a cell, the place of the next sample
    values = confidence[inside]
    if not _tied(values[after - 1], values[after]).any():
        return Binned(index, n_bins, *_WHOLE)
    begin = _runs(values)
    end, run = np.append(begin[1:], len(values)), np.searchsorted(begin, after, side="right") - 1
    run = np.unique(run[begin[run] < after])
    for j, (first_tied, next_one) in enumerate(zip(begin[run], end[run], strict=True)):
        index[inside[first_tied:next_one]] = n_bins + j
    return Binned(index, n_bins, *_pieces(rank[begin[run]], rank[end[run] - 1] + 1, starts))


def _equal_weight(confidence: np.ndarray, n_bins: int, weights: np.ndarray) -> Binned:
    """`binned` of equal mass by weights; whole weights are repetitions."""
    order = np.argsort(confidence, kind="stable")
    begin = _runs(confidence[order])
    mass = np.r_[0.0, np.cumsum(np.add.reduceat(weights[order], begin))]
    whole = bool((weights == np.round(weights)).all())
    edges = equal_mass_starts(int(mass[-1]), n_bins) if whole else mass[-1] * np.arange(1, n_bins) / n_bins
    low, high = np.searchsorted(edges, mass[:-1], side="right"), np.searchsorted(edges, mass[1:], side="left")
    cut = low < high
    low[cut] = n_bins + np.arange(np.count_nonzero(cut))
    part = np.empty(len(order), dtype=np.intp)
    part[order] = np.repeat(low, np.diff(np.append(begin, len(order))))
    return Binned(part, n_bins, *_pieces(mass[:-1][cut], mass[1:][cut], edges))


def _tied(value: np.ndarray, following: np.ndarray) -> np.ndarray:
    return following - value <= _TIED * following


def _runs(values: np.ndarray) -> np.ndarray:
    """Where each run of tied values begins, of sorted values (n,)."""
    return np.r_[0, np.flatnonzero(~_tied(values[:-1], values[1:])) + 1]


def _pieces(begin: np.ndarray, end: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of parts from a mass to another, (parts,) each: the part of each piece, the bin it is in, and its share there."""
    low = np.searchsorted(edges, begin, side="right")
    count = np.searchsorted(edges, end, side="left") - low + 1
    of = np.repeat(np.arange(len(begin)), count)
    into = low[of] + np.arange(len(of)) - (np.cumsum(count) - count)[of]
    bounds = np.r_[0, edges, np.max(end, initial=0)]
    inside = np.minimum(end[of], bounds[into + 1]) - np.maximum(begin[of], bounds[into])
    return of, into, inside / (end - begin)[of]


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


def ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, weights: Any = None) -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Bins have equal width, as in Guo et al. (2017) and M20 section 2; M20 section 6 uses 15. L25 A.1 also bins, but the
    text we read states neither number nor width. KK24's ECE is `adaptive_ece`. The confidence is that of the most
    probable class; of two classes `positive_ece` answers 'is my 0.3 a 0.3?'.

    Args:
        probs: (n, K) distributions, or (n,) probabilities of class 1 of two: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1; of two classes also truth values.
        weights: (n,), at least 0; weight 2 counts a sample twice, weight 0 leaves it out.

    Raises:
        ValueError: probs not distributions, labels not integers in 0 ... K-1, n_bins < 1; weights negative, not finite
            or all 0.

    >>> round(ece([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # confidence 0.8, accuracy 0.75
    0.05
    """
    _check_bins(n_bins)  # before the data are read
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return ece_of(confidence, correct, n_bins, weights)


def adaptive_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, weights: Any = None) -> float:
    """ECE over bins of equal mass (Nguyen & O'Connor 2015); arguments and errors as `ece`.

    M20 and L25 call it AdaECE, KK24 (section 5.1) ECE. Tied confidences do not count in the order of the rows: each bin
    gets its share of them, with their mean correctness.

    >>> probs = [[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2
    >>> round(adaptive_ece(probs, [0, 1, 0, 1], n_bins=2), 4)  # mean of |0.9 - 0.5| and |0.6 - 0.5|
    0.25
    """
    _check_bins(n_bins)  # before the data are read
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return adaptive_ece_of(confidence, correct, n_bins, weights)


def mce(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> float:
    """Maximum calibration error: the largest absolute gap of a non-empty bin (Guo et al. 2017); errors as `ece`.

    >>> round(mce([[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2, [0, 1, 0, 1]), 4)  # |0.9 - 0.5|
    0.4
    """
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning=binning, weights=weights).gap).max())


def reliability_bins(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> Bins:
    """Count, mean confidence and accuracy of each non-empty bin of a reliability diagram; errors as `ece`.

    >>> reliability_bins([[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2, [0, 0, 0, 1]).accuracy.tolist()
    [0.5, 1.0]
    """
    _check_bins(n_bins)  # before the data are read
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return reliability_bins_of(confidence, correct, n_bins, binning=binning, weights=weights)


def ece_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, weights: np.ndarray | None = None
) -> float:
    """`ece` of confidences (n,) and correctness (n,), unchecked.

    Args:
        weights: (n,), sample weights; whole ones count as repetitions.

    >>> round(ece_of(np.full(4, 0.8), np.array([1, 1, 1, 0])), 4)  # |0.8 - 0.75|
    0.05
    """
    return _binned_error(confidence, correct, binned(confidence, n_bins, "width"), weights)


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
    return _binned_error(confidence, correct, binned(confidence, n_bins, "mass", weights), weights)


def reliability_bins_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: np.ndarray | None = None,
) -> Bins:
    """`reliability_bins` of confidences (n,) and correctness (n,), unchecked.

    Args:
        weights: (n,), sample weights; counts are then whole only if weights are.

    >>> bins = reliability_bins_of(np.array([0.9, 0.9, 0.6, 0.6]), np.array([1, 1, 1, 0]))
    >>> bins.count.tolist(), bins.accuracy.tolist()
    ([2, 2], [0.5, 1.0])
    """
    bins = binned(confidence, n_bins, binning, weights)
    if weights is None:
        sums, whole = np.stack([bins.total(values) for values in (None, confidence, correct)]), True
    else:
        sums = np.stack([bins.total(values) for values in (weights, weights * confidence, weights * correct)])
        whole = bool((weights == np.rint(weights)).all())
    filled = sums[0] > 0
    total, confidence, correct = sums[:, filled]
    effective = None if weights is None else total**2 / bins.total(weights**2, power=2)[filled]
    count = np.rint(total).astype(np.int64) if whole else total
    return Bins(count, confidence / total, correct / total, effective)


def _binned_error(
    confidence: np.ndarray, correct: np.ndarray, bins: Binned, weights: np.ndarray | None = None
) -> float:
    gaps = np.subtract(confidence, correct, dtype=np.float64)
    sums = bins.total(gaps if weights is None else weights * gaps)
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


def classwise_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, weights: Any = None) -> float:
    """ECE over bins of equal width of each class's probability, averaged over the K classes (Kull et al. 2019).

    L25 reports it in Table 7; its formula in A.1 is missing in the text we read. Errors as `ece`.

    >>> round(classwise_ece([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # |0.8 - 0.75| and |0.2 - 0.25|
    0.05
    """
    edges = inner_edges(n_bins)
    samples, weights = weighted_samples(probs, labels, weights)
    gap = samples.total(functools.partial(class_gap_of_chunk, edges), weights)
    return float(np.abs(gap).sum() / (len(samples) if weights is None else weights.sum()) / samples.classes)


def sum_class_gaps(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, weights: np.ndarray | None = None) -> ClassGaps:
    """Sums from which the classwise ECE and its interval are computed, weighted by weights (n,); errors as `ece`."""
    samples = checked_samples(probs, labels)
    sums = samples.total(functools.partial(_class_sums, inner_edges(n_bins)), weights)
    gap, square, variance = sums.reshape(3, samples.classes, n_bins)
    return ClassGaps(gap, square, variance, len(samples))


def class_gap_of_chunk(edges: np.ndarray, p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Probability minus one-hot label of a chunk (m, K), (m,), summed in each class and bin: (K n_bins,)."""
    (sums,) = _sum_cells(edges, p, p if w is None else p * w[:, None])
    cells = _width_index(label_probs(p, y), edges) + (len(edges) + 1) * y
    return sums - np.bincount(cells, w, len(sums))


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
    if len(p) < n_bins:  # fewer than cells: nearly all are in the first bin
        row, k = np.nonzero(_width_index(p, edges))
        cells = n_bins * k + _width_index(p[row, k], edges)
        for total, each in zip(sums, values, strict=True):
            np.add.at(total, cells, each[row, k])
            lowest = each.copy()
            lowest[row, k] = 0
            total[::n_bins] = lowest.sum(0)
        return sums
    first = np.tile(n_bins * np.arange(classes), (min(rows, len(p)), 1))  # broadcasting one row is far slower
    for start in range(0, len(p), rows):
        some = slice(start, start + rows)
        cells = _width_index(p[some], edges)
        cells += first[: len(cells)]
        for total, each in zip(sums, values, strict=True):
            total += np.bincount(cells.ravel(), each[some].ravel(), len(total))
    return sums
