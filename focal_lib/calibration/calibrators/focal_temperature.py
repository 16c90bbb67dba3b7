"""Focal temperature scaling: a temperature, then the focal calibration map with a gamma of its own (KK24 section 4.2).

Neither changes which class is largest, for gamma > -1, so only confidences move.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy.optimize import minimize_scalar
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator, check_samples
from focal_lib.calibration.calibrators.ece_surface import ECES, TIE, EceSurface
from focal_lib.calibration.calibrators.newton import fit_focal, fit_temperature
from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule
from focal_lib.metrics.samples import Samples
from focal_lib.theory.maps import focal_log_probs
from focal_lib.validation import check_gamma

__all__ = ["PAPER_GAMMAS", "PAPER_TEMPERATURES", "WIDE_GAMMAS", "FocalTemperatureScaling", "checked_temperatures"]

PAPER_GAMMAS = (-0.5, -0.25, 0.05, 0.25, 0.37, 0.5, 0.75, 1.0, 5.0)  # KK24 section 5.1
PAPER_TEMPERATURES = tuple(k / 100 for k in range(1, 501))
WIDE_GAMMAS = (-0.9, -0.75, -0.5, -0.25, -0.1, 0.0, 0.05, 0.25, 0.37, 0.5, 0.75, 1.0, 2.0, 5.0)

Fit = tuple[float, float, float]  # objective, gamma, T


class FocalTemperatureScaling(Calibrator):
    r"""p = focal calibration map(softmax(z / T), gamma), T and gamma fitted (KK24 section 4.2).

    Args:
        objective: 'nll'; 'adaptive-ece', equal mass, KK24's; or 'ece', equal width.
        search: 'grid' finds the best pair of the grid: for an ECE provably (see EceSurface), for 'nll' by a bounded
            search in T for each gamma, which assumes one minimum; 'line' is KK24 section 5.2: the T that suits a few
            gammas fixes a line, searched alone; 'newton' fits (log 1/T, gamma) together by damped Newton steps on the
            NLL, from several starts since it has several minima, gamma from -0.9 to 20.
        gammas, temperatures: the grid; default KK24's, 9 by 500. WIDE_GAMMAS has 0 and goes down to -0.9.
        n_bins: of the ECE.
        shrinkage: precision of a normal prior on gamma, for small validation sets: shrinkage gamma^2 / (2 n) is added
            to the objective, which draws towards plain temperature scaling.

    Attributes:
        ``temperature_``, ``gamma_``: the fit. Of pairs whose objective is equal to 1e-12 the simplest is taken: the
        smallest abs(gamma), then the T nearest to 1.
        ``objective_``: value at the fit, the shrinkage included.
        ``optimal_``: True where the fit is proved to be the optimum of the whole grid; False where it is the best one
        found.
        ``n_classes_``, ``classes_``: of fit.

    Raises:
        ValueError: bad data, an empty or invalid grid, gamma <= -1, shrinkage < 0, an unknown option, or
            search='newton' with an ECE.
    """

    def __init__(
        self,
        objective: Literal["nll", "ece", "adaptive-ece"] = "adaptive-ece",
        search: Literal["grid", "line", "newton"] = "grid",
        gammas: Sequence[float] = PAPER_GAMMAS,
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = 15,
        shrinkage: float = 0.0,
    ) -> None:
        self.objective = objective
        self.search = search
        self.gammas = gammas
        self.temperatures = temperatures
        self.n_bins = n_bins
        self.shrinkage = shrinkage

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        gammas, temperatures = self._checked_options()
        if self.objective != "nll":
            path = EceSurface(logits, labels, self.n_bins, self.objective, least_classes=2)
            find = _search_grid if self.search == "grid" else _search_line
            found = find(path, gammas, temperatures, self.shrinkage / len(path))
            self._remember_classes(path.classes)
        else:
            rows = check_samples(logits, labels)
            found = self._fit_nll(rows, gammas, temperatures, self.shrinkage / len(rows))
            self._remember_classes(rows.classes)
        self.objective_, self.gamma_, self.temperature_ = found
        self.optimal_ = self.objective != "nll" and self.search == "grid"
        return self

    def _checked_options(self) -> tuple[list[float], np.ndarray]:
        if self.objective not in ("nll", *ECES):
            raise ValueError(f"objective must be 'nll', 'ece' or 'adaptive-ece'. Got {self.objective!r}.")
        if self.search not in ("grid", "line", "newton"):
            raise ValueError(f"search must be 'grid', 'line' or 'newton'. Got {self.search!r}.")
        if self.search == "newton" and self.objective != "nll":
            raise ValueError("objective must be 'nll' for search='newton': an ECE has no derivatives.")
        if not self.shrinkage >= 0:
            raise ValueError(f"shrinkage must be >= 0. Got {self.shrinkage}.")
        temperatures = checked_temperatures(self.temperatures)
        gammas = [check_gamma(g, above=-1.0) for g in self.gammas]
        if not gammas:
            raise ValueError("gammas must hold at least one number. Got none.")
        return gammas, temperatures

    def _fit_nll(self, rows: Samples, gammas: list[float], temperatures: np.ndarray, penalty: float) -> Fit:
        def value(gamma: float, temperature: float) -> float:
            return _nll(rows, gamma, temperature) + penalty * gamma**2 / 2

        def best(gamma: float) -> Fit:
            span = np.log(temperatures[[0, -1]])
            found = minimize_scalar(lambda u: value(gamma, math.exp(u)), bounds=span, method="bounded")
            near = np.searchsorted(temperatures, math.exp(found.x))
            around = temperatures[max(near - 2, 0) : near + 2]
            return simplest([(value(gamma, t), gamma, float(t)) for t in around])

        if self.search == "newton":
            plain, temperature = fit_temperature(rows)
            return simplest([(plain, 0.0, temperature), fit_focal(rows, temperature, penalty)])
        if self.search == "grid":
            return simplest([best(gamma) for gamma in gammas])
        ends = [best(gamma) for gamma in sorted({min(gammas), max(gammas)})]
        return simplest(ends + [(value(g, t), g, t) for g, t in _line(ends, gammas)])

    def _log_probs(self, logits: Any) -> Any:
        return focal_log_probs(logits / self.temperature_, self.gamma_)

    def _module(self) -> FocalTemperatureModule:
        return FocalTemperatureModule(self.temperature_, self.gamma_)


def checked_temperatures(grid: Sequence[float]) -> np.ndarray:
    """The grid sorted. Raises ValueError unless it has positive numbers, at least one."""
    values = np.unique(np.asarray(grid, dtype=np.float64))
    if values.size == 0 or not np.isfinite(values).all() or values[0] <= 0:
        raise ValueError(f"temperatures must be positive numbers, at least one. Got {list(grid)[:5]}.")
    return values


def simplest(fits: Sequence[Fit]) -> Fit:
    """Of the fits whose objective is smallest, to rounding: the smallest abs(gamma), then the T nearest to 1."""
    least = min(value for value, _, _ in fits)
    return min((f for f in fits if f[0] <= least + TIE), key=lambda f: (abs(f[1]), abs(math.log(f[2])), f[1]))


# --- searches --------------------------------------------------------------------------


def _search_grid(path: EceSurface, gammas: list[float], temperatures: np.ndarray, penalty: float) -> Fit:
    """The whole grid's best, skipping what provably cannot win; gammas near 0 first, as ties are theirs."""
    found: list[Fit] = []
    to_beat = math.inf
    for gamma in sorted(set(gammas), key=abs):
        extra = penalty * gamma**2 / 2
        value, t = path.best_temperature(gamma, temperatures, to_beat - extra)
        if not math.isnan(t):
            found.append((value + extra, gamma, t))
            to_beat = min(to_beat, value + extra)
    return simplest(found)


def _search_line(path: EceSurface, gammas: list[float], temperatures: np.ndarray, penalty: float) -> Fit:
    """KK24 section 5.2: a few gammas, each with its best T, fix the line; the best point on it.

    The paper takes two gammas. Three cost little more and follow the bend towards large gamma.
    """

    def value(gamma: float, temperature: float) -> Fit:
        return path.ece(gamma, temperature) + penalty * gamma**2 / 2, gamma, temperature

    def near_crossing(gamma: float) -> Fit:
        crossing = temperatures[path.crossing(gamma, temperatures)]
        return simplest([value(gamma, float(t)) for t in crossing * np.array([0.97, 1.0, 1.03])])

    anchors = sorted({min(gammas), min(gammas, key=lambda g: abs(g - 1)), max(gammas)})
    fits = [near_crossing(gamma) for gamma in anchors]
    _, gamma, t = best = simplest(fits + [value(g, t) for g, t in _line(fits, gammas)])
    near = t * np.array([0.95, 0.97, 0.985, 1.015, 1.03, 1.05])  # the line is only nearly straight
    near = near[(near >= temperatures[0]) & (near <= temperatures[-1])]
    return simplest([best] + [value(gamma, float(x)) for x in near])


def _line(fits: Sequence[Fit], gammas: Sequence[float]) -> list[tuple[float, float]]:
    """Points (gamma, T) at the other gammas, on the line through the fits."""
    _, known, temperatures = zip(*fits, strict=True)
    return [(g, float(np.interp(g, known, temperatures))) for g in gammas if g not in known]


def _nll(rows: Samples, gamma: float, temperature: float) -> float:
    return float(rows.total(functools.partial(_nll_sum, gamma, temperature))) / len(rows)


def _nll_sum(gamma: float, temperature: float, z: Tensor, y: Tensor) -> np.ndarray:
    return -focal_log_probs(z / temperature, gamma).gather(-1, y[:, None]).sum().numpy()
