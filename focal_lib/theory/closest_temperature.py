"""The temperature closest to the focal calibration map, in the sup norm (KK24 Figs. 2, 6, 7).

For each gamma the paper minimises over T the largest difference, over all logits, between the probabilities of the
two. Here the logits are a grid of sorted ones, the largest at 0, denser near ties, where the maximum lies; the grid is
stated, so errors are lower bounds on the sup.
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

__all__ = ["PAPER_CUBE", "ClosestTemperature", "closest_temperature", "deviation_from_map", "fit_line", "logit_grid"]

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
def logit_grid(n: int, reach: float = SIMPLEX, points: int | None = None) -> np.ndarray:
    """Logits 0 >= -a >= -b ... >= -reach of n classes, (m, n): each multiset of grid values once.

    Raises:
        ValueError: n not 2, 3 or 4.
    """
    if n not in _POINTS:
        raise ValueError(f"n must be 2, 3 or 4 classes. Got {n}.")
    steps = np.linspace(0, 1, points or _POINTS[n]) ** (1.5 if n > 2 else 1.0) * reach
    chosen = itertools.combinations_with_replacement(steps, n - 1)
    rest = -np.fromiter(itertools.chain.from_iterable(chosen), float).reshape(-1, n - 1)
    return np.hstack([np.zeros((len(rest), 1)), rest])


def deviation_from_map(gamma: float, inverse_temperature: float, logits: np.ndarray) -> np.ndarray:
    """Probabilities after temperature scaling minus those after the map, (m, K) -> (m, K).

    Raises:
        ValueError: as focal_log_probs.
    """
    return softmax(inverse_temperature * logits, axis=-1) - np.exp(focal_log_probs(logits, gamma))


def closest_temperature(gamma: float, n: int = 2, reach: float = SIMPLEX) -> ClosestTemperature:
    """The T that minimises the largest absolute deviation from the map of n classes (KK24 section 3.2).

    Args:
        gamma: >= 0.
        n: number of classes, 2 to 4.
        reach: largest difference of two logits; by default the whole simplex.

    Raises:
        ValueError: gamma < 0, n not 2, 3 or 4.
    """
    check_gamma(gamma, minimum=0.0)
    logits = logit_grid(n, reach)
    mapped = np.exp(focal_log_probs(logits, gamma))

    def largest_deviation(inverse_temperature: float) -> float:
        return float(np.abs(softmax(inverse_temperature * logits, axis=-1) - mapped).max())

    coarse = np.linspace(0.8 + 0.4 * gamma, 1.1 + gamma, 9)
    at = int(np.argmin([largest_deviation(b) for b in coarse]))
    span = coarse[max(at - 1, 0)], coarse[min(at + 1, len(coarse) - 1)]
    found = minimize_scalar(largest_deviation, bounds=span, method="bounded", options={"xatol": 1e-6})
    return ClosestTemperature(float(found.x), float(found.fun))


def fit_line(gammas: Sequence[float], inverse_temperatures: Sequence[float]) -> tuple[float, float]:
    """(slope, intercept) of the least squares line 1/T = slope gamma + intercept (KK24 Figs. 2, 6)."""
    slope, intercept = np.polyfit(gammas, inverse_temperatures, 1)
    return float(slope), float(intercept)
