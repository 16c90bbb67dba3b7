"""Calibration metrics from probabilities (n, K) and labels (n,): floats out, NumPy or torch in.

Top-label metrics use confidence = largest probability and whether its class is the label; of
tied classes the first counts. Bins of equal width are (lo, hi], with 0 in the first; bins of
equal mass are consecutive runs of the sorted confidences whose sizes differ by at most one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq

from focal_lib.validation import check_labels, check_probs

__all__ = [
    "Bins",
    "Interval",
    "accuracy",
    "binned_ece",
    "bootstrap",
    "brier",
    "classwise_ece",
    "ece",
    "mce",
    "nll",
    "paired_bootstrap",
    "reliability_bins",
    "smooth_ece",
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


@dataclass(frozen=True)
class Interval:
    """An estimate with a percentile bootstrap interval."""

    estimate: float
    low: float
    high: float

    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def _checked(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    p, y = (np.asarray(v.detach().cpu() if hasattr(v, "detach") else v) for v in (probs, labels))
    if p.ndim != 2:
        raise ValueError(f"probs must have shape (n, K). Got {p.shape}.")
    check_probs(p)
    check_labels(y, *p.shape)
    return p.astype(np.float64, copy=False), y


def top_label(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidence (n,) in [0, 1] and correctness (n,) in {0, 1}, both float64."""
    p, y = _checked(probs, labels)
    return p.max(-1), (p.argmax(-1) == y).astype(np.float64)


def accuracy(probs: Any, labels: Any) -> float:
    """Share of rows whose largest probability is the label's."""
    return float(top_label(probs, labels)[1].mean())


def nll(probs: Any, labels: Any) -> float:
    """Mean negative log-likelihood, in nats; infinite where a label has probability 0."""
    p, y = _checked(probs, labels)
    with np.errstate(divide="ignore"):
        return float(-np.log(p[np.arange(len(y)), y]).mean())


def brier(probs: Any, labels: Any) -> float:
    """Mean squared distance to the one-hot label, summed over classes (0 to 2)."""
    p, y = _checked(probs, labels)
    return float((np.square(p).sum(-1) - 2 * p[np.arange(len(y)), y] + 1).mean())


def _bin_of(confidence: np.ndarray, n_bins: int, binning: Binning) -> np.ndarray:
    """Bin index of each sample, (n,)."""
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")
    if binning == "width":
        edges = np.linspace(0, 1, n_bins + 1)[1:-1]
        return np.searchsorted(edges, confidence, side="left")
    if binning != "mass":
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    n = len(confidence)
    sizes = np.full(n_bins, n // n_bins) + (np.arange(n_bins) < n % n_bins)
    index = np.empty(n, dtype=np.intp)
    index[np.argsort(confidence, kind="stable")] = np.repeat(np.arange(n_bins), sizes)
    return index


def binned_ece(confidence: np.ndarray, correct: np.ndarray, n_bins: int = 15, binning: Binning = "mass") -> float:
    """ECE of confidences (n,) and correctness (n,), unchecked: the core that searches call."""
    index = _bin_of(confidence, n_bins, binning)
    return float(np.abs(np.bincount(index, confidence - correct)).sum() / len(confidence))


def reliability_bins(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> Bins:
    """What a reliability diagram draws; empty bins are left out."""
    confidence, correct = top_label(probs, labels)
    index = _bin_of(confidence, n_bins, binning)
    count = np.bincount(index, minlength=n_bins)
    sums = (np.bincount(index, v, minlength=n_bins)[count > 0] for v in (confidence, correct))
    means = [total / count[count > 0] for total in sums]
    return Bins(count[count > 0], *means)


def ece(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n}\,|\mathrm{acc}_b - \mathrm{conf}_b|`.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1, n_bins < 1.
    """
    return binned_ece(*top_label(probs, labels), n_bins, binning)


def mce(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    """Maximum calibration error: the largest gap of a non-empty bin."""
    return float(np.abs(reliability_bins(probs, labels, n_bins, binning).gap).max())


def classwise_ece(probs: Any, labels: Any, n_bins: int = 15, binning: Binning = "width") -> float:
    """ECE of each class' probability against that class, averaged over the K columns of probs."""
    p, y = _checked(probs, labels)
    columns = [binned_ece(p[:, k], (y == k).astype(float), n_bins, binning) for k in range(p.shape[1])]
    return float(np.mean(columns))


def smooth_ece(probs: Any, labels: Any) -> float:
    r"""Smooth ECE of Blasiok and Nakkiran: the sigma with smECE_sigma = sigma.

    :math:`\mathrm{smECE}_\sigma = \int_0^1 |\frac1n\sum_i (c_i - y_i) K_\sigma(t, c_i)|\,dt` with the
    Gaussian kernel reflected at 0 and 1. That kernel is the heat kernel with insulated ends, so
    it is diagonal in cosines: one DCT, and exact also where mass sits at 1.
    """
    confidence, correct = top_label(probs, labels)
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
