"""Two moons with normal noise (scikit-learn's make_moons): the true probability of each, and a grid over the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from focal_lib.validation import check_number
from reproduction.studies.shared.known_truth import KnownTruth

NODES = 200  # along a half circle


def moon_log_densities(points: np.ndarray, noise: float) -> np.ndarray:
    r"""Log density of class 0 and of class 1 at points: (m, 2) -> (m, 2).

    The point c(t) of a half circle, t uniform on [0, pi], plus normal noise: :math:`\frac1\pi\int_0^\pi N(x; c(t),
    \sigma^2 I)\,dt` with c = (cos t, sin t) and (1 - cos t, 1/2 - sin t), by Gauss and Legendre.

    Raises:
        ValueError: points without two columns, noise not positive.
    """
    check_number(noise, "noise", above=0.0)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"points must have shape (m, 2). Got {points.shape}.")
    at, weight = np.polynomial.legendre.leggauss(NODES)
    t = (at + 1) * np.pi / 2
    columns = []
    for arc in (np.stack([np.cos(t), np.sin(t)], axis=1), np.stack([1 - np.cos(t), 0.5 - np.sin(t)], axis=1)):
        square = np.square(points).sum(1)[:, None] - 2 * points @ arc.T + np.square(arc).sum(1)  # (m, NODES), |x - c|^2
        columns.append(logsumexp(-square / (2 * noise**2), axis=1, b=weight / 2) - np.log(2 * np.pi * noise**2))
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class MoonGrid:
    """A grid of points over all but a millionth of the two moons.

    Attributes:
        x, y: coordinates, (a,) and (b,).
        truth: at the points (a * b, 2), x before y.
        logits: of the true probability there, (a * b,), exact where that rounds to 0 or 1.
    """

    x: np.ndarray
    y: np.ndarray
    truth: KnownTruth
    logits: np.ndarray

    def on_grid(self, values: np.ndarray) -> np.ndarray:
        """(..., a * b) -> (..., a, b)."""
        return values.reshape(*values.shape[:-1], len(self.x), len(self.y))

    @property
    def dense(self) -> np.ndarray:
        """Whether a point lies where 99 % of the samples do, the densest part: (a, b)."""
        shares = self.truth.shares
        order = np.argsort(-shares)
        inside = np.empty(len(shares), dtype=bool)
        inside[order] = np.cumsum(shares[order]) <= 0.99
        return self.on_grid(inside)


def moon_truth(noise: float = 0.2, step: float = 0.05) -> MoonGrid:
    """The truth on a grid. Sums over it are integrals by the trapezoidal rule, exact for smooth functions when the step
    is a fraction of the noise; of piecewise linear networks good to about step^2.

    Raises:
        ValueError: noise not positive; step not positive or above half of the noise.
    """
    check_number(noise, "noise", above=0.0)
    check_number(step, "step", above=0.0)
    if step > noise / 2:
        raise ValueError(f"step must be at most half of the noise, {noise / 2:g}. Got {step:g}.")
    margin = 5.5 * noise
    x = np.arange(-1 - margin, 2 + margin + step, step)
    y = np.arange(-0.5 - margin, 1 + margin + step, step)
    points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = moon_log_densities(points, noise)
    shares = np.exp(logsumexp(log_density, axis=1)) / 2 * step**2
    logits = log_density[:, 1] - log_density[:, 0]
    return MoonGrid(x, y, KnownTruth(points, shares, expit(logits)), logits)
