"""The smooth ECE of Blasiok and Nakkiran (2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq

from focal_lib.metrics.scores import top_label

__all__ = ["smooth_ece", "smooth_ece_of"]

_GRID = 4096  # points on [0, 1]


def smooth_ece(probs: Any, labels: Any) -> float:
    r"""Smooth ECE (Blasiok and Nakkiran 2023): the sigma with smECE_sigma = sigma.

    :math:`\mathrm{smECE}_\sigma = \int_0^1 |\frac1n\sum_i (c_i - y_i) K_\sigma(t, c_i)|\,dt` with the
    Gaussian kernel reflected at 0 and 1. That kernel is the heat kernel with insulated ends, so
    it is diagonal in cosines: one DCT, and exact also where mass sits at 1.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.

    Raises:
        ValueError: probs or labels that are no such arrays.
    """
    return smooth_ece_of(*top_label(probs, labels))


def smooth_ece_of(confidence: np.ndarray, correct: np.ndarray) -> float:
    """`smooth_ece` of confidences (n,) and correctness (n,), unchecked."""
    place = np.clip(confidence * _GRID - 0.5, 0, _GRID - 1)
    left = np.minimum(place.astype(np.intp), _GRID - 2)
    share = place - left
    residual = (confidence - correct) / len(confidence)
    mass = np.bincount(left, residual * (1 - share), _GRID) + np.bincount(left + 1, residual * share, _GRID)
    spectrum = dct(mass, norm="ortho")
    frequency = np.pi * np.arange(_GRID)

    def smoothed(sigma: float) -> float:
        return float(np.abs(idct(spectrum * np.exp(-((frequency * sigma) ** 2) / 2), norm="ortho")).sum())

    low = 1 / _GRID
    if smoothed(low) <= low:
        return smoothed(low)
    return float(brentq(lambda sigma: smoothed(sigma) - sigma, low, 2.0, xtol=1e-6))
