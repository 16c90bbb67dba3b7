"""Score samples chunk by chunk, after a calibrator or as given, for the metrics.

A `fit` is a fitted calibrator, or None for the logits as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from focal_lib.arrays import label_index, largest, log_softmax, total
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.metrics.bins import ClassGaps, sum_class_gaps
from focal_lib.metrics.samples import Parts, Samples
from focal_lib.metrics.scores import SampleScores, sample_scores, top_of_chunk
from focal_lib.tool.evaluation.possible_labels import (
    BETWEEN,
    moments_of_differences,
    moments_of_scores,
)


class Scored(NamedTuple):
    """Scores, sums of class gaps, number of top probabilities that the map lowers, number of changed predictions.

    `of_scores` and `of_differences` are the moments of possible_labels, of the scores and of their differences to each
    reference, (references, ...).
    """

    scores: SampleScores
    gaps: ClassGaps
    lowered: int
    changed: int
    of_scores: np.ndarray
    of_differences: np.ndarray

    @staticmethod
    def concatenate(parts: list[Scored]) -> Scored:
        """Concatenate several sets of samples."""
        scores, gaps, lowered, changed, *moments = zip(*parts, strict=True)
        gap, square, variance, counts = zip(*gaps, strict=True)
        total = ClassGaps(np.sum(gap, axis=0), np.sum(square, axis=0), np.sum(variance, axis=0), sum(counts))
        summed = (np.sum(each, axis=0) for each in moments)
        return Scored(SampleScores.concatenate(scores), total, sum(lowered), sum(changed), *summed)


def log_probs(fit: Any, logits: np.ndarray) -> np.ndarray:
    """Log-probabilities (m, K) of a chunk of logits after a fit; None for the logits as given."""
    return log_softmax(logits) if fit is None else fit.predict_log_proba(logits)


def top_labels(fit: Any, data: LogitSet) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and correctness of each sample, (n,) each, float64."""

    def chunk(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return top_of_chunk(np.exp(log_probs(fit, z)), y)

    confidence, correct = Samples(data.logits, data.labels).gather(chunk)
    return confidence, correct


def event(fit: Any, data: LogitSet) -> tuple[np.ndarray, np.ndarray]:
    """Probability of class 1 of two and whether it is the label, (n,) each, float64."""

    def chunk(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.exp(log_probs(fit, z)[:, 1]), y.astype(np.float64)

    probability, outcome = Samples(data.logits, data.labels).gather(chunk)
    return probability, outcome


def score(fit: Any, data: LogitSet, weights: np.ndarray | None = None, references: Sequence[Any] = ()) -> Scored:
    """Score each sample; weights (n,), of mean 1, apply to the class gaps; references are fits, or None."""

    def chunk(z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> Parts:
        log_p = log_probs(fit, z)
        p = np.exp(log_p)
        gaps = sum_class_gaps(p, y, weights=w)
        log_loss = -log_p[label_index(y)][:, 0]  # p may underflow, log p does not
        scores, lowered = sample_scores(p, y), 0
        if getattr(fit, "gamma_", 0.0):
            scaled = z / fit.temperature_
            before = 1 / total(np.exp(scaled - largest(scaled)))[:, 0]
            lowered = int(np.count_nonzero(scores.confidence < before))
        changed = 0 if fit is None else int(np.count_nonzero(p.argmax(-1) != z.argmax(-1)))
        apart = [moments_of_differences(log_p, log_probs(one, z), w) for one in references]
        of_differences = np.array(apart).reshape(-1, len(BETWEEN), 5)
        of_samples = (scores.confidence, scores.correct, log_loss, scores.brier)
        return of_samples, (*gaps, lowered, changed, moments_of_scores(log_p, w), of_differences)

    of_samples, sums = Samples(data.logits, data.labels).collect(chunk, weights)
    gap, square, variance, n, lowered, changed, *moments = sums
    return Scored(
        SampleScores(*of_samples), ClassGaps(gap, square, variance, int(n)), int(lowered), int(changed), *moments
    )
