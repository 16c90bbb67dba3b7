"""Noise in each value of each pixel."""

from __future__ import annotations

import numpy as np

Rng = np.random.Generator


def gaussian_noise(x: np.ndarray, scale: float, rng: Rng) -> np.ndarray:
    """Added, of that standard deviation."""
    return x + rng.normal(scale=scale, size=x.shape)


def shot_noise(x: np.ndarray, photons: float, rng: Rng) -> np.ndarray:
    """Poisson, as of so many photons for white."""
    return rng.poisson(x * photons) / photons


def impulse_noise(x: np.ndarray, amount: float, rng: Rng) -> np.ndarray:
    """Salt and pepper in equal parts."""
    hit, salt = rng.random(x.shape) < amount, rng.random(x.shape) < 0.5
    return np.where(hit, salt, x)


def speckle_noise(x: np.ndarray, scale: float, rng: Rng) -> np.ndarray:
    """Added, in proportion to the value."""
    return x + x * rng.normal(scale=scale, size=x.shape)
