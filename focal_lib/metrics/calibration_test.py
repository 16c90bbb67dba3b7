r"""Is a model calibrated? A test with the right size: how often a calibrated one would have so large an ECE.

Under the hypothesis that the top label is right with probability equal to the confidence, the number of right
predictions in a bin is a sum of Bernoulli variables whose probabilities are known, whatever the model: the distribution
of the adaptive ECE can be simulated, and the p-value of a Monte Carlo test (Barnard 1963; 'consistency resampling' of
Broecker & Smith 2007) has its size exactly (with more than 50,000 samples a bin's sum is drawn as one number, normal,
or Poisson where it has few errors, and the size is approximate),

.. math:: p = \frac{1 + \#\{\mathrm{ECE}^* \ge \mathrm{ECE}\}}{1 + \text{draws}} .
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focal_lib.metrics.bins import DEFAULT_BINS, Binning, assign_bins
from focal_lib.metrics.design import Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS, design_gaps
from focal_lib.metrics.scores import top_label

_EXACT = 50_000  # samples up to which each is drawn; of more, a bin's sum
_RARE = 20.0  # variance of a bin's sum below which it is Poisson: nearly all are right, or nearly all wrong
_DRAWN = 2**22  # numbers at once


def calibration_p_value(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, draws: int = 2000, seed: int = 0
) -> float:
    """p-value of the hypothesis that the top label is right as often as its confidence says.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        n_bins: of equal mass, of the adaptive ECE that is the statistic.
        draws: of a calibrated model; the smallest p is 1 / (1 + draws).

    Raises:
        ValueError: as metrics.adaptive_ece; draws < 1.
    """
    return calibration_p_value_of(*top_label(probs, labels), n_bins, draws=draws, seed=seed)


def calibration_p_value_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, *, draws: int = 2000, seed: int = 0
) -> float:
    """`calibration_p_value` of confidences (n,) and correctness (n,).

    Raises:
        ValueError: n_bins < 1 or draws < 1.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1. Got {draws}.")
    index = assign_bins(confidence, n_bins, "mass")
    observed = np.abs(np.bincount(index, confidence - correct)).sum()
    rng = np.random.default_rng(seed)
    drawn = _each_sample if len(confidence) <= _EXACT else _each_bin
    simulated = drawn(confidence, index, draws, rng)
    # to rounding: a calibrated model may have the very value observed
    return float((1 + np.count_nonzero(simulated >= observed * (1 - 1e-12))) / (1 + draws))


def expected_ece_of(
    confidence: np.ndarray, n_bins: int = DEFAULT_BINS, binning: Binning = "mass", *, draws: int = 200, seed: int = 0
) -> float:
    """The ECE that a calibrated model with these confidences (n,) shows on average on n samples: chance alone makes it.

    The larger, the fewer the samples and the nearer the confidences to one half. It does not add to a true gap: the ECE
    of a model that is not calibrated is less than the sum of both.

    Args:
        n_bins, binning: 15 of equal 'mass' for the adaptive ECE, of equal 'width' for the ECE.
        draws: of a calibrated model.

    Raises:
        ValueError: no samples, n_bins < 1, draws < 1 or another binning.
    """
    if not len(confidence) or draws < 1:
        raise ValueError(f"samples and draws must be at least 1. Got {len(confidence)} and {draws}.")
    index, rng = assign_bins(confidence, n_bins, binning), np.random.default_rng(seed)
    drawn = _each_sample if len(confidence) <= _EXACT else _each_bin
    return float(drawn(confidence, index, draws, rng).mean()) / len(confidence)


def p_value_over_groups(
    confidence: np.ndarray,
    correct: np.ndarray,
    design: Design,
    n_bins: int = DEFAULT_BINS,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> float:
    """`calibration_p_value_of` of samples in groups, by the joint noise of the bins' gaps (metrics.design_gaps).

    A little conservative in simulations; nan where groups are worth fewer than 10 of equal size.
    """
    if design.effective(len(confidence)) < LEAST_GROUPS:
        return float("nan")
    rng = np.random.default_rng(seed)
    found = design_gaps(confidence, correct, n_bins, "mass", design, lambda bins: rng.normal(size=(draws, bins)))
    exceeded = np.count_nonzero(np.abs(found.noise).sum(1) >= np.abs(found.gaps).sum())
    return float((1 + exceeded) / (1 + draws))


def _each_sample(confidence: np.ndarray, index: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    order = np.argsort(index, kind="stable")
    sorted_confidence, starts = confidence[order], np.flatnonzero(np.diff(index[order], prepend=-1))
    found, step = [], max(1, _DRAWN // len(confidence))
    for start in range(0, draws, step):
        right = rng.random((min(step, draws - start), len(confidence))) < sorted_confidence
        found.append(np.abs(np.add.reduceat(sorted_confidence - right, starts, axis=1)).sum(1))
    return np.concatenate(found)


def _each_bin(confidence: np.ndarray, index: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    variance = np.bincount(index, confidence * (1 - confidence))
    noise = rng.normal(size=(draws, len(variance))) * np.sqrt(variance)
    rare = variance < _RARE
    noise[:, rare] = rng.poisson(variance[rare], (draws, np.count_nonzero(rare))) - variance[rare]
    return np.abs(noise).sum(1)
