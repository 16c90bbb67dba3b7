"""What a model says of each sample, and what is so: predicted class, confidence, label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from focal_lib.metrics.scores import checked_samples


@dataclass(frozen=True)
class Predictions:
    """Of each sample the predicted class, its probability, and the label: arrays (n,); and the number of classes."""

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
        """Those of several sets of samples with the same classes, one after the other."""
        columns = zip(*((p.predicted, p.confidence, p.label) for p in parts), strict=True)
        predicted, confidence, label = map(np.concatenate, columns)
        return Predictions(predicted, confidence, label, parts[0].classes)


def predictions(probs: Any, labels: Any) -> Predictions:
    """The most probable class of each sample, the first of those that tie.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1.
    """
    samples = checked_samples(probs, labels)
    predicted, confidence, label = samples.gather(predictions_of_chunk)
    return Predictions(predicted, confidence, label, samples.classes)


def predictions_of_chunk(p: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Predicted class, confidence and label of a chunk (m, K), (m,), unchecked."""
    confidence, predicted = p.max(-1)
    tied = torch.nonzero(confidence < 0.501)[:, 0]  # of tied classes each has at most 1/2; which one max gives is open
    predicted[tied] = torch.from_numpy(p[tied].numpy().argmax(-1))  # NumPy's is the first
    return predicted, confidence.double(), y
