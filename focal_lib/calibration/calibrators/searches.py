"""Searches for T and gamma that minimise an ECE or the NLL, over a grid or along a line."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import scipy

from focal_lib.arrays import label_index
from focal_lib.calibration.calibrators.ece_surface import TIE, EceSurface
from focal_lib.calibration.calibrators.fit_samples import FitSamples, weighted_sum
from focal_lib.theory.maps import focal_log_probs

Fit = tuple[float, float, float]  # objective, gamma, T


def check_temperatures(grid: Sequence[float]) -> np.ndarray:
    """The grid, sorted. Raises ValueError for an empty grid or numbers that are not positive."""
    values = np.unique(np.asarray(grid, dtype=np.float64))
    if values.size == 0 or not np.isfinite(values).all() or values[0] <= 0:
        raise ValueError(f"temperatures must be positive numbers, at least one. Got {list(grid)[:5]}.")
    return values


def simplest(fits: Sequence[Fit]) -> Fit:
    """Of the fits with the smallest objective, up to rounding, the smallest abs(gamma), then the T nearest to 1."""
    least = min(value for value, _, _ in fits)
    return min((f for f in fits if f[0] <= least + TIE), key=lambda f: (abs(f[1]), abs(math.log(f[2])), f[1]))


def ece_by_grid(surface: EceSurface, gammas: Sequence[float], temperatures: np.ndarray, penalty: float = 0.0) -> Fit:
    """The best of the whole grid, without pairs that provably cannot win; gammas near 0 first, as they win ties.

    Args:
        penalty: penalty gamma^2 / 2 is added to the objective, here and below.
    """
    found: list[Fit] = []
    to_beat = math.inf
    for gamma in sorted(set(gammas), key=abs):
        extra = penalty * gamma**2 / 2
        value, t = surface.best_temperature(gamma, temperatures, to_beat - extra)
        if not math.isnan(t):
            found.append((value + extra, gamma, t))
            to_beat = min(to_beat, value + extra)
    return simplest(found)


def ece_by_line(surface: EceSurface, gammas: Sequence[float], temperatures: np.ndarray, penalty: float = 0.0) -> Fit:
    """The best point on the line through a few gammas with their best T (KK24 section 5.2).

    The paper takes two gammas. Three cost little more and follow the bend towards large gamma.
    """

    def value(gamma: float, temperature: float) -> Fit:
        return surface.ece(gamma, temperature) + penalty * gamma**2 / 2, gamma, temperature

    def near_crossing(gamma: float) -> Fit:
        crossing = temperatures[surface.crossing(gamma, temperatures)]
        return simplest([value(gamma, float(t)) for t in crossing * np.array([0.97, 1.0, 1.03])])

    anchors = sorted({min(gammas), min(gammas, key=lambda g: abs(g - 1)), max(gammas)})
    fits = [near_crossing(gamma) for gamma in anchors]
    _, gamma, t = best = simplest(fits + [value(g, t) for g, t in _line(fits, gammas)])
    near = t * np.array([0.95, 0.97, 0.985, 1.015, 1.03, 1.05])  # the line is only nearly straight
    near = near[(near >= temperatures[0]) & (near <= temperatures[-1])]
    return simplest([best] + [value(gamma, float(x)) for x in near])


def nll_by_grid(samples: FitSamples, gammas: Sequence[float], temperatures: np.ndarray, penalty: float = 0.0) -> Fit:
    """The best pair of the grid; T for each gamma is near the result of a bounded search that assumes one minimum."""
    return simplest([_best_by_nll(samples, gamma, temperatures, penalty) for gamma in gammas])


def nll_by_line(samples: FitSamples, gammas: Sequence[float], temperatures: np.ndarray, penalty: float = 0.0) -> Fit:
    """As nll_by_grid, at the smallest and the largest gamma and on the line between them."""
    ends = [_best_by_nll(samples, gamma, temperatures, penalty) for gamma in sorted({min(gammas), max(gammas)})]
    return simplest(ends + [(_penalised_nll(samples, g, t, penalty), g, t) for g, t in _line(ends, gammas)])


def _line(fits: Sequence[Fit], gammas: Sequence[float]) -> list[tuple[float, float]]:
    """Points (gamma, T) at the other gammas, on the line through the fits."""
    _, known, temperatures = zip(*fits, strict=True)
    return [(g, float(np.interp(g, known, temperatures))) for g in gammas if g not in known]


def _best_by_nll(samples: FitSamples, gamma: float, temperatures: np.ndarray, penalty: float) -> Fit:
    def value(temperature: float) -> float:
        return _penalised_nll(samples, gamma, temperature, penalty)

    span = np.log(temperatures[[0, -1]])
    found = scipy.optimize.minimize_scalar(lambda u: value(math.exp(u)), bounds=span, method="bounded")
    near = np.searchsorted(temperatures, math.exp(found.x))
    around = temperatures[max(near - 2, 0) : near + 2]
    return simplest([(value(t), gamma, float(t)) for t in around])


def _penalised_nll(samples: FitSamples, gamma: float, temperature: float, penalty: float) -> float:
    nll = float(samples.weighted_mean(functools.partial(_nll_sum, gamma, temperature)))
    return nll + penalty * gamma**2 / 2


def _nll_sum(gamma: float, temperature: float, z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> float:
    return -weighted_sum(focal_log_probs(z / temperature, gamma)[label_index(y)], w)
