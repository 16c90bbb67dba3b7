r"""Gaps of bins, and their joint noise, where samples have weights or groups: what the intervals of ECEs are made of.

With r = confidence - correctness, bin b is :math:`g_b = \sum_{i \in b} w_i r_i / W` of the ECE. Over groups the gaps of
different bins are correlated, as a group with bad luck has it in all of its bins: their covariance is that of the
jackknife that leaves out one group at a time, as in `design`. Two things are done against optimism. The variance of a
bin is at least that of a calibrated model, times the design effect (how much larger the groups make the variance of all
bins together, at least 1): a bin without errors is no proof. And draws are divided by the root of a chi-squared
variable over its degrees of freedom, the same one for all bins (a multivariate t): few groups know a variance badly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from focal_lib.metrics.bins import (
    DEFAULT_BINS,
    Binning,
    ClassGaps,
    adaptive_ece_of,
    assign_bins,
    inner_edges,
    sum_cells,
)
from focal_lib.metrics.design import Design
from focal_lib.metrics.weighted_bins import weighted_adaptive_ece_of

LEAST_GROUPS = 10  # what is worth fewer of equal size has no interval of an ECE: from so many on they were simulated


class DesignGaps(NamedTuple):
    """Of each non-empty bin the gap, its standard error, its share of the samples; and draws of what noise adds."""

    gaps: np.ndarray
    errors: np.ndarray
    share: np.ndarray
    noise: np.ndarray  # (draws, bins)


def design_gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, design: Design, normals: Any
) -> DesignGaps:
    """Gaps of confidences (n,) and correctness (n,).

    Args:
        design: with weights or groups, or both.
        normals: bins -> standard normal numbers (draws, bins).
    """
    n, degrees = len(confidence), design.degrees(len(confidence))
    sample, index, weights = _pieces(confidence, n_bins, binning, design)
    c, residual = confidence[sample], (confidence - correct)[sample]
    of_pieces = weights, weights * residual, (weights * residual) ** 2, weights**2 * c * (1 - c)
    count, sums, squares, expected = (np.bincount(index, v, minlength=n_bins) for v in of_pieces)
    filled = count > 0
    gaps, share = sums[filled] / n, count[filled] / n
    spread = squares[filled] / n - (gaps**2 if n > 1 else 0.0)
    alone = np.maximum(spread, 0) / max(n - 1, 1)  # of independent samples
    calibrated = expected[filled] / n**2
    if design.groups is None:
        errors, draws = np.sqrt(np.maximum(alone, calibrated)), normals(len(gaps))
        return DesignGaps(gaps, errors, share, errors * draws * _fewer(draws, degrees))
    cell = design.groups[sample] * n_bins + index
    cells = np.bincount(cell, weights * residual, (design.groups.max() + 1) * n_bins)
    of_groups, total = cells.reshape(-1, n_bins)[:, filled], design.totals(np.ones(n))
    moved = (of_groups - gaps * total[:, None]) / (n - total)[:, None]
    covariance = (len(total) - 1) / len(total) * moved.T @ moved
    own = np.diag(covariance)
    effect = max(1.0, own.sum() / alone.sum()) if alone.any() else 1.0
    errors = np.sqrt(np.maximum(own, effect * calibrated))
    draws = normals(len(gaps)) @ _root(covariance, own).T
    return DesignGaps(gaps, errors, share, errors * draws * _fewer(draws, degrees))


def design_adaptive_ece(
    confidence: np.ndarray, correct: np.ndarray, design: Design, n_bins: int = DEFAULT_BINS
) -> float:
    """ECE over bins of equal mass, which with weights is of equal weight, of confidences (n,) and correctness (n,)."""
    if design.weights is None:
        return adaptive_ece_of(confidence, correct, n_bins)
    return weighted_adaptive_ece_of(confidence, correct, design.weights, n_bins)


def _pieces(
    confidence: np.ndarray, n_bins: int, binning: Binning, design: Design
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample, bin and weight of each piece: of equal mass is what weighs the same, so a sample may be in two bins."""
    n = len(confidence)
    if binning == "width" or design.weights is None:
        weights = np.ones(n) if design.weights is None else design.weights
        return np.arange(n), assign_bins(confidence, n_bins, binning), weights
    order = np.argsort(confidence, kind="stable")
    mass = np.r_[0.0, np.cumsum(design.weights[order])]
    cuts = np.unique(np.r_[mass, mass[-1] * np.arange(1, n_bins) / n_bins])
    middle = (cuts[1:] + cuts[:-1]) / 2
    sample = order[np.searchsorted(mass, middle) - 1]
    return sample, (n_bins * middle / mass[-1]).astype(np.int64), np.diff(cuts)


def _root(covariance: np.ndarray, own: np.ndarray) -> np.ndarray:
    """A root R of the correlations, R R^T; a bin whose variance is 0 is correlated with none."""
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    correlation = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    return vectors * np.sqrt(np.maximum(values, 0))


def _fewer(draws: np.ndarray, degrees: float) -> np.ndarray:
    """What makes normal draws those of Student's t, (draws, 1)."""
    return np.sqrt(degrees / np.random.default_rng(1).chisquare(degrees, (len(draws), 1)))


def weighted_class_gaps(p: Tensor, y: Tensor, weights: Tensor, n_bins: int = DEFAULT_BINS) -> ClassGaps:
    """`sum_class_gaps` of a chunk, unchecked: probabilities (m, K), labels (m,), weights (m,) of mean 1 over all."""
    wide, w = p.double(), weights[:, None]
    gap = wide.scatter_add(-1, y[:, None], torch.full((len(y), 1), -1.0, dtype=wide.dtype))
    sums = sum_cells(inner_edges(n_bins), wide, w * gap, (w * gap) ** 2, w * w * wide * (1 - wide)).numpy()
    total, square, variance = sums.reshape(3, -1, n_bins)
    return ClassGaps(total, square, variance, len(wide))
