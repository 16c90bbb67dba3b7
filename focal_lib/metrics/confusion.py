"""Confusion by confidence: how often right and wrong in each band of confidence, and which classes are mistaken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.predictions import Predictions, predictions

EDGES = (0.5, 0.7, 0.9, 0.99)


@dataclass(frozen=True)
class ConfusedPair:
    """Samples of one class for which another is predicted."""

    label: int
    predicted: int
    count: int


@dataclass(frozen=True)
class ConfidenceBand:
    """Samples whose confidence lies in (low, high], with 0 in the first; the most confused pairs, the most first."""

    low: float
    high: float
    right: int
    wrong: int
    pairs: tuple[ConfusedPair, ...]


def confusion_by_confidence(
    probs: Any, labels: Any, edges: tuple[float, ...] = EDGES, *, pairs: int = 3
) -> tuple[ConfidenceBand, ...]:
    """Right and wrong predictions in each band of confidence, with the classes that are most often mistaken there.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        edges: between bands, rising, in (0, 1).
        pairs: of each band, at most.

    Raises:
        ValueError: as metrics.top_label; edges that do not rise, or not in (0, 1); pairs below 0.
    """
    return confusion_by_confidence_of(predictions(probs, labels), edges, pairs=pairs)


def confusion_by_confidence_of(
    found: Predictions, edges: tuple[float, ...] = EDGES, *, pairs: int = 3
) -> tuple[ConfidenceBand, ...]:
    """`confusion_by_confidence` of predictions; errors the same."""
    ends = np.array([0.0, *edges, 1.0])
    if not (np.diff(ends) > 0).all():
        raise ValueError(f"edges must rise and lie in (0, 1). Got {edges}.")
    if pairs < 0:
        raise ValueError(f"pairs must be at least 0. Got {pairs}.")
    band = np.searchsorted(ends[1:-1], found.confidence, side="left")
    wrong = found.predicted != found.label
    confused = _pairs(band[wrong], found.label[wrong], found.predicted[wrong], len(ends) - 1, found.classes, pairs)
    right, missed = (np.bincount(band[chosen], minlength=len(ends) - 1) for chosen in (~wrong, wrong))
    columns = zip(ends[:-1], ends[1:], right, missed, confused, strict=True)
    return tuple(ConfidenceBand(float(a), float(b), int(r), int(w), c) for a, b, r, w, c in columns)


def _pairs(
    band: np.ndarray, label: np.ndarray, predicted: np.ndarray, bands: int, classes: int, most: int
) -> list[tuple[ConfusedPair, ...]]:
    found = []
    for own in range(bands):
        key, count = np.unique(label[band == own] * classes + predicted[band == own], return_counts=True)
        order = np.argsort(-count, kind="stable")[:most]
        of_band = zip(key[order], count[order], strict=True)
        found.append(tuple(ConfusedPair(int(k) // classes, int(k) % classes, int(c)) for k, c in of_band))
    return found
