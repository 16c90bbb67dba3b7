"""The smooth ECE of Blasiok and Nakkiran (2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.scores import weighted_top_label

_GRID = 4096  # points on [0, 1]


def smooth_ece(probs: Any, labels: Any, *, weights: Any = None) -> float:
    r"""Calibration error after Gaussian smoothing whose bandwidth is the error itself (Blasiok and Nakkiran 2023).

    The sigma with smECE_sigma = sigma.

    :math:`\mathrm{smECE}_\sigma = \int_0^1 |\frac1n\sum_i (c_i - y_i) K_\sigma(t, c_i)|\,dt` with the
    Gaussian kernel reflected at 0 and 1. This is the heat kernel with insulated ends, so it is
    diagonal in cosines: one DCT suffices, and is exact for mass at 1, too.

    Arguments and errors as accuracy.

    >>> round(smooth_ece([[0.8, 0.2]] * 4, [0, 0, 0, 1]), 4)  # one confidence, so |0.8 - 0.75| for every sigma
    0.05
    """
    return smooth_ece_of(*weighted_top_label(probs, labels, weights))


def smooth_ece_of(confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray | None = None) -> float:
    """`smooth_ece` of confidences (n,) and correctness (n,), unchecked.

    >>> round(smooth_ece_of(np.full(4, 0.8), np.array([1, 1, 1, 0])), 4)  # |0.8 - 0.75|
    0.05
    """
    total = len(confidence) if weights is None else float(weights.sum())
    mass = residual_mass(np.asarray(confidence, dtype=np.float64), correct, weights) / total
    spectrum = scipy.fft.dct(mass, norm="ortho")
    frequency = np.pi * np.arange(_GRID)

    def smoothed(sigma: float) -> float:
        return float(np.abs(scipy.fft.idct(spectrum * np.exp(-((frequency * sigma) ** 2) / 2), norm="ortho")).sum())

    low = 1 / _GRID
    if smoothed(low) <= low:
        return smoothed(low)
    return float(scipy.optimize.brentq(lambda sigma: smoothed(sigma) - sigma, low, 2.0, xtol=1e-6))


def residual_mass(confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Confidence minus correctness summed on a grid, each split between the two nearest points, (m,) -> (grid,)."""
    place = np.clip(confidence * _GRID - 0.5, 0, _GRID - 1)
    left = np.minimum(place.astype(np.intp), _GRID - 2)
    residual = confidence - correct if weights is None else weights * (confidence - correct)
    right = np.bincount(left, residual * (place - left), _GRID)
    return np.bincount(left, residual, _GRID) - right + np.roll(right, 1)  # right[-1] is 0
