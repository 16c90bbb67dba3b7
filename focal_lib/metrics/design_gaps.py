r"""Bin gaps of weighted or grouped samples and their joint noise, from which intervals of ECEs are computed.

With r = confidence - correctness, bin b contributes the absolute value of :math:`g_b = \sum_{i \in b} w_i r_i / W` to
the ECE. Groups correlate the gaps of different bins; the covariance is that of the jackknife that leaves out one group
at a time, as in `design`. Two corrections guard against optimism:

* The variance of a bin is at least that of a calibrated model times the design effect, since a bin without errors is no
  proof. The design effect is the factor, at least 1, by which groups increase the variance of all bins together.
* Draws are divided by the root of a chi-squared variable over its degrees of freedom (a multivariate t), since few
  groups estimate a variance poorly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from focal_lib.metrics.bins import Binning, assign_bins
from focal_lib.metrics.design import Design

LEAST_GROUPS = 10  # fewest effective groups for an interval of an ECE; coverage was simulated from here on


class DesignGaps(NamedTuple):
    """Gap, standard error and share of the samples of each non-empty bin, (bins,), and draws of the gaps' noise."""

    gaps: np.ndarray
    errors: np.ndarray
    share: np.ndarray
    noise: np.ndarray  # (draws, bins)


def design_gaps(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int, binning: Binning, design: Design, normals: Any
) -> DesignGaps:
    """Gaps of the bins, with noise, from confidences (n,) and correctness (n,).

    Args:
        design: with weights or groups, or both.
        normals: function from the number of bins to standard normal draws (draws, bins).
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


def _pieces(
    confidence: np.ndarray, n_bins: int, binning: Binning, design: Design
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample, bin and weight of each piece; bins of equal weight may split a sample."""
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
    """Matrix R with R R^T the correlations; a bin of variance 0 is uncorrelated with the others."""
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    correlation = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    return vectors * np.sqrt(np.maximum(values, 0))


def _fewer(draws: np.ndarray, degrees: float) -> np.ndarray:
    """Factors that turn normal draws into draws of Student's t, (draws, 1)."""
    return np.sqrt(degrees / np.random.default_rng(1).chisquare(degrees, (len(draws), 1)))
