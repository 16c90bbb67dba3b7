"""Focal temperature scaling: a temperature, then the focal calibration map, gamma fitted too (KK24 section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.newton import fit_focal, fit_temperature
from focal_lib.calibration.calibrators.searches import (
    Fit,
    check_temperatures,
    ece_by_grid,
    ece_by_line,
    nll_by_grid,
    nll_by_line,
    simplest,
)
from focal_lib.calibration.calibrators.temperature import PAPER_TEMPERATURES, MappedCalibrator, check_objective
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.validation import check_gamma, check_number

PAPER_GAMMAS = (-0.5, -0.25, 0.05, 0.25, 0.37, 0.5, 0.75, 1.0, 5.0)  # KK24 section 5.1
WIDE_GAMMAS = (-0.9, -0.75, -0.5, -0.25, -0.1, 0.0, 0.05, 0.25, 0.37, 0.5, 0.75, 1.0, 2.0, 5.0)


class FocalTemperatureScaling(MappedCalibrator):
    r"""Focal temperature scaling: a temperature, then the focal calibration map, both fitted (KK24 section 4.2).

    p = focal calibration map(softmax(z / T), gamma).

    Args:
        objective: 'nll', 'adaptive-ece' (bins of equal mass, as in KK24) or 'ece' (bins of equal width).
        search: None is 'newton' for the NLL, 'grid' for an ECE or where a grid is given. 'grid' finds the best pair of
            the grid. For an ECE the optimum is proved (see EceSurface); for 'nll' a bounded search in T for each gamma
            assumes one minimum. 'line' (KK24 section 5.2) searches only along the line through the best T of a few
            gammas. 'newton' fits (log 1/T, gamma) by damped Newton steps on the NLL, with gamma in [-0.9, 20]; it takes
            several starts, as the NLL has several minima.
        gammas, temperatures: the grid; default WIDE_GAMMAS, which has 0, temperature scaling, and KK24's 500
            temperatures. KK24's own nine gammas are PAPER_GAMMAS.
        n_bins: number of bins of the ECE.
        shrinkage: precision of a normal prior on gamma, for small validation sets. It adds shrinkage gamma^2 / (2 n)
            to the objective, which draws the fit towards temperature scaling.

    Fitted attributes:
        ``temperature_``, ``gamma_``: the fit. Of pairs whose objectives differ by less than 1e-12 it is the simplest:
        the smallest abs(gamma), then the T nearest to 1.
        ``objective_``: value at the fit, shrinkage included.
        ``optimal_``: True if the fit is proved to be the optimum of the whole grid, else False.
        ``n_classes_``, ``classes_``: see Calibrator.

    Raises:
        ValueError: bad data, an empty or invalid grid, gamma <= -1, shrinkage < 0, an unknown option, or
            search='newton' with an ECE.

    Examples:
        >>> logits, labels = [[0.0, 0.3825]] * 5, [1, 1, 1, 1, 0]  # confidence 0.594, accuracy 0.8
        >>> fit = FocalTemperatureScaling("nll", "grid", gammas=[3.0]).fit(logits, labels)
        >>> fit.temperature_, fit.predict_proba(logits[:1]).round(3).tolist()  # the map of gamma = 3 alone suffices
        (1.0, [[0.2, 0.8]])

        As KK24 fits it:

        >>> kk24 = {"gammas": PAPER_GAMMAS, "temperatures": PAPER_TEMPERATURES}
        >>> FocalTemperatureScaling("adaptive-ece", "grid", **kk24).fit(logits, labels).gamma_ in PAPER_GAMMAS
        True
    """

    def __init__(
        self,
        objective: Literal["nll", "ece", "adaptive-ece"] = "nll",
        search: Literal["grid", "line", "newton"] | None = None,
        *,
        gammas: Sequence[float] = WIDE_GAMMAS,
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = DEFAULT_BINS,
        shrinkage: float = 0.0,
    ) -> None:
        self.objective = objective
        self.search = search
        self.gammas = gammas
        self.temperatures = temperatures
        self.n_bins = n_bins
        self.shrinkage = shrinkage

    def _fit(self, samples: FitSamples) -> None:
        gammas, temperatures = self._grid()
        penalty = self.shrinkage / samples.weight
        if self.objective == "nll":
            self._keep(self._fit_nll(samples, gammas, temperatures, penalty), False)
        else:
            surface = EceSurface(samples, metric=self.objective, n_bins=self.n_bins)
            search = ece_by_line if self.search == "line" else ece_by_grid
            self._keep(search(surface, gammas, temperatures, penalty), self.search != "line")

    def _check_options(self) -> None:
        check_objective(self.objective)
        if self.search not in (None, "grid", "line", "newton"):
            raise ValueError(f"search must be None, 'grid', 'line' or 'newton'. Got {self.search!r}.")
        if self.search == "newton" and self.objective != "nll":
            raise ValueError("objective must be 'nll' for search='newton': an ECE has no derivatives.")
        check_number(self.shrinkage, "shrinkage", minimum=0)
        self._grid()

    def _grid(self) -> tuple[list[float], np.ndarray]:
        temperatures = check_temperatures(self.temperatures)
        gammas = [check_gamma(g, above=-1.0) for g in self.gammas]
        if not gammas:
            raise ValueError("gammas must hold at least one number. Got none.")
        return gammas, temperatures

    def _fit_nll(self, samples: FitSamples, gammas: list[float], temperatures: np.ndarray, penalty: float) -> Fit:
        of_grid = (tuple(self.gammas), tuple(self.temperatures)) != (WIDE_GAMMAS, PAPER_TEMPERATURES)
        if self.search == "newton" or (self.search is None and not of_grid):
            plain, temperature = fit_temperature(samples)
            return simplest([(plain, 0.0, temperature), fit_focal(samples, temperature, penalty)])
        search = nll_by_line if self.search == "line" else nll_by_grid
        return search(samples, gammas, temperatures, penalty)
