"""Binned calibration errors and reliability diagrams, from probabilities (n, K) and labels (n,).

Bins of equal width are (lo, hi], with 0 in the first; bins of equal mass are consecutive runs of the sorted
confidences whose sizes differ by at most one. A function whose name ends in `_of` takes confidences (n,) and
correctness (n,) instead, and checks nothing: the core that searches call.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from focal_lib.metrics.scores import checked_samples, label_probs, top_label, top_of_chunk
from focal_lib.threads import one_torch_thread

Binning = Literal["width", "mass"]
_AT_ONCE = 16_384  # numbers whose temporary arrays stay in the cache


DEFAULT_BINS = 15


@dataclass(frozen=True)
class Bins:
    """Non-empty bins of a reliability diagram, each array (bins,)."""

    count: np.ndarray
    confidence: np.ndarray  # mean in the bin
    accuracy: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """Confidence minus accuracy, (bins,)."""
        return self.confidence - self.accuracy

    def consistency(self, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Where each accuracy falls with that probability if the model is calibrated (Broecker & Smith 2007).

        Binomial with the bin's mean confidence; the confidences in a bin differ, so it is a little too wide.
        """
        probability, count = np.clip(self.confidence, 0, 1), self.count
        return tuple(binom.ppf(tail, count, probability) / count for tail in ((1 - level) / 2, (1 + level) / 2))

    def consistency_together(self, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Where all accuracies fall together with that probability at least if the model is calibrated (Bonferroni)."""
        return self.consistency(level=1 - (1 - level) / len(self.count))


# --- which bin ----------------------------------------------------------------------------


def _check_bins(n_bins: int) -> None:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")


def inner_edges(n_bins: int) -> Tensor:
    """The inner edges of bins of equal width."""
    _check_bins(n_bins)
    return torch.arange(1, n_bins, dtype=torch.float64) / n_bins


def _width_index(values: Tensor, edges: Tensor, *, cells: int = 0) -> Tensor:
    """How many of the edges k / n_bins lie below each value in [0, 1], (...) -> (...): torch.bucketize, but faster.

    By one multiplication, a little too small, so that no value is put above its bin; those that may be a little above
    an edge are looked up. Whole numbers as short as `cells` allows: to convert and to count them takes half the time.
    """
    n_bins = len(edges) + 1
    rounding = 8 * torch.finfo(torch.float64).eps
    scaled = (values.double() * (n_bins * (1 - rounding))).clamp_(max=n_bins - 0.5)  # the last bin, above 1 too
    index = scaled.to(_whole(max(cells, n_bins)))
    slack = 2 * n_bins * rounding  # of what the multiplication takes off, and rounding
    if values.dtype == torch.float32 and slack < 2**-24:
        return index  # n_bins times a float32 is no nearer to a whole number, as it is a multiple of its last digit
    above = scaled.frac_()
    if float(above.max()) > 1 - slack:
        doubtful = np.flatnonzero((above > 1 - slack).numpy())
        found = torch.bucketize(values.ravel()[doubtful].double(), edges)
        index.view(-1)[doubtful] = found.to(index.dtype)
    return index


def _whole(cells: int) -> torch.dtype:
    """The shortest whole numbers that count so many."""
    return next(kind for kind in (torch.int16, torch.int32, torch.int64) if cells <= torch.iinfo(kind).max)


def assign_bins(confidence: np.ndarray, n_bins: int, binning: Binning) -> np.ndarray:
    """Bin index of each sample, (n,) -> (n,).

    Raises:
        ValueError: n_bins < 1, or a binning that is neither 'width' nor 'mass'.
    """
    if binning == "width":
        with one_torch_thread():
            values = torch.from_numpy(np.asarray(confidence, dtype=np.float64))
            return _width_index(values, inner_edges(n_bins)).long().numpy()
    _check_bins(n_bins)
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return _equal_mass(confidence, n_bins).astype(np.intp)


def equal_mass_starts(n: int, n_bins: int) -> np.ndarray:
    """Where each bin of equal mass but the first starts among n sorted samples, (bins - 1,)."""
    bins = min(n_bins, n)
    return np.cumsum(np.full(bins, n // bins) + (np.arange(bins) < n % bins))[:-1]


def _equal_mass(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of equal mass of each sample; samples that tie across an edge fill the bins in their order, (n,).

    By counting in narrow cells, most of which lie in one bin; only samples in the others are sorted. A partition of
    all, with a search for each sample, takes five times as long.
    """
    starts = equal_mass_starts(len(confidence), n_bins)
    cell, cells = _narrow_cells(np.asarray(confidence, dtype=np.float64))
    before = np.r_[0, np.cumsum(np.bincount(cell, minlength=cells))]  # samples in the cells below
    first, last = (np.searchsorted(before, ranks, side="right") - 1 for ranks in (starts, starts - 1))
    index = np.cumsum(np.bincount(first, minlength=cells)).astype(np.min_scalar_type(-n_bins))[cell]
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
    """A cell for each value in [0, 1], no lower for a greater one, and the number of cells.

    By the first bits of the distance to 0 or 1, whichever is nearer: cells narrow towards both, where values crowd.
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


# --- of the top label ---------------------------------------------------------------------


def ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Bins of equal width, as in Guo et al. (2017) and M20 section 2; M20 section 6 has 15. L25 A.1 has bins, too; the
    text at hand tells neither their number nor their width. KK24's ECE is `adaptive_ece`.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1, n_bins < 1.
    """
    return ece_of_sums(checked_samples(probs, labels).total(functools.partial(_width_sums, inner_edges(n_bins))))


def ece_of_sums(sums: np.ndarray) -> float:
    """From `width_sums` of all samples, (3, bins)."""
    count, confidence, correct = sums
    return float(np.abs(confidence - correct).sum() / count.sum())


def adaptive_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> float:
    """ECE over bins of equal mass: M20's and L25's AdaECE, KK24's ECE (section 5.1); arguments and errors as ece."""
    return adaptive_ece_of(*top_label(probs, labels), n_bins)


def mce(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width") -> float:
    """Maximum calibration error: the largest gap of a non-empty bin (Guo et al. 2017); errors as ece."""
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning=binning).gap).max())


def reliability_bins(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width") -> Bins:
    """What a reliability diagram draws; empty bins are left out. Errors as ece."""
    if binning == "width":
        return filled_bins(checked_samples(probs, labels).total(functools.partial(_width_sums, inner_edges(n_bins))))
    return reliability_bins_of(*top_label(probs, labels), n_bins, binning=binning)


def ece_of(confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS) -> float:
    """`ece` of confidences (n,) and correctness (n,), unchecked."""
    return _binned_error(confidence, correct, assign_bins(confidence, n_bins, "width"))


def adaptive_ece_of(confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS) -> float:
    """`adaptive_ece` of confidences (n,) and correctness (n,), unchecked."""
    _check_bins(n_bins)
    return _binned_error(confidence, correct, _equal_mass(confidence, n_bins))


def reliability_bins_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width"
) -> Bins:
    """`reliability_bins` of confidences (n,) and correctness (n,), unchecked."""
    index = assign_bins(confidence, n_bins, binning)
    return filled_bins(np.stack([np.bincount(index, v, n_bins) for v in (None, confidence, correct)]))


def _binned_error(confidence: np.ndarray, correct: np.ndarray, index: np.ndarray) -> float:
    gap = torch.from_numpy(np.subtract(confidence, correct, dtype=np.float64))
    with one_torch_thread():
        gaps = torch.bincount(torch.from_numpy(index), gap)
    return float(gaps.abs().sum()) / len(confidence)


def filled_bins(sums: np.ndarray) -> Bins:
    """From `width_sums` of all samples, (3, bins)."""
    count, confidence, correct = sums[:, sums[0] > 0]
    return Bins(count.astype(np.int64), confidence / count, correct / count)


def width_sums(edges: Tensor, confidence: Tensor, correct: Tensor) -> Tensor:
    """Numbers of samples, confidences and correctness summed in each bin of equal width, (m,), (m,) -> (3, bins)."""
    index, bins = _width_index(confidence, edges), len(edges) + 1
    return torch.stack(
        [torch.bincount(index, minlength=bins), *(torch.bincount(index, v, bins) for v in (confidence, correct))]
    )


def _width_sums(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    return width_sums(edges, *top_of_chunk(p, y))


# --- of every class -----------------------------------------------------------------------


class ClassGaps(NamedTuple):
    """Sums over the samples in each class and bin of equal width, (K, n_bins) each, and the number of samples.

    Sums of different samples add up, and are what `classwise_ece_interval_of` takes.
    """

    gap: np.ndarray  # p minus 1 where the class is the label
    square: np.ndarray  # of that difference
    variance: np.ndarray  # p (1 - p), what the square would be of a calibrated model
    n: int


def classwise_ece(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width") -> float:
    """ECE of each class' probability against that class, averaged over the K columns of probs.

    L25 Table 7 has it, defined in A.1, whose formula the text at hand has lost. Errors as ece.
    """
    samples = checked_samples(probs, labels)
    if binning == "width":
        gap = samples.total(functools.partial(_class_gap, inner_edges(n_bins)))
        return float(np.abs(gap).sum() / len(samples) / samples.classes)
    y = np.asarray(samples.labels)
    columns = (samples.gather(functools.partial(_column, k))[0] for k in range(samples.classes))  # each is to be sorted
    each = (_binned_error(p, (y == k).astype(float), assign_bins(p, n_bins, binning)) for k, p in enumerate(columns))
    return float(np.mean(list(each)))


def _column(k: int, p: Tensor, _: Tensor) -> tuple[Tensor]:
    return (p[:, k].double(),)


def sum_class_gaps(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS) -> ClassGaps:
    """What the classwise ECE and its interval are made of; errors as ece."""
    samples = checked_samples(probs, labels, single=False)
    sums = samples.total(functools.partial(_class_sums, inner_edges(n_bins)))
    gap, square, variance = sums.reshape(3, samples.classes, n_bins)
    return ClassGaps(gap, square, variance, len(samples))


def class_gap_of_chunk(edges: Tensor, p: Tensor, y: Tensor, of_label: Tensor) -> Tensor:
    """p minus 1 where the class is the label, summed in each class and bin of a chunk (m, K), (m,): (K n_bins,).

    Args:
        of_label: `label_probs` of the chunk.
    """
    n_bins = len(edges) + 1
    (sums,) = sum_cells(edges, p, p.double())
    cells = _width_index(of_label, edges, cells=len(sums))
    return sums - torch.bincount(cells.add_(y.to(cells.dtype), alpha=n_bins), minlength=len(sums))


def _class_gap(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    return class_gap_of_chunk(edges, p, y, label_probs(p, y))


def _class_sums(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    wide = p.double().clamp(max=1)  # rounding may put it above
    gap = wide.scatter_add(-1, y[:, None], torch.full((len(y), 1), -1.0, dtype=wide.dtype))
    return sum_cells(edges, p, gap, gap * gap, wide * (1 - wide))


def sum_cells(edges: Tensor, p: Tensor, *values: Tensor) -> Tensor:
    """Arrays of values (m, K), each summed in each class and bin of p (m, K): (arrays, K n_bins)."""
    count = (len(edges) + 1) * p.shape[1]
    cells = _width_index(p, edges, cells=count).view(-1).add_(_first_cells(*p.shape, len(edges) + 1))
    return torch.stack([torch.bincount(cells, each.reshape(-1), count) for each in values])


@functools.lru_cache(maxsize=4)
def _first_cells(samples: int, classes: int, n_bins: int) -> Tensor:
    """Of each class' bins the first, for every sample, (samples classes,); adding (classes,) to rows is far slower."""
    return torch.arange(0, n_bins * classes, n_bins, dtype=_whole(n_bins * classes)).repeat(samples)
