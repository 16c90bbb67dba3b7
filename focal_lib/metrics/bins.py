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

from focal_lib.metrics.scores import checked_samples, top_label, top_of_chunk

__all__ = [
    "Binning",
    "Bins",
    "ClassGaps",
    "adaptive_ece",
    "adaptive_ece_of",
    "assign_bins",
    "class_gap_of_chunk",
    "classwise_ece",
    "ece",
    "ece_of",
    "equal_mass_starts",
    "inner_edges",
    "mce",
    "reliability_bins",
    "reliability_bins_of",
    "sum_cells",
    "sum_class_gaps",
]

Binning = Literal["width", "mass"]


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


# --- which bin ----------------------------------------------------------------------------


def _check_bins(n_bins: int) -> None:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")


def inner_edges(n_bins: int) -> Tensor:
    """The inner edges of bins of equal width."""
    _check_bins(n_bins)
    return torch.arange(1, n_bins, dtype=torch.float64) / n_bins


def _width_index(values: Tensor, edges: Tensor) -> Tensor:
    """How many of the edges k / n_bins lie below each value in [0, 1], (m,) -> (m,): torch.bucketize, but faster.

    By one multiplication; only those that rounding might put beyond an edge are looked up.
    """
    n_bins = len(edges) + 1
    scaled = values * n_bins
    index = scaled.ceil().sub_(1).clamp_(0, n_bins - 1).long()
    rounding = 4 * n_bins * torch.finfo(values.dtype).eps
    near = ((scaled - scaled.round()).abs_() <= rounding) & (scaled > 0.5) & (scaled < n_bins - 0.5)
    doubtful = np.flatnonzero(near.numpy())  # several times faster than torch.nonzero
    if len(doubtful):
        index[doubtful] = torch.bucketize(values[doubtful].double(), edges)
    return index


def assign_bins(confidence: np.ndarray, n_bins: int, binning: Binning) -> np.ndarray:
    """Bin index of each sample, (n,) -> (n,).

    Raises:
        ValueError: n_bins < 1, or a binning that is neither 'width' nor 'mass'.
    """
    if binning == "width":
        return _width_index(torch.from_numpy(np.asarray(confidence, dtype=np.float64)), inner_edges(n_bins)).numpy()
    _check_bins(n_bins)
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return _equal_mass(confidence, n_bins)


def equal_mass_starts(n: int, n_bins: int) -> np.ndarray:
    """Where each bin of equal mass but the first starts among n sorted samples, (bins - 1,)."""
    bins = min(n_bins, n)
    return np.cumsum(np.full(bins, n // bins) + (np.arange(bins) < n % bins))[:-1]


def _equal_mass(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of equal mass of each sample; samples that tie across an edge fill the bins in their order, (n,)."""
    starts = equal_mass_starts(len(confidence), n_bins)
    ordered = np.partition(confidence, np.r_[starts - 1, starts])  # right at the edges, which takes half of a sort
    edges = ordered[starts]
    values = torch.from_numpy(np.ascontiguousarray(confidence))
    index = torch.bucketize(values, torch.from_numpy(edges), right=True).numpy()
    for value in np.unique(edges[edges == ordered[starts - 1]]):
        tied, lower = np.flatnonzero(confidence == value), np.count_nonzero(confidence < value)
        index[tied] = np.searchsorted(starts, lower + np.arange(len(tied)), side="right")
    return index


# --- of the top label ---------------------------------------------------------------------


def ece(probs: Any, labels: Any, n_bins: int = 15) -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Bins of equal width, as in Guo et al. (2017), M20 and L25. KK24's ECE is `adaptive_ece`.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1, n_bins < 1.
    """
    samples = checked_samples(probs, labels)
    return float(np.abs(samples.total(functools.partial(_width_gaps, inner_edges(n_bins)))).sum() / len(samples))


def adaptive_ece(probs: Any, labels: Any, n_bins: int = 15) -> float:
    """ECE over bins of equal mass: M20's and L25's AdaECE, KK24's ECE (section 5.1); arguments and errors as ece."""
    return adaptive_ece_of(*top_label(probs, labels), n_bins)


def mce(probs: Any, labels: Any, n_bins: int = 15, *, binning: Binning = "width") -> float:
    """Maximum calibration error: the largest gap of a non-empty bin (Guo et al. 2017); errors as ece."""
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning=binning).gap).max())


def reliability_bins(probs: Any, labels: Any, n_bins: int = 15, *, binning: Binning = "width") -> Bins:
    """What a reliability diagram draws; empty bins are left out. Errors as ece."""
    if binning == "width":
        return _filled(checked_samples(probs, labels).total(functools.partial(_width_sums, inner_edges(n_bins))))
    return reliability_bins_of(*top_label(probs, labels), n_bins, binning=binning)


def ece_of(confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15) -> float:
    """`ece` of confidences (n,) and correctness (n,), unchecked."""
    return _binned_error(confidence, correct, assign_bins(confidence, n_bins, "width"))


def adaptive_ece_of(confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15) -> float:
    """`adaptive_ece` of confidences (n,) and correctness (n,), unchecked."""
    return _binned_error(confidence, correct, assign_bins(confidence, n_bins, "mass"))


def reliability_bins_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15, *, binning: Binning = "width"
) -> Bins:
    """`reliability_bins` of confidences (n,) and correctness (n,), unchecked."""
    index = assign_bins(confidence, n_bins, binning)
    return _filled(np.stack([np.bincount(index, v, n_bins) for v in (np.ones(len(index)), confidence, correct)]))


def _binned_error(confidence: np.ndarray, correct: np.ndarray, index: np.ndarray) -> float:
    return float(np.abs(np.bincount(index, confidence - correct)).sum() / len(confidence))


def _filled(sums: np.ndarray) -> Bins:
    """From numbers of samples, confidences and correctness summed in each bin, (3, bins)."""
    count, confidence, correct = sums[:, sums[0] > 0]
    return Bins(count.astype(np.int64), confidence / count, correct / count)


def _width_sums(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    confidence, correct = top_of_chunk(p, y)
    index, bins = _width_index(confidence, edges), len(edges) + 1
    return torch.stack(
        [torch.bincount(index, minlength=bins), *(torch.bincount(index, v, bins) for v in (confidence, correct))]
    )


def _width_gaps(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    confidence, correct = top_of_chunk(p, y)
    return torch.bincount(_width_index(confidence, edges), confidence - correct, len(edges) + 1)


# --- of every class -----------------------------------------------------------------------


class ClassGaps(NamedTuple):
    """Sums over the samples in each class and bin of equal width, (K, n_bins) each, and the number of samples.

    Sums of different samples add up, and are what `classwise_ece_interval_of` takes.
    """

    gap: np.ndarray  # p minus 1 where the class is the label
    square: np.ndarray  # of that difference
    variance: np.ndarray  # p (1 - p), what the square would be of a calibrated model
    n: int


def classwise_ece(probs: Any, labels: Any, n_bins: int = 15, *, binning: Binning = "width") -> float:
    """ECE of each class' probability against that class, averaged over the K columns of probs (M20); errors as ece."""
    samples = checked_samples(probs, labels, single=False)
    if binning == "width":
        gap = samples.total(functools.partial(class_gap_of_chunk, inner_edges(n_bins)))
        return float(np.abs(gap).sum() / len(samples) / samples.classes)
    y = np.asarray(samples.labels)
    columns = (samples.gather(functools.partial(_column, k))[0] for k in range(samples.classes))  # each is to be sorted
    each = (_binned_error(p, (y == k).astype(float), assign_bins(p, n_bins, binning)) for k, p in enumerate(columns))
    return float(np.mean(list(each)))


def _column(k: int, p: Tensor, _: Tensor) -> tuple[Tensor]:
    return (p[:, k].double(),)


def sum_class_gaps(probs: Any, labels: Any, n_bins: int = 15) -> ClassGaps:
    """What the classwise ECE and its interval are made of; errors as ece."""
    samples = checked_samples(probs, labels, single=False)
    sums = samples.total(functools.partial(_class_sums, inner_edges(n_bins)))
    gap, square, variance = sums.reshape(3, samples.classes, n_bins)
    return ClassGaps(gap, square, variance, len(samples))


def class_gap_of_chunk(edges: Tensor, p: Tensor, y: Tensor) -> np.ndarray:
    """p minus 1 where the class is the label, summed in each class and bin of a chunk (m, K), (m,): (K n_bins,)."""
    wide = p.double().numpy()
    (sums,) = sum_cells(edges, wide, wide)
    of_label = p.gather(-1, y[:, None])[:, 0].double()
    return sums - np.bincount(y * (len(edges) + 1) + _width_index(of_label, edges), minlength=len(sums))


def _class_sums(edges: Tensor, p: Tensor, y: Tensor) -> np.ndarray:
    wide = p.double().clamp(max=1).numpy()  # rounding may put it above
    gap = wide.copy()
    gap[np.arange(len(gap)), y] -= 1
    return sum_cells(edges, wide, gap, gap * gap, wide * (1 - wide))


def sum_cells(edges: Tensor, p: np.ndarray, *values: np.ndarray) -> np.ndarray:
    """Arrays of values (m, K), each summed in each class and bin of p (m, K): (arrays, K n_bins).

    Most probabilities of many classes lie in the lowest bin, so those are summed without a search.
    """
    n_bins, (samples, classes) = len(edges) + 1, p.shape
    higher = p > (float(edges[0]) if n_bins > 1 else np.inf)
    above = np.flatnonzero(higher)
    column = above - above // classes * classes
    cells = column * n_bins + _width_index(torch.from_numpy(p.ravel()[above]), edges).numpy()
    ones, sums = np.ones(samples), []
    for each in values:
        counted = np.bincount(cells, each.ravel()[above], classes * n_bins)
        found = counted.astype(np.float64)  # numpy's are whole numbers where none is above
        found[::n_bins] = ones @ np.where(higher, 0.0, each)
        sums.append(found)
    return np.stack(sums)
