"""Calibration metrics from probabilities (n, K) and labels (n,): floats out.

Arrays, tensors, memory maps and Dask arrays in: rows are read in chunks, and what is kept is a few numbers a row.

Top-label metrics use confidence = largest probability and whether its class is the label; of
tied classes the first counts. Bins of equal width are (lo, hi], with 0 in the first; bins of
equal mass are consecutive runs of the sorted confidences whose sizes differ by at most one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from scipy.fft import dct, idct
from scipy.optimize import brentq
from scipy.stats import binom
from torch import Tensor

from focal_lib.rows import Rows
from focal_lib.validation import check_probs

__all__ = [
    "Bins",
    "Interval",
    "RowScores",
    "accuracy",
    "bin_of",
    "binned",
    "binned_ece",
    "bootstrap",
    "brier",
    "class_gaps",
    "classwise_ece",
    "ece",
    "mce",
    "nll",
    "paired_bootstrap",
    "reliability_bins",
    "row_scores",
    "smooth_ece",
    "smooth_ece_of",
    "top_label",
]

Binning = Literal["width", "mass"]
_CELLS = 4096  # of the smooth ECE's grid


@dataclass(frozen=True)
class Bins:
    """Non-empty bins of a reliability diagram, each array (bins,)."""

    count: np.ndarray
    confidence: np.ndarray  # mean in the bin
    accuracy: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        return self.confidence - self.accuracy

    def consistency(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Where each accuracy falls with that probability if the model is calibrated (Broecker & Smith 2007).

        Binomial with the bin's mean confidence; the confidences in a bin differ, so it is a little too wide.
        """
        probability, count = np.clip(self.confidence, 0, 1), self.count
        return tuple(binom.ppf(tail, count, probability) / count for tail in ((1 - level) / 2, (1 + level) / 2))


@dataclass(frozen=True)
class RowScores:
    """What the top-label metrics, the NLL and the Brier score need of each row, each array (n,)."""

    confidence: np.ndarray
    correct: np.ndarray
    log_loss: np.ndarray
    brier: np.ndarray

    @staticmethod
    def joined(parts: Sequence[RowScores]) -> RowScores:
        """One after the other."""
        columns = zip(*((s.confidence, s.correct, s.log_loss, s.brier) for s in parts), strict=True)
        return RowScores(*map(np.concatenate, columns))


@dataclass(frozen=True)
class Interval:
    """An estimate with a percentile bootstrap interval."""

    estimate: float
    low: float
    high: float

    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def top_label(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidence (n,) in [0, 1] and correctness (n,) in {0, 1}, both float64.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1.
    """
    confidence, correct = _rows(probs, labels).gather(_top)
    return confidence, correct


def row_scores(probs: Any, labels: Any) -> RowScores:
    """Confidence, correctness, log-loss and Brier score of each row, read once; errors as top_label."""
    return RowScores(*_rows(probs, labels).gather(_scores))


def accuracy(probs: Any, labels: Any) -> float:
    """Share of rows whose largest probability is the label's."""
    return float(top_label(probs, labels)[1].mean())


def nll(probs: Any, labels: Any) -> float:
    """Mean negative log-likelihood, in nats; infinite where a label has probability 0."""
    return float(_rows(probs, labels).gather(_log_loss)[0].mean())


def brier(probs: Any, labels: Any) -> float:
    """Mean squared distance to the one-hot label, summed over classes (0 to 2)."""
    return float(_rows(probs, labels).gather(_brier)[0].mean())


# --- a chunk of rows -------------------------------------------------------------------


def _rows(probs: Any, labels: Any) -> Rows:
    """Rows that are seen to be distributions whenever they are read."""
    tolerance = 1e-6 if str(getattr(probs, "dtype", "float64")).endswith("float64") else 1e-3
    return Rows(probs, labels, "probs", functools.partial(_check, tolerance), single=True)


def _check(tolerance: float, p: Tensor) -> None:
    if not (float(p.min()) >= 0 and float((p.sum(-1) - 1).abs().max()) <= tolerance):
        check_probs(p)  # says what is wrong


def _top(p: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    confidence = p.amax(-1)
    correct = p.gather(-1, y[:, None])[:, 0] == confidence
    doubtful = torch.nonzero(correct & (confidence < 0.501))[:, 0]  # tied classes have at most 1/2 each
    if len(doubtful):
        correct[doubtful] = p[doubtful].argmax(-1) == y[doubtful]
    return confidence.double(), correct.double()


def _log_loss(p: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    return (-torch.log(p.gather(-1, y[:, None])[:, 0].double()),)


def _brier(p: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    p = p.double()
    return ((p * p).sum(-1) - 2 * p.gather(-1, y[:, None])[:, 0] + 1,)


def _scores(p: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    return *_top(p, y), *_log_loss(p, y), *_brier(p, y)


# --- binned errors ---------------------------------------------------------------------


def _check_bins(n_bins: int) -> None:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")


def _edges(n_bins: int) -> Tensor:
    """The inner edges of bins of equal width."""
    _check_bins(n_bins)
    return torch.arange(1, n_bins, dtype=torch.float64) / n_bins


def bin_of(confidence: np.ndarray, n_bins: int, binning: Binning) -> np.ndarray:
    """Bin index of each sample, (n,)."""
    if binning == "width":
        return torch.bucketize(torch.from_numpy(confidence), _edges(n_bins)).numpy()
    _check_bins(n_bins)
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return _runs(confidence, n_bins)


def _runs(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of equal mass of each sample; rows that tie across an edge fill the bins in their order, (n,)."""
    n, bins = len(confidence), min(n_bins, len(confidence))
    starts = np.cumsum(np.full(bins, n // bins) + (np.arange(bins) < n % bins))[:-1]  # of every bin but the first
    ordered = np.sort(confidence)  # several times faster than a stable argsort, which would say the same
    edges = ordered[starts]
    values = torch.from_numpy(np.ascontiguousarray(confidence))
    index = torch.bucketize(values, torch.from_numpy(edges), right=True).numpy()
    for tied in np.unique(edges[edges == ordered[starts - 1]]):
        rows, first = np.flatnonzero(confidence == tied), np.searchsorted(ordered, tied)
        index[rows] = np.searchsorted(starts, first + np.arange(len(rows)), side="right")
    return index


def binned_ece(confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15, binning: Binning = "mass") -> float:
    """ECE of confidences (n,) and correctness (n,), unchecked: the core that searches call."""
    index = bin_of(confidence, n_bins, binning)
    return float(np.abs(np.bincount(index, confidence - correct)).sum() / len(confidence))


def reliability_bins(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> Bins:
    """What a reliability diagram draws; empty bins are left out."""
    if binning == "width":
        return _filled(_rows(probs, labels).total(functools.partial(_width_sums, _edges(n_bins))))
    return binned(*top_label(probs, labels), n_bins, binning)


def binned(confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15, binning: Binning = "width") -> Bins:
    """The bins of confidences (n,) and correctness (n,), unchecked."""
    index = bin_of(confidence, n_bins, binning)
    return _filled(np.stack([np.bincount(index, v, n_bins) for v in (np.ones(len(index)), confidence, correct)]))


def _filled(sums: np.ndarray) -> Bins:
    """From rows, confidences and correctness summed in each bin, (3, bins)."""
    count, confidence, correct = sums[:, sums[0] > 0]
    return Bins(count.astype(np.int64), confidence / count, correct / count)


def _width_sums(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    confidence, correct = _top(p, y)
    index, bins = torch.bucketize(confidence, edges), len(edges) + 1
    return torch.stack(
        [torch.bincount(index, minlength=bins), *(torch.bincount(index, v, bins) for v in (confidence, correct))]
    )


def _width_gaps(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    confidence, correct = _top(p, y)
    return torch.bincount(torch.bucketize(confidence, edges), confidence - correct, len(edges) + 1)


def ece(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1, n_bins < 1.
    """
    if binning != "width":
        return binned_ece(*top_label(probs, labels), n_bins, binning)
    rows = _rows(probs, labels)
    return float(np.abs(rows.total(functools.partial(_width_gaps, _edges(n_bins)))).sum() / len(rows))


def mce(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    """Maximum calibration error: the largest gap of a non-empty bin."""
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning).gap).max())


def classwise_ece(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    """ECE of each class' probability against that class, averaged over the K columns of probs."""
    if binning == "width":
        sums, _, _, n = class_gaps(probs, labels, n_bins)
        return float(np.abs(sums).sum() / n / len(sums))
    rows = _rows(probs, labels)
    y = np.asarray(rows.labels)
    columns = (rows.gather(functools.partial(_column, k))[0] for k in range(rows.classes))  # each is to be sorted
    return float(np.mean([binned_ece(p, (y == k).astype(float), n_bins, binning) for k, p in enumerate(columns)]))


def _column(k: int, p: Tensor, _: Tensor) -> tuple[Tensor]:
    return (p[:, k].double(),)


def class_gaps(probs: Any, labels: Any, n_bins: int = 15) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Sums of p - label, of its square, and of p (1 - p), in each class and bin of equal width: (K, n_bins) each; n."""
    rows = _rows(probs, labels)
    sums = rows.total(functools.partial(_class_gaps, _edges(n_bins))).reshape(3, rows.classes, n_bins)
    return *sums, len(rows)


def _class_gaps(edges: Tensor, p: Tensor, y: Tensor) -> Tensor:
    p, cells = p.double(), p.shape[1] * (len(edges) + 1)
    index = (torch.bucketize(p, edges) + (len(edges) + 1) * torch.arange(p.shape[1])).ravel()
    gap = p.scatter_add(-1, y[:, None], torch.full((len(p), 1), -1.0, dtype=p.dtype)).ravel()
    of_cells = gap, gap * gap, (p * (1 - p)).ravel()
    return torch.stack([torch.bincount(index, v, minlength=cells) for v in of_cells])


def smooth_ece(probs: Any, labels: Any) -> float:
    r"""Smooth ECE of Blasiok and Nakkiran: the sigma with smECE_sigma = sigma.

    :math:`\mathrm{smECE}_\sigma = \int_0^1 |\frac1n\sum_i (c_i - y_i) K_\sigma(t, c_i)|\,dt` with the
    Gaussian kernel reflected at 0 and 1. That kernel is the heat kernel with insulated ends, so
    it is diagonal in cosines: one DCT, and exact also where mass sits at 1.
    """
    return smooth_ece_of(*top_label(probs, labels))


def smooth_ece_of(confidence: np.ndarray, correct: np.ndarray) -> float:
    """The same of confidences (n,) and correctness (n,), unchecked."""
    place = np.clip(confidence * _CELLS - 0.5, 0, _CELLS - 1)
    left = np.minimum(place.astype(np.intp), _CELLS - 2)
    share = place - left
    residual = (confidence - correct) / len(confidence)
    mass = np.bincount(left, residual * (1 - share), _CELLS) + np.bincount(left + 1, residual * share, _CELLS)
    spectrum = dct(mass, norm="ortho")
    frequency = np.pi * np.arange(_CELLS)

    def smoothed(sigma: float) -> float:
        return float(np.abs(idct(spectrum * np.exp(-((frequency * sigma) ** 2) / 2), norm="ortho")).sum())

    low = 1 / _CELLS
    if smoothed(low) <= low:
        return smoothed(low)
    return float(brentq(lambda sigma: smoothed(sigma) - sigma, low, 2.0, xtol=1e-6))


# --- intervals -------------------------------------------------------------------------


def bootstrap(
    statistic: Callable[..., float],
    *samples: np.ndarray,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of ``statistic(*samples)``; rows are resampled together.

    Raises:
        ValueError: samples of different lengths, or none.
    """
    lengths = {len(sample) for sample in samples}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"samples must have one common length of at least 1. Got {sorted(lengths)}.")
    (n,) = lengths
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        rows = rng.integers(0, n, n)
        values.append(statistic(*(sample[rows] for sample in samples)))
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(statistic(*samples)), float(low), float(high))


def paired_bootstrap(
    statistic: Callable[[np.ndarray, np.ndarray], float],
    first: np.ndarray,
    second: np.ndarray,
    labels: np.ndarray,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Interval of statistic(first, labels) - statistic(second, labels) on the same resampled rows."""
    return bootstrap(
        lambda a, b, y: statistic(a, y) - statistic(b, y),
        np.asarray(first),
        np.asarray(second),
        np.asarray(labels),
        resamples=resamples,
        level=level,
        seed=seed,
    )
