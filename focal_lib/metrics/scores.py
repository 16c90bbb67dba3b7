"""Scores of single samples and their means: accuracy, NLL, Brier score, from probabilities (n, K) and labels (n,).

Of two classes the probabilities of class 1 alone, (n,), give the same as both columns. Weights (n,) count samples
several times, or partly; a sample of weight 0 does not count, whatever it holds.

The confidence is the largest probability. The prediction is its class, the first if tied, and is correct if that is the
label.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.arrays import largest, to_numpy
from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_probs, check_weights


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
        probs: (n, K) distributions, or (n,) probabilities of class 1 of two: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1; of two classes also truth values.

    Raises:
        ValueError: probs not distributions, labels not integers in 0 ... K-1.

    >>> confidence, correct = top_label([[0.8, 0.2], [0.3, 0.7]], [0, 0])
    >>> confidence.tolist(), correct.tolist()
    ([0.8, 0.7], [1.0, 0.0])
    """
    confidence, correct = checked_samples(probs, labels).gather(top_of_chunk)
    return confidence, correct


def weighted_top_label(probs: Any, labels: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """`top_label`, and the weights, of the samples with a weight above 0; weights of 1 are None."""
    samples, weights = weighted_samples(probs, labels, weights)
    return *samples.gather(top_of_chunk), weights


def sample_scores(probs: Any, labels: Any) -> SampleScores:
    """Confidence, correctness, log loss and Brier score of each sample, in one pass; errors as top_label.

    >>> sample_scores([[0.8, 0.2]] * 2, [0, 1]).brier.round(4).tolist()  # 0.2^2 + 0.2^2 and 0.8^2 + 0.8^2
    [0.08, 1.28]
    """
    return SampleScores(*checked_samples(probs, labels).gather(scores_of_chunk))


def accuracy(probs: Any, labels: Any, *, weights: Any = None) -> float:
    """Share of samples whose most probable class is the label.

    Args:
        probs, labels: as in top_label.
        weights: (n,), at least 0; weight 2 counts a sample twice, weight 0 leaves it out.

    Raises:
        ValueError: as top_label; weights negative, not finite or all 0.

    >>> accuracy([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    0.75
    """
    return _mean(lambda p, y: top_of_chunk(p, y)[1], probs, labels, weights)


def nll(probs: Any, labels: Any, *, weights: Any = None) -> float:
    """Negative log-likelihood: mean of -log q_y, in nats; infinite if a label has probability 0.

    Arguments and errors as `accuracy`.

    >>> round(nll([[0.5, 0.5]] * 4, [0, 0, 0, 1]), 4)  # log 2
    0.6931
    """
    return _mean(_log_losses, probs, labels, weights)


def brier(probs: Any, labels: Any, *, weights: Any = None) -> float:
    """Mean squared distance to the one-hot label, summed over classes: 0 to 2 (Brier 1950).

    Arguments and errors as `accuracy`.

    >>> round(brier([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # (3 * 0.08 + 1.28) / 4
    0.38
    """
    return _mean(_briers, probs, labels, weights)


def _mean(
    scores: Callable[[np.ndarray, np.ndarray], np.ndarray], probs: Any, labels: Any, weights: Any = None
) -> float:
    """Weighted mean of the scores (m,) of chunks (m, K), (m,)."""
    samples, weights = weighted_samples(probs, labels, weights)
    if weights is None:
        return float(samples.total(lambda p, y: scores(p, y).sum())) / len(samples)
    return float(samples.total(lambda p, y, w: weighted_sum(scores(p, y), w), weights)) / float(weights.sum())


def weighted_sum(values: np.ndarray, weights: np.ndarray) -> float:
    """Sum of weights (m,) times values (m,), which may be infinite where the weight is 0."""
    used = weights > 0
    return float(values[used] @ weights[used])


def checked_samples(probs: Any, labels: Any) -> Samples:
    """Samples of probabilities, float32 unconverted; each chunk is checked when it is read. Errors as top_label."""
    kind = str(getattr(probs, "dtype", "float64"))
    labels = labels if hasattr(labels, "dtype") else np.asarray(labels)
    if str(labels.dtype).endswith("bool") and (np.ndim(probs) == 1 or np.shape(probs)[-1:] == (2,)):
        labels = to_numpy(labels).astype(np.int64)
    return Samples(probs, labels, "probs", functools.partial(_check, kind), single=True, binary=True)


def weighted_samples(probs: Any, labels: Any, weights: Any) -> tuple[Samples, np.ndarray | None]:
    """`checked_samples` with their weights, None where all are 1; without samples of weight 0 if they are in memory.

    Raises:
        ValueError: as top_label; weights negative, not finite or all 0.
    """
    samples = checked_samples(probs, labels)
    if weights is None:
        return samples, None
    found = check_weights(weights, len(samples))
    if not found.all() and isinstance(samples.values, np.ndarray) and not isinstance(samples.values, np.memmap):
        used = found > 0
        samples, found = checked_samples(samples.values[used], samples.labels[used]), found[used]
    return samples, None if (found == 1).all() else found


def _check(kind: str, p: np.ndarray) -> None:
    if p.ndim == 1:
        if not (p.min() >= 0 and p.max() <= 1 + 1e-6):
            raise ValueError(
                f"probs (n,) must be probabilities of class 1, in [0, 1]. Got values from {p.min():g} to {p.max():g}."
            )
        return
    tolerance = 1e-6 if kind.endswith("float64") else 1e-3
    if kind.endswith("float16"):
        tolerance += 2**-25 * p.shape[1]  # smaller ones are 0
    with np.errstate(invalid="ignore"):
        sums = p @ np.ones(p.shape[1], p.dtype)  # with few classes several times faster than a sum over them
    if not (p.min() >= 0 and 1 - tolerance <= sums.min() and sums.max() <= 1 + tolerance):
        check_probs(p, tolerance=tolerance)  # raises with the reason


def label_probs(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probability of each label in a chunk (m, K), (m,), float64 (m,)."""
    return p.take(np.arange(0, p.size, p.shape[1]) + y).astype(np.float64, copy=False)


def top_of_chunk(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`top_label` of a chunk (m, K), (m,), unchecked."""
    confidence = largest(p)[:, 0].astype(np.float64, copy=False)
    correct = label_probs(p, y) == confidence
    doubtful = np.flatnonzero(correct & (confidence < 0.501))  # tied have at most 1/2 each
    rows = p[doubtful]
    if np.count_nonzero(rows == confidence[doubtful, None]) > len(rows):
        correct[doubtful] = rows.argmax(-1) == y[doubtful]
    return np.minimum(confidence, 1), correct.astype(np.float64)  # rounding may put it above


def scores_of_chunk(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """`sample_scores` of a chunk (m, K), (m,), unchecked."""
    return *top_of_chunk(p, y), _log_losses(p, y), _briers(p, y)


def _log_losses(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -np.log(label_probs(p, y))


def _briers(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = p.astype(np.float64, copy=False)
    return np.einsum("ij,ij->i", wide, wide) - 2 * label_probs(p, y) + 1
