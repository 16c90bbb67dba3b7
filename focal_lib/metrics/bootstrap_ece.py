"""Percentile bootstrap of the adaptive ECE and of a difference of two: sorted once, not once a resample.

A resampled ECE is larger than the ECE, so its interval does not cover (the reproduction measures it); of a
difference the same holds on either side, and the interval is a guide.
"""

from __future__ import annotations

import numpy as np

from focal_lib.metrics.bins import DEFAULT_BINS, equal_mass_starts
from focal_lib.metrics.intervals import Interval, bootstrap_draws


def bootstrap_adaptive_ece(
    confidence: np.ndarray, correct: np.ndarray, *, resamples: int = 100, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of the adaptive ECE: the common way, which does not cover.

    Raises:
        ValueError: fewer than two samples.
    """
    return bootstrap_draws(_Sorted(confidence, correct).eces, len(confidence), resamples=resamples, seed=seed)


def bootstrap_adaptive_ece_difference(
    first: tuple[np.ndarray, np.ndarray],
    second: tuple[np.ndarray, np.ndarray],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Adaptive ECE of one model minus that of another, each drawn the same samples.

    Args:
        first, second: confidences (n,) and correctness (n,) of each model.

    Raises:
        ValueError: models of different numbers of samples, or fewer than two samples.
    """
    one, two = _Sorted(*first), _Sorted(*second)
    lengths = {len(values) for values in (*first, *second)}
    if len(lengths) != 1:
        raise ValueError(f"models must have one common number of samples. Got {sorted(lengths)}.")
    return bootstrap_draws(lambda d: one.eces(d) - two.eces(d), len(first[0]), resamples=resamples, seed=seed)


class _Sorted:
    """Samples ranked by confidence: the adaptive ECE of draws of them takes a sort of integers each."""

    def __init__(self, confidence: np.ndarray, correct: np.ndarray) -> None:
        self._gap = confidence - correct
        self._bits = len(confidence).bit_length()
        self._rank = np.unique(confidence, return_inverse=True)[1] << self._bits  # those that tie share it
        self._starts = np.array([0, *equal_mass_starts(len(confidence), DEFAULT_BINS)])

    def eces(self, draws: np.ndarray) -> np.ndarray:
        """Adaptive ECE of each draw, indices (draws, n) -> (draws,): what adaptive_ece_of says, to rounding.

        Those that tie go into the bins in the order in which they were drawn, as there.
        """
        n = draws.shape[-1]
        keys = self._rank[draws]
        keys |= np.arange(n)
        keys.sort(axis=-1)
        keys &= (1 << self._bits) - 1
        gaps = np.take_along_axis(self._gap[draws], keys, axis=-1)
        return np.abs(np.add.reduceat(gaps, self._starts, axis=-1)).sum(-1) / n
