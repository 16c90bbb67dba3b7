"""The temperature closest to the focal calibration map, in the sup norm (KK24 Figs. 2, 6, 7).

For each gamma the paper minimises over T the largest difference, over all logits, between the
probabilities of the two. Here the logits are a grid of sorted rows with the top at 0, denser
near ties, where the maximum lies; the grid is stated, so errors are lower bounds on the sup.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from focal_lib.theory.maps import focal_log_probs
from focal_lib.validation import check_gamma

__all__ = ["PAPER_CUBE", "ClosestTemperature", "closest_temperature", "deviation", "linear_fit", "logit_points"]

_POINTS = {2: 20_001, 3: 160, 4: 46}  # grid points for each free logit
SIMPLEX = 45.0  # reach that stands for the whole simplex: e^-45 is below rounding
PAPER_CUBE = 10.0  # logits in (-5, 5) differ by at most 10


@dataclass(frozen=True)
class ClosestTemperature:
    """The closest temperature and how close it is."""

    inverse_temperature: float
    error: float  # largest difference of a probability

    @property
    def temperature(self) -> float:
        return 1 / self.inverse_temperature


@functools.cache
def logit_points(n: int, reach: float = SIMPLEX, points: int | None = None) -> np.ndarray:
    """Samples (m, n) of logits 0 >= -a >= -b ... >= -reach, one of each order.

    Raises:
        ValueError: n not 2, 3 or 4.
    """
    if n not in _POINTS:
        raise ValueError(f"n must be 2, 3 or 4 classes. Got {n}.")
    steps = np.linspace(0, 1, points or _POINTS[n]) ** (1.5 if n > 2 else 1.0) * reach
    rows = itertools.combinations_with_replacement(steps, n - 1)
    rest = -np.fromiter(itertools.chain.from_iterable(rows), float).reshape(-1, n - 1)
    return np.hstack([np.zeros((len(rest), 1)), rest])


def deviation(gamma: float, inverse_temperature: float, rows: np.ndarray) -> np.ndarray:
    """Temperature scaling minus the map, probabilities, (m, n) -> (m, n)."""
    return softmax(inverse_temperature * rows, axis=-1) - np.exp(focal_log_probs(rows, gamma))


def closest_temperature(gamma: float, n: int = 2, reach: float = SIMPLEX) -> ClosestTemperature:
    """The T that minimises the largest absolute deviation over logit_points(n, reach).

    Raises:
        ValueError: gamma < 0, n not 2, 3 or 4.
    """
    check_gamma(gamma, minimum=0.0)
    rows = logit_points(n, reach)
    mapped = np.exp(focal_log_probs(rows, gamma))

    def worst(b: float) -> float:
        return float(np.abs(softmax(b * rows, axis=-1) - mapped).max())

    coarse = np.linspace(0.8 + 0.4 * gamma, 1.1 + gamma, 9)
    at = int(np.argmin([worst(b) for b in coarse]))
    span = coarse[max(at - 1, 0)], coarse[min(at + 1, len(coarse) - 1)]
    found = minimize_scalar(worst, bounds=span, method="bounded", options={"xatol": 1e-6})
    return ClosestTemperature(float(found.x), float(found.fun))


def linear_fit(gammas: Sequence[float], inverse_temperatures: Sequence[float]) -> tuple[float, float]:
    """(slope, intercept) of the least squares line 1/T = slope gamma + intercept."""
    slope, intercept = np.polyfit(gammas, inverse_temperatures, 1)
    return float(slope), float(intercept)
