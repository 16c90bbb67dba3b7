"""Some of a network's logits, small enough for a page: rounded, and without what changes no probability."""

from __future__ import annotations

import numpy as np

from focal_lib.theory.maps import focal_log_probs


def logit_sample(logits: np.ndarray, labels: np.ndarray, size: int = 1000, seed: int = 0) -> np.ndarray:
    """How far each logit lies below the largest of its row, to a tenth, that of the label first: (n, K) -> (size, K).

    A class below the largest stays below it. All rows where there are no more than `size`.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(labels), min(size, len(labels)), replace=False))
    z, y = np.asarray(logits, dtype=float)[chosen], np.asarray(labels)[chosen]
    below = z.max(axis=1, keepdims=True) - z
    rounded = np.where(below > 0, np.maximum(np.round(below, 1), 0.1), 0.0)
    rows = np.arange(len(y))
    first = rounded[rows, y]
    rounded[rows, y] = rounded[:, 0]  # the two change places
    rounded[:, 0] = first
    return rounded


def sample_log_probs(sample: np.ndarray, gamma: float, temperature: float) -> np.ndarray:
    """After a temperature and the map: (n, K) -> (n, K) log probabilities, that of the label first."""
    return np.asarray(focal_log_probs(-sample / temperature, gamma))
