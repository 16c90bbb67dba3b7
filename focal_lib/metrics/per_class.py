"""Confidence and accuracy of each predicted class, with intervals of the gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.predictions import Predictions, predictions


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
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        level: probability that all intervals hold.

    Raises:
        ValueError: as metrics.top_label; level not in (0, 1).

    >>> class_reliability([[0.8, 0.2]] * 4, [0, 0, 0, 1]).gap.round(4).tolist()  # 0.8 - 0.75
    [0.05]
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
