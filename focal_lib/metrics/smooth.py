"""The smooth ECE of Blasiok and Nakkiran (2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.fft import dct, idct
from scipy.optimize import brentq
from torch import Tensor

from focal_lib.metrics.scores import checked_samples, top_of_chunk
from focal_lib.threads import one_torch_thread

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
    samples = checked_samples(probs, labels)
    return smooth_ece_of_mass(samples.total(_mass_of_chunk) / len(samples))


def smooth_ece_of(confidence: np.ndarray, correct: np.ndarray) -> float:
    """`smooth_ece` of confidences (n,) and correctness (n,), unchecked."""
    with one_torch_thread():
        mass = residual_mass(*(torch.tensor(each, dtype=torch.float64) for each in (confidence, correct)))
    return smooth_ece_of_mass(mass.numpy() / len(confidence))


def _mass_of_chunk(p: Tensor, y: Tensor) -> Tensor:
    return residual_mass(*top_of_chunk(p, y))


def residual_mass(confidence: Tensor, correct: Tensor) -> Tensor:
    """Confidence minus correctness summed at points of [0, 1], each shared by the two nearest, (m,) -> (grid,)."""
    place = confidence.mul(_GRID).sub_(0.5).clamp_(0, _GRID - 1)
    left = place.to(torch.int16).clamp_(max=_GRID - 2)
    residual = confidence - correct
    to_the_right = residual * place.sub_(left)
    right = torch.bincount(left, to_the_right, _GRID)
    return torch.bincount(left, residual, _GRID) - right + right.roll(1)  # nothing is left of the last point


def smooth_ece_of_mass(mass: np.ndarray) -> float:
    """From the `residual_mass` of all samples over their number, (grid,)."""
    spectrum = dct(mass, norm="ortho")
    frequency = np.pi * np.arange(_GRID)

    def smoothed(sigma: float) -> float:
        return float(np.abs(idct(spectrum * np.exp(-((frequency * sigma) ** 2) / 2), norm="ortho")).sum())

    low = 1 / _GRID
    if smoothed(low) <= low:
        return smoothed(low)
    return float(brentq(lambda sigma: smoothed(sigma) - sigma, low, 2.0, xtol=1e-6))
