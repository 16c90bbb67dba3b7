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
    >>> round(found.estimate, 4)  # four bins, each with a quarter of the tied samples: |0.8 - 0.75|
    0.05
    """
    ranked = _Ranked(*_in_order(confidence, correct))
    return bootstrap_draws(ranked.eces, len(confidence), resamples=resamples, seed=seed)


def _in_order(*columns: np.ndarray) -> list[np.ndarray]:
    """The columns (n,) sorted by all of them, so that resamples do not depend on the order of the rows."""
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]


class _Ranked:
    """Samples ranked by confidence once, tied ones alike, so that a resample is a count of each rank."""

    def __init__(self, confidence: np.ndarray, correct: np.ndarray) -> None:
        self._gap = confidence - correct
        values, self._rank = np.unique(confidence, return_inverse=True)
        self._ranks = len(values)
        self._starts = np.array([0, *equal_mass_starts(len(confidence), DEFAULT_BINS)])

    def eces(self, draws: np.ndarray) -> np.ndarray:
        """Adaptive ECE of each resample, indices (draws, n) -> (draws,): adaptive_ece_of up to rounding.

        A sum of gaps over the ranks below, interpolated at an edge, averages tied samples over their orders.
        """
        count, n = draws.shape
        cell = (self._rank[draws] + self._ranks * np.arange(count)[:, None]).ravel()
        mass, gap = (np.bincount(cell, w, count * self._ranks) for w in (None, self._gap[draws].ravel()))
        edges = (self._starts + n * np.arange(count)[:, None]).ravel()
        below = np.interp(edges, np.r_[0, np.cumsum(mass)], np.r_[0.0, np.cumsum(gap)])
        return np.abs(np.diff(below, append=gap.sum())).reshape(count, -1).sum(-1) / n
