"""Predictions by class: confidence and accuracy of each, with intervals of the gap, and which classes are confused."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.scores import checked_samples, label_probs
from focal_lib.validation import check_level


@dataclass(frozen=True)
class Predictions:
    """Predicted class, its probability and the label of each sample, arrays (n,), and the number of classes."""

    predicted: np.ndarray
    confidence: np.ndarray
    label: np.ndarray
    classes: int

    @property
    def correct(self) -> np.ndarray:
        """1 where the predicted class is the label, else 0, float64 (n,)."""
        return (self.predicted == self.label).astype(np.float64)

    @staticmethod
    def concatenate(parts: Sequence[Predictions]) -> Predictions:
        """Concatenate the predictions of several sets of samples with the same classes."""
        columns = zip(*((p.predicted, p.confidence, p.label) for p in parts), strict=True)
        predicted, confidence, label = map(np.concatenate, columns)
        return Predictions(predicted, confidence, label, parts[0].classes)


def predictions(probs: Any, labels: Any) -> Predictions:
    """Most probable class of each sample, the first if tied, its probability and the label; errors as top_label."""
    samples = checked_samples(probs, labels)
    predicted, confidence, label = samples.gather(predictions_of_chunk)
    return Predictions(predicted, confidence, label, samples.classes)


def predictions_of_chunk(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted class, confidence and label of a chunk (m, K), (m,), unchecked."""
    predicted = p.argmax(-1)  # the first if tied
    return predicted, label_probs(p, predicted), y


@dataclass(frozen=True)
class ClassReliability:
    """Confidence and accuracy of each predicted class, the worst first; arrays (m,).

    Attributes:
        classes: class indices.
        count: number of samples for which the class is predicted.
        confidence, accuracy: means over these samples.
        gap: confidence minus accuracy, positive if overconfident.
        low, high: simultaneous intervals of the gaps.
        level: probability that all intervals hold.

    >>> found = class_reliability([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    >>> found.classes.tolist(), found.count.tolist(), found.accuracy.tolist()
    ([0], [4], [0.75])
    """

    classes: np.ndarray
    count: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    gap: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float

    @property
    def certain(self) -> np.ndarray:
        """Lower bound of each absolute gap, 0 if the interval contains 0."""
        return _certain(self.low, self.high)


def _certain(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, np.maximum(low, -high))


def class_reliability(probs: Any, labels: Any, *, level: float = 0.95) -> ClassReliability:
    r"""Confidence and accuracy of each predicted class, sorted by the lower bound of the absolute gap, largest first.

    Given the confidences, the number of right predictions of a class is a sum of Bernoulli variables, with tails at
    most those of a binomial (Hoeffding 1956). The interval of Clopper & Pearson (1934) for the accuracy therefore
    covers, at level :math:`1 - (1 - \mathrm{level})/m` for each of the m predicted classes.

    Args:
        probs, labels: as in top_label.
        level: probability that all intervals hold.

    Raises:
        ValueError: as top_label; level not in (0, 1).

    >>> class_reliability([[0.8, 0.2]] * 4, [0, 0, 0, 1]).gap.round(4).tolist()  # 0.8 - 0.75
    [0.05]
    """
    return class_reliability_of(predictions(probs, labels), level=level)


def class_reliability_of(found: Predictions, *, level: float = 0.95) -> ClassReliability:
    """`class_reliability` of `Predictions`; same errors."""
    check_level(level)
    every = np.bincount(found.predicted, minlength=found.classes)
    classes = np.flatnonzero(every)
    count, right = every[classes], np.bincount(found.predicted, found.correct, found.classes)[classes]
    lowest, highest = exact_binomial_ends(right, count, (1 - level) / len(classes) / 2)
    confidence = np.bincount(found.predicted, found.confidence, found.classes)[classes] / count
    gap, low, high = confidence - right / count, confidence - highest, confidence - lowest
    order = np.lexsort((classes, -np.abs(gap), -_certain(low, high)))
    classes, count, confidence, right = classes[order], count[order], confidence[order], right[order]
    return ClassReliability(classes, count, confidence, right / count, gap[order], low[order], high[order], level)


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
        probs, labels: as in top_label.
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
    band, wrong = np.searchsorted(ends[1:-1], found.confidence, side="left"), found.predicted != found.label
    bands = []
    for k, (low, high) in enumerate(itertools.pairwise(ends.tolist())):
        own = band == k
        missed = own & wrong
        key, count = np.unique(found.label[missed] * found.classes + found.predicted[missed], return_counts=True)
        most = np.argsort(-count, kind="stable")[:pairs]
        frequent = np.stack([*np.divmod(key[most], found.classes), count[most]], axis=1).tolist()
        confused = tuple(ConfusedPair(*pair) for pair in frequent)
        bands.append(ConfidenceBand(low, high, int((own & ~wrong).sum()), int(missed.sum()), confused))
    return tuple(bands)
