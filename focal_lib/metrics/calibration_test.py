r"""Monte Carlo test of calibration: how often would a calibrated model have an ECE this large?

Under the null hypothesis the top label is right with probability equal to the confidence. The number of right
predictions in a bin is then a sum of Bernoulli variables with known probabilities, so the adaptive ECE can be
simulated, with tied confidences averaged as in the observed one. The p-value (Barnard 1963; 'consistency resampling' of
Broecker & Smith 2007) gives a test of exact size:

.. math:: p = \frac{1 + \#\{\mathrm{ECE}^* \ge \mathrm{ECE}\}}{1 + \text{draws}} .

With more than 50,000 samples a bin's sum is drawn as one number, normal, or Poisson if errors are few; the size is
then approximate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focal_lib.metrics.bins import DEFAULT_BINS, Binned, Binning, binned
from focal_lib.metrics.design import Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS, design_gaps
from focal_lib.metrics.scores import top_label

_EXACT = 50_000  # up to so many samples each is drawn; beyond, one sum per bin
_RARE = 20.0  # variance below which a bin's sum is drawn as Poisson: nearly all right, or nearly all wrong
_DRAWN = 2**22  # random numbers at once


def calibration_p_value(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, draws: int = 2000, seed: int = 0
) -> float:
    """p-value of the null hypothesis that the top label is right with probability equal to its confidence.

    Args:
        probs, labels: as in top_label.
        n_bins: number of equal-mass bins of the test statistic, the adaptive ECE.
        draws: simulations of a calibrated model; the smallest p is 1 / (1 + draws).

    Raises:
        ValueError: as metrics.adaptive_ece; draws < 1.

    >>> round(calibration_p_value([[0.99, 0.01]] * 20, [1] * 20), 4)  # always wrong: 1 / 2001
    0.0005
    """
    return calibration_p_value_of(*top_label(probs, labels), n_bins, draws=draws, seed=seed)


def calibration_p_value_of(
    confidence: np.ndarray, correct: np.ndarray, n_bins: int = DEFAULT_BINS, *, draws: int = 2000, seed: int = 0
) -> float:
    """`calibration_p_value` of confidences (n,) and correctness (n,); same errors.

    >>> calibration_p_value_of(np.full(4, 1.0), np.ones(4))  # always sure, always right
    1.0
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1. Got {draws}.")
    bins = binned(confidence, n_bins, "mass")
    observed = np.abs(bins.total(confidence - correct)).sum()
    simulated = _drawn(confidence, bins, draws, seed)
    # up to rounding, since a simulated value may equal the observed one
    return float((1 + np.count_nonzero(simulated >= observed * (1 - 1e-12))) / (1 + draws))


def expected_ece_of(
    confidence: np.ndarray, n_bins: int = DEFAULT_BINS, binning: Binning = "mass", *, draws: int = 200, seed: int = 0
) -> float:
    """Mean ECE of a calibrated model with these confidences (n,), which is due to chance alone.

    It is larger with fewer samples and with confidences nearer to one half. It does not add to a true gap: the mean
    ECE of a miscalibrated model is less than the sum of both.

    Args:
        binning: 'mass' for the adaptive ECE, 'width' for the ECE.
        draws: simulations of a calibrated model.

    Raises:
        ValueError: no samples, n_bins < 1, draws < 1 or an unknown binning.

    >>> expected_ece_of(np.full(1, 0.5))  # one sample: right or wrong, the gap is 0.5
    0.5
    """
    if not len(confidence) or draws < 1:
        raise ValueError(f"samples and draws must be at least 1. Got {len(confidence)} and {draws}.")
    return float(_drawn(confidence, binned(confidence, n_bins, binning), draws, seed).mean()) / len(confidence)


def p_value_over_groups(
    confidence: np.ndarray,
    correct: np.ndarray,
    design: Design,
    n_bins: int = DEFAULT_BINS,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> float:
    """`calibration_p_value_of` for grouped samples, from the joint noise of the bins' gaps (metrics.design_gaps).

    A little conservative in simulations; nan with fewer than 10 effective groups.
    """
    if design.effective(len(confidence)) < LEAST_GROUPS:
        return float("nan")
    rng = np.random.default_rng(seed)
    found = design_gaps(confidence, correct, n_bins, "mass", design, lambda bins: rng.normal(size=(draws, bins)))
    exceeded = np.count_nonzero(np.abs(found.noise).sum(1) >= np.abs(found.gaps).sum())
    return float((1 + exceeded) / (1 + draws))


def _drawn(confidence: np.ndarray, bins: Binned, draws: int, seed: int) -> np.ndarray:
    """Sums of absolute gaps of simulated models that are calibrated, (draws,)."""
    drawn = _each_sample if len(confidence) <= _EXACT else _each_part
    return drawn(confidence, bins, draws, np.random.default_rng(seed))


def _each_sample(confidence: np.ndarray, bins: Binned, draws: int, rng: np.random.Generator) -> np.ndarray:
    order = np.lexsort((confidence, bins.part))  # not that of the rows
    ordered, starts = confidence[order], np.flatnonzero(np.diff(bins.part[order], prepend=-1))
    found, filled, step = [], bins.part[order[starts]], max(1, _DRAWN // max(len(confidence), bins.parts))
    for start in range(0, draws, step):
        right = rng.random((min(step, draws - start), len(confidence))) < ordered
        gaps = np.zeros((len(right), bins.parts))
        gaps[:, filled] = np.add.reduceat(ordered - right, starts, axis=1)
        found.append(np.abs(bins.from_parts(gaps)).sum(1))
    return np.concatenate(found)


def _each_part(confidence: np.ndarray, bins: Binned, draws: int, rng: np.random.Generator) -> np.ndarray:
    variance = bins.of_parts(confidence * (1 - confidence))
    noise = rng.normal(size=(draws, len(variance))) * np.sqrt(variance)
    rare = variance < _RARE
    noise[:, rare] = rng.poisson(variance[rare], (draws, np.count_nonzero(rare))) - variance[rare]
    return np.abs(bins.from_parts(noise)).sum(1)
