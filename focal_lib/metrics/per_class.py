"""Reliability of every class: when the model says this class, how sure is it, and how often right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.predictions import Predictions, predictions


@dataclass(frozen=True)
class ClassReliability:
    """Of each class that is predicted, the worst first; arrays (m,).

    Attributes:
        classes: their numbers.
        count: samples for which the class is predicted.
        confidence, accuracy: of these samples, means.
        gap: confidence minus accuracy; positive where the model is too sure.
        low, high: an interval of the gap; all of them hold together.
        level: with which probability.
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
        """What the size of each gap is at least, 0 where the interval holds 0."""
        return _certain(self.low, self.high)


def _certain(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, np.maximum(low, -high))


def class_reliability(probs: Any, labels: Any, *, level: float = 0.95) -> ClassReliability:
    r"""Confidence and accuracy of each predicted class, those first whose gap is the largest for certain.

    Given the confidences, the right predictions of a class are a sum of Bernoulli variables, whose tails are those of a
    binomial at most (Hoeffding 1956): the interval of Clopper & Pearson (1934) for the accuracy covers, at
    :math:`1 - (1 - \mathrm{level})/m` for each of the m classes that are predicted.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        level: with which probability all intervals hold.

    Raises:
        ValueError: as metrics.top_label; level not in (0, 1).
    """
    return class_reliability_of(predictions(probs, labels), level=level)


def class_reliability_of(found: Predictions, *, level: float = 0.95) -> ClassReliability:
    """`class_reliability` of predictions.

    Raises:
        ValueError: level not in (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1). Got {level}.")
    every = np.bincount(found.predicted, minlength=found.classes)
    classes = np.flatnonzero(every)
    count, right = every[classes], np.bincount(found.predicted, found.correct, found.classes)[classes]
    tail = (1 - level) / len(classes) / 2
    lowest, highest = exact_binomial_ends(right, count, tail)
    confidence = np.bincount(found.predicted, found.confidence, found.classes)[classes] / count
    gap, low, high = confidence - right / count, confidence - highest, confidence - lowest
    order = np.lexsort((classes, -np.abs(gap), -_certain(low, high)))
    classes, count, confidence, right = classes[order], count[order], confidence[order], right[order]
    return ClassReliability(classes, count, confidence, right / count, gap[order], low[order], high[order], level)
