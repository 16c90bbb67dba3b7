"""Scores of single samples and their means: accuracy, NLL, Brier score, from probabilities (n, K) and labels (n,).

The confidence is the largest probability. The prediction is its class, the first if tied, and is correct if that is the
label.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.arrays import largest
from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_probs


@dataclass(frozen=True)
class SampleScores:
    """Confidence, correctness, log loss and Brier score of each sample, arrays (n,).

    >>> scores = sample_scores([[0.8, 0.2], [0.5, 0.5]], [1, 0])
    >>> scores.correct.tolist(), scores.log_loss.round(4).tolist()  # -log 0.2 and -log 0.5
    ([0.0, 1.0], [1.6094, 0.6931])
    """

    confidence: np.ndarray
    correct: np.ndarray
    log_loss: np.ndarray
    brier: np.ndarray

    @staticmethod
    def concatenate(parts: Sequence[SampleScores]) -> SampleScores:
        """Concatenate the scores of several sets of samples."""
        columns = zip(*((s.confidence, s.correct, s.log_loss, s.brier) for s in parts), strict=True)
        return SampleScores(*map(np.concatenate, columns))


def top_label(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidence (n,) in [0, 1] and correctness (n,) in {0, 1} of the most probable class, both float64.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels not integers in 0 ... K-1.

    >>> confidence, correct = top_label([[0.8, 0.2], [0.3, 0.7]], [0, 0])
    >>> confidence.tolist(), correct.tolist()
    ([0.8, 0.7], [1.0, 0.0])
    """
    confidence, correct = checked_samples(probs, labels).gather(top_of_chunk)
    return confidence, correct


def sample_scores(probs: Any, labels: Any) -> SampleScores:
    """Confidence, correctness, log loss and Brier score of each sample, in one pass; errors as top_label.

    >>> sample_scores([[0.8, 0.2]] * 2, [0, 1]).brier.round(4).tolist()  # 0.2^2 + 0.2^2 and 0.8^2 + 0.8^2
    [0.08, 1.28]
    """
    return SampleScores(*checked_samples(probs, labels).gather(_scores))


def accuracy(probs: Any, labels: Any) -> float:
    """Share of samples whose most probable class is the label; errors as top_label.

    >>> accuracy([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    0.75
    """
    return float(top_label(probs, labels)[1].mean())


def nll(probs: Any, labels: Any) -> float:
    """Negative log-likelihood: mean of -log q_y, in nats; infinite if a label has probability 0. Errors as top_label.

    >>> round(nll([[0.5, 0.5]] * 4, [0, 0, 0, 1]), 4)  # log 2
    0.6931
    """
    samples = checked_samples(probs, labels)
    return float(samples.total(_log_loss)) / len(samples)


def brier(probs: Any, labels: Any) -> float:
    """Mean squared distance to the one-hot label, summed over classes: 0 to 2 (Brier 1950). Errors as top_label.

    >>> round(brier([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # (3 * 0.08 + 1.28) / 4
    0.38
    """
    samples = checked_samples(probs, labels)
    return float(samples.total(_brier)) / len(samples)


def checked_samples(probs: Any, labels: Any, *, single: bool = True) -> Samples:
    """Samples of probabilities; each chunk is checked when it is read.

    Args:
        single: see Samples.

    Raises:
        ValueError: shapes or labels that do not match; while reading, values that are not distributions.
    """
    tolerance = 1e-6 if str(getattr(probs, "dtype", "float64")).endswith("float64") else 1e-3
    return Samples(probs, labels, "probs", functools.partial(_check, tolerance), single=single)


def _check(tolerance: float, p: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        sums = p @ np.ones(p.shape[1], p.dtype)  # with few classes several times faster than a sum over them
    if not (p.min() >= 0 and 1 - tolerance <= sums.min() and sums.max() <= 1 + tolerance):
        check_probs(p)  # raises with the reason


def label_probs(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probability of each label in a chunk (m, K), (m,), float64 (m,)."""
    return p.take(np.arange(0, p.size, p.shape[1]) + y).astype(np.float64, copy=False)


def top_of_chunk(p: np.ndarray, y: np.ndarray, of_label: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """`top_label` of a chunk (m, K), (m,), unchecked.

    Args:
        of_label: `label_probs` of the chunk, if already computed.
    """
    confidence = largest(p)[:, 0].astype(np.float64, copy=False)
    correct = (label_probs(p, y) if of_label is None else of_label) == confidence
    doubtful = np.flatnonzero(correct & (confidence < 0.501))  # tied have at most 1/2 each
    rows = p[doubtful]
    if np.count_nonzero(rows == confidence[doubtful, None]) > len(rows):
        correct[doubtful] = rows.argmax(-1) == y[doubtful]
    return np.minimum(confidence, 1), correct.astype(np.float64)  # rounding may put it above


def _log_losses(of_label: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -np.log(of_label)


def log_loss_sum(of_label: np.ndarray) -> float:
    """Sum of -log of the `label_probs` of a chunk, (m,)."""
    return float(_log_losses(of_label).sum())


def brier_sum(p: np.ndarray, of_label: np.ndarray) -> float:
    """Sum of the Brier scores of a chunk (m, K), from its `label_probs`; faster than a score for each sample."""
    return _sum_of_squares(p) - 2 * float(of_label.sum()) + len(p)


def _log_loss(p: np.ndarray, y: np.ndarray) -> float:
    return log_loss_sum(label_probs(p, y))


def _brier(p: np.ndarray, y: np.ndarray) -> float:
    return brier_sum(p, label_probs(p, y))


def _sum_of_squares(p: np.ndarray) -> float:
    """Float32 in runs of 128 in single precision, then in float64, which is faster than converting."""
    values = p.ravel()
    if p.dtype == np.float64:
        return float(values @ values)
    whole = len(values) // 128 * 128
    runs, rest = values[:whole].reshape(-1, 128), values[whole:].astype(np.float64)
    return float(np.einsum("ij,ij->i", runs, runs).sum(dtype=np.float64) + rest @ rest)


def _scores(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    of_label, wide = label_probs(p, y), p.astype(np.float64, copy=False)
    squares = np.einsum("ij,ij->i", wide, wide)
    return *top_of_chunk(p, y, of_label), _log_losses(of_label), squares - 2 * of_label + 1
