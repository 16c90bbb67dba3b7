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

from focal_lib.metrics.bins import Binned, Binning, binned
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
    bins = binned(confidence, n_bins, binning, design.given)
    weights = np.ones(n) if design.weights is None else design.weights
    residual = weights * (confidence - correct)
    calm = weights**2 * confidence * (1 - confidence)
    count, sums = bins.total(weights), bins.total(residual)
    filled = count > 0
    gaps, share = sums[filled] / n, count[filled] / n
    spread = bins.total(residual**2, power=2)[filled] / n - (gaps**2 if n > 1 else 0.0)
    alone = np.maximum(spread, 0) / max(n - 1, 1)  # of independent samples
    calibrated = bins.total(calm, power=2)[filled] / n**2
    if design.groups is None:
        errors = np.sqrt(np.maximum(alone, calibrated))
        draws = joint_normals(bins, filled, residual, calm, normals)
        return DesignGaps(gaps, errors, share, errors * draws * _fewer(draws, degrees))
    cell = design.groups * bins.parts + bins.part
    cells = np.bincount(cell, residual, (design.groups.max() + 1) * bins.parts).reshape(-1, bins.parts)
    of_groups, total = bins.from_parts(cells)[:, filled], design.totals(np.ones(n))
    moved = (of_groups - gaps * total[:, None]) / (n - total)[:, None]
    covariance = (len(total) - 1) / len(total) * moved.T @ moved
    own = np.diag(covariance)
    effect = max(1.0, own.sum() / alone.sum()) if alone.any() else 1.0
    errors = np.sqrt(np.maximum(own, effect * calibrated))
    draws = normals(len(gaps)) @ _root(covariance, own).T
    return DesignGaps(gaps, errors, share, errors * draws * _fewer(draws, degrees))


def joint_normals(bins: Binned, filled: np.ndarray, residual: np.ndarray, calm: np.ndarray, normals: Any) -> np.ndarray:
    """Standard normal draws of the filled bins' gaps, (draws, bins), correlated where bins share tied samples.

    Args:
        filled: (n_bins,), which bins have samples.
        residual, calm: residual of each sample, and its variance under a calibrated model, (n,).
        normals: function from a number of columns to standard normal draws.
    """
    if not bins.is_split:
        return normals(np.count_nonzero(filled))
    sums, n = bins.of_parts(residual), len(residual)
    variance = np.maximum(bins.of_parts(residual**2) - sums**2 / n, bins.of_parts(calm))
    scale = np.sqrt(bins.from_parts(variance, power=2))[filled]
    draws = bins.from_parts(normals(bins.parts) * np.sqrt(variance))[:, filled]
    return draws / np.where(scale > 0, scale, 1.0)


def _root(covariance: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The symmetric R with R R the correlations; a bin of variance 0 is uncorrelated with the others.

    It is continuous in the covariance, as eigenvectors are not: rounding does not turn the draws.
    """
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    correlation = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    return (vectors * np.sqrt(np.where(values > 1e-10, values, 0))) @ vectors.T


def _fewer(draws: np.ndarray, degrees: float) -> np.ndarray:
    """Factors that turn normal draws into draws of Student's t, (draws, 1)."""
    return np.sqrt(degrees / np.random.default_rng(1).chisquare(degrees, (len(draws), 1)))
