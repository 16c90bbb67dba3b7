"""Right and wrong predictions in bands of confidence, and the classes most often confused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.predictions import Predictions, predictions

EDGES = (0.5, 0.7, 0.9, 0.99)


@dataclass(frozen=True)
class ConfusedPair:
    """Number of samples of one class for which another is predicted.

    >>> confusion_by_confidence([[0.8, 0.2]] * 4, [0, 0, 0, 1])[2].pairs
    (ConfusedPair(label=1, predicted=0, count=1),)
    """

    label: int
    predicted: int
    count: int


@dataclass(frozen=True)
class ConfidenceBand:
    """Predictions with confidence in (low, high], 0 included in the first band; most frequent pairs first.

    >>> band = confusion_by_confidence([[0.8, 0.2]] * 4, [0, 0, 0, 1])[2]
    >>> band.low, band.high, band.right, band.wrong
    (0.7, 0.9, 3, 1)
    """

    low: float
    high: float
    right: int
    wrong: int
    pairs: tuple[ConfusedPair, ...]


def confusion_by_confidence(
    probs: Any, labels: Any, edges: tuple[float, ...] = EDGES, *, pairs: int = 3
) -> tuple[ConfidenceBand, ...]:
    """Right and wrong predictions in each band of confidence, with the classes most often confused there.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        edges: inner edges of the bands, increasing, in (0, 1).
        pairs: largest number of pairs per band.

    Raises:
        ValueError: as metrics.top_label; edges not increasing or not in (0, 1); pairs < 0.

    >>> bands = confusion_by_confidence([[0.8, 0.2]] * 4, [0, 0, 0, 1], edges=(0.5,))
    >>> [(band.right, band.wrong) for band in bands]  # confidence up to 0.5, and above
    [(0, 0), (3, 1)]
    """
    return confusion_by_confidence_of(predictions(probs, labels), edges, pairs=pairs)


def confusion_by_confidence_of(
    found: Predictions, edges: tuple[float, ...] = EDGES, *, pairs: int = 3
) -> tuple[ConfidenceBand, ...]:
    """`confusion_by_confidence` of `Predictions`; same errors."""
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
