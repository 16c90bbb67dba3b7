"""Scores of single samples and their means: accuracy, NLL, Brier score, from probabilities (n, K) and labels (n,).

Confidence is the largest probability; it is correct if its class is the label; of tied classes the first counts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_probs


@dataclass(frozen=True)
class SampleScores:
    """What the top-label metrics, the NLL and the Brier score need of each sample, each array (n,)."""

    confidence: np.ndarray
    correct: np.ndarray
    log_loss: np.ndarray
    brier: np.ndarray

    @staticmethod
    def concatenate(parts: Sequence[SampleScores]) -> SampleScores:
        """The scores of several sets of samples, one after the other."""
        columns = zip(*((s.confidence, s.correct, s.log_loss, s.brier) for s in parts), strict=True)
        return SampleScores(*map(np.concatenate, columns))


def top_label(probs: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Confidence (n,) in [0, 1] and correctness (n,) in {0, 1}, both float64.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1.
    """
    confidence, correct = checked_samples(probs, labels).gather(top_of_chunk)
    return confidence, correct


def sample_scores(probs: Any, labels: Any) -> SampleScores:
    """Confidence, correctness, log-loss and Brier score of each sample, in one reading; errors as top_label."""
    return SampleScores(*checked_samples(probs, labels).gather(_scores))


def accuracy(probs: Any, labels: Any) -> float:
    """Share of samples whose largest probability is the label's; errors as top_label."""
    return float(top_label(probs, labels)[1].mean())


def nll(probs: Any, labels: Any) -> float:
    """Mean of -log q_y, in nats; infinite where a label has probability 0. Errors as top_label."""
    samples = checked_samples(probs, labels)
    return float(samples.total(_log_loss)) / len(samples)


def brier(probs: Any, labels: Any) -> float:
    """Mean squared distance to the one-hot label, summed over classes: 0 to 2 (Brier 1950). Errors as top_label."""
    samples = checked_samples(probs, labels)
    return float(samples.total(_brier)) / len(samples)


def checked_samples(probs: Any, labels: Any, *, single: bool = True) -> Samples:
    """Samples of probabilities, each chunk of which is checked when it is read.

    Args:
        single: see Samples.

    Raises:
        ValueError: shapes or labels that do not fit; while reading, values that are no distributions.
    """
    tolerance = 1e-6 if str(getattr(probs, "dtype", "float64")).endswith("float64") else 1e-3
    return Samples(probs, labels, "probs", functools.partial(_check, tolerance), single=single)


def _check(tolerance: float, p: Tensor) -> None:
    ones = torch.ones(p.shape[1], dtype=p.dtype)
    least, most = torch.aminmax(p @ ones)  # with few classes several times faster than a sum over them
    if not (float(p.min()) >= 0 and 1 - tolerance <= float(least) and float(most) <= 1 + tolerance):
        check_probs(p)  # says what is wrong


def label_probs(p: Tensor, y: Tensor) -> Tensor:
    """What a chunk (m, K), (m,) gives to its labels, (m,) float64: several metrics need it."""
    return p.gather(-1, y[:, None])[:, 0].double()


def top_of_chunk(p: Tensor, y: Tensor, of_label: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`top_label` of a chunk (m, K), (m,), unchecked.

    Args:
        of_label: `label_probs` of the chunk, where they are known.
    """
    confidence = p.amax(-1).double()
    correct = (label_probs(p, y) if of_label is None else of_label) == confidence
    doubtful = torch.from_numpy(np.flatnonzero((correct & (confidence < 0.501)).numpy()))  # tied have at most 1/2 each
    if len(doubtful):
        rows = p[doubtful]
        if int(torch.count_nonzero(rows == confidence[doubtful, None])) > len(rows):
            correct[doubtful] = rows.argmax(-1) == y[doubtful]
    return confidence.clamp_(max=1), correct.double()  # rounding may put it above


def log_loss_sum(of_label: Tensor) -> Tensor:
    """Of the `label_probs` of a chunk, (m,)."""
    return -torch.log(of_label).sum()


def brier_sum(p: Tensor, of_label: Tensor) -> Tensor:
    """Of a chunk (m, K) and its `label_probs`; without a number for each sample it is faster."""
    return _sum_of_squares(p) - 2 * of_label.sum() + len(p)


def _log_loss(p: Tensor, y: Tensor) -> Tensor:
    return log_loss_sum(label_probs(p, y))


def _brier(p: Tensor, y: Tensor) -> Tensor:
    return brier_sum(p, label_probs(p, y))


def _sum_of_squares(p: Tensor) -> float:
    """Of float32 by 128 at a time in that precision, then in float64: faster than to convert it."""
    values = p.ravel()
    if p.dtype == torch.float64:
        return float(torch.dot(values, values))
    whole = len(values) // 128 * 128
    runs = values[:whole].reshape(-1, 128).numpy()
    return float(np.einsum("ij,ij->i", runs, runs).sum(dtype=np.float64) + values[whole:].double().square().sum())


def _scores(p: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    of_label, wide = label_probs(p, y), p.double()
    return *top_of_chunk(p, y, of_label), -torch.log(of_label), (wide * wide).sum(-1) - 2 * of_label + 1
