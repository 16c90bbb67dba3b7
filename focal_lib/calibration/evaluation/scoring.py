"""Samples scored after a calibrator, or as given, chunk by chunk: the one way from logits to what metrics need.

A `fit` is a fitted calibrator, or None for the logits as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from focal_lib.calibration.inputs.logit_sets import LogitSet
from focal_lib.metrics.bins import ClassGaps, sum_class_gaps
from focal_lib.metrics.design_gaps import weighted_class_gaps
from focal_lib.metrics.samples import Samples
from focal_lib.metrics.scores import SampleScores, sample_scores, top_of_chunk

__all__ = ["Scored", "label_variance", "log_probs", "score", "top_labels"]


class Scored(NamedTuple):
    """Of some samples: scores, sums of class gaps, how many top probabilities the map lowers, how many classes move.

    `by_label` is, for each reference, the variance by the label of the difference in log-loss and in Brier score to it,
    (references, 2), summed over the samples (with weights, times their squares): see `label_variance`.
    """

    scores: SampleScores
    gaps: ClassGaps
    lowered: int
    changed: int
    by_label: np.ndarray

    @staticmethod
    def concatenate(parts: list[Scored]) -> Scored:
        """Of several sets of samples, one after the other."""
        scores, gaps, lowered, changed, by_label = zip(*parts, strict=True)
        gap, square, variance, counts = zip(*gaps, strict=True)
        total = ClassGaps(np.sum(gap, axis=0), np.sum(square, axis=0), np.sum(variance, axis=0), sum(counts))
        return Scored(SampleScores.concatenate(scores), total, sum(lowered), sum(changed), np.sum(by_label, axis=0))


def log_probs(fit: Any, logits: Tensor) -> Tensor:
    """Log-probabilities (m, K) of a chunk of logits after a fit; None for the logits as given."""
    return torch.log_softmax(logits, -1) if fit is None else fit.predict_log_proba(logits)


def top_labels(fit: Any, data: LogitSet) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and correctness of each sample, (n,) each, float64."""

    def chunk(z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return top_of_chunk(log_probs(fit, z).exp(), y)

    confidence, correct = Samples(data.logits, data.labels).gather(chunk)
    return confidence, correct


def label_variance(log_p: Tensor, log_r: Tensor) -> Tensor:
    """Variance by the label, drawn from the reference's own probabilities r, of what p scores beyond r: (m, 2).

    Of the log-loss that of log r_y - log p_y, of the Brier score that of 2 (r_y - p_y). However few labels are wrong in
    a sample of them, a difference of two models is not surer than this.
    """
    p, r = log_p.exp(), log_r.exp()
    differences = torch.where(r > 0, log_r - log_p, 0.0), 2 * (r - p)
    return torch.stack([((r * d * d).sum(-1) - (r * d).sum(-1) ** 2).clamp_min(0) for d in differences], -1)


def score(fit: Any, data: LogitSet, weights: np.ndarray | None = None, references: Sequence[Any] = ()) -> Scored:
    """Scores of each sample; weights (n,) of mean 1 are those of the class gaps; references are fits, or None."""

    def chunk(z: Tensor, y: Tensor, w: Tensor | None = None) -> Scored:
        log_p = log_probs(fit, z)
        p = log_p.exp()
        gaps = sum_class_gaps(p, y) if w is None else weighted_class_gaps(p, y, w)
        log_loss = -log_p.gather(-1, y[:, None])[:, 0].numpy()  # p may underflow, log p does not
        scores, lowered = replace(sample_scores(p, y), log_loss=log_loss), 0
        if getattr(fit, "gamma_", 0.0):
            before = torch.softmax(z / fit.temperature_, -1).amax(-1)
            lowered = int(np.count_nonzero(scores.confidence < before.numpy()))
        changed = 0 if fit is None else int((p.argmax(-1) != z.argmax(-1)).sum())
        squares = torch.ones(1, dtype=torch.float64) if w is None else w * w
        by_label = [(label_variance(log_p, log_probs(one, z)) * squares[:, None]).sum(0).numpy() for one in references]
        return Scored(scores, gaps, lowered, changed, np.array(by_label).reshape(-1, 2))

    if weights is None:
        return Scored.concatenate(Samples(data.logits, data.labels).map(chunk))
    beside = Samples(_WithWeights(data.logits, weights), data.labels)
    return Scored.concatenate(beside.map(lambda zw, y: chunk(zw[:, :-1], y, zw[:, -1])))


@dataclass(frozen=True)
class _WithWeights:
    """Logits (n, K) with the weights as one more column, sliced like an array: chunks bring their weights along."""

    logits: Any
    weights: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), self.logits.shape[1] + 1

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float64)

    def __getitem__(self, index: Any) -> np.ndarray:
        return np.column_stack([np.asarray(self.logits[index], dtype=np.float64), self.weights[index]])
