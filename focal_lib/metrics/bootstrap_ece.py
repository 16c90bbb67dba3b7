"""Percentile bootstrap of the adaptive ECE, and of the difference of two.

Resampling adds noise and so increases the ECE: the interval undercovers, as the reproduction measures. In a difference
both ECEs are increased, so its interval is only a guide.
"""

from __future__ import annotations

import numpy as np

from focal_lib.metrics.bins import DEFAULT_BINS, equal_mass_starts
from focal_lib.metrics.intervals import Interval, bootstrap_draws


def bootstrap_adaptive_ece(
    confidence: np.ndarray, correct: np.ndarray, *, resamples: int = 100, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of the adaptive ECE: common, but undercovers (see `adaptive_ece_interval_of`).

    Args:
        confidence, correct: (n,).

    Raises:
        ValueError: fewer than two samples.

    >>> found = bootstrap_adaptive_ece(np.full(4, 0.8), np.array([1, 1, 1, 0]))
    >>> round(found.estimate, 4)  # four bins of one sample: (0.2 + 0.2 + 0.2 + 0.8) / 4
    0.35
    """
    return bootstrap_draws(_Sorted(confidence, correct).eces, len(confidence), resamples=resamples, seed=seed)


def bootstrap_adaptive_ece_difference(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], *, resamples: int = 1000, seed: int = 0
) -> Interval:
    """Difference of two models' adaptive ECEs with its percentile bootstrap interval; both use the same resamples.

    Args:
        first, second: confidences (n,) and correctness (n,) of each model, n >= 2.
    """
    one, two = _Sorted(*first), _Sorted(*second)
    lengths = {len(values) for values in (*first, *second)}
    if len(lengths) != 1:
        raise ValueError(f"models must have one common number of samples. Got {sorted(lengths)}.")
    return bootstrap_draws(lambda d: one.eces(d) - two.eces(d), len(first[0]), resamples=resamples, seed=seed)


class _Sorted:
    """Samples ranked by confidence once, so that each resample sorts integers only."""

    def __init__(self, confidence: np.ndarray, correct: np.ndarray) -> None:
        self._gap = confidence - correct
        self._bits = len(confidence).bit_length()
        self._rank = np.unique(confidence, return_inverse=True)[1] << self._bits  # ties share a rank
        self._starts = np.array([0, *equal_mass_starts(len(confidence), DEFAULT_BINS)])

    def eces(self, draws: np.ndarray) -> np.ndarray:
        """Adaptive ECE of each resample, indices (draws, n) -> (draws,): adaptive_ece_of up to rounding.

        Tied samples fill the bins in the order drawn, as there.
        """
        n = draws.shape[-1]
        keys = self._rank[draws]
        keys |= np.arange(n)
        keys.sort(axis=-1)
        keys &= (1 << self._bits) - 1
        gaps = np.take_along_axis(self._gap[draws], keys, axis=-1)
        return np.abs(np.add.reduceat(gaps, self._starts, axis=-1)).sum(-1) / n
