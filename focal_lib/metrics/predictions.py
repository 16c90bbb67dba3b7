"""Predicted class, confidence and label of each sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.scores import checked_samples, label_probs


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
    """Most probable class of each sample, the first if tied, with its probability and the label.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels not integers in 0 ... K-1.
    """
    samples = checked_samples(probs, labels)
    predicted, confidence, label = samples.gather(predictions_of_chunk)
    return Predictions(predicted, confidence, label, samples.classes)


def predictions_of_chunk(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted class, confidence and label of a chunk (m, K), (m,), unchecked."""
    predicted = p.argmax(-1)  # the first if tied
    return predicted, label_probs(p, predicted), y
