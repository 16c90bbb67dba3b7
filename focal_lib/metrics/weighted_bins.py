r"""ECE of weighted samples, from confidences (n,), correctness (n,) and weights (n,); unchecked.

With integer weights the results equal `ece_of` and `adaptive_ece_of` of the repeated samples, up to rounding.
"""

from __future__ import annotations

import numpy as np

from focal_lib.metrics.bins import DEFAULT_BINS, assign_bins, equal_mass_starts


def weighted_ece_of(
    confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray, n_bins: int = DEFAULT_BINS
) -> float:
    """ECE over bins of equal width."""
    gaps = np.bincount(assign_bins(confidence, n_bins, "width"), weights * (confidence - correct))
    return float(np.abs(gaps).sum() / weights.sum())


def weighted_adaptive_ece_of(
    confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray, n_bins: int = DEFAULT_BINS
) -> float:
    """ECE over bins of equal weight; a sample across an edge is split between the bins."""
    order = np.argsort(confidence, kind="stable")
    mass = np.r_[0.0, np.cumsum(weights[order])]
    gap = np.r_[0.0, np.cumsum((weights * (confidence - correct))[order])]
    whole = bool((weights == np.round(weights)).all())
    starts = equal_mass_starts(int(mass[-1]), n_bins) if whole else mass[-1] * np.arange(1, n_bins) / n_bins
    return float(np.abs(np.diff(np.interp(np.r_[0.0, starts, mass[-1]], mass, gap))).sum() / mass[-1])
