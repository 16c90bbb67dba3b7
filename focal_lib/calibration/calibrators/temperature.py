"""Temperature scaling (Guo et al. 2017), and the base class that focal temperature scaling shares with it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.ece_surface import ECES, EceSurface
from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.newton import fit_temperature, temperature_sums
from focal_lib.calibration.calibrators.searches import Fit, check_temperatures, ece_by_grid
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.theory.maps import focal_log_probs

PAPER_TEMPERATURES = tuple(k / 100 for k in range(1, 501))  # KK24 section 5.1
M20_TEMPERATURES = tuple(k / 10 for k in range(1, 101))  # M20 section 6, 0 to 10; L25 section 5, its range lost


class MappedCalibrator(Calibrator):
    r"""p = focal calibration map(softmax(z / T), gamma) (KK24 section 4.2); subclasses fit T, and gamma or 0.

    For gamma > -1 neither step changes the predicted class.
    """

    keeps_the_class = True
    temperature_: float
    gamma_: float
    objective_: float
    optimal_: bool

    def _keep(self, fit: Fit, optimal: bool) -> None:
        self.objective_, self.gamma_, self.temperature_ = fit
        self.optimal_ = optimal

    def _log_probs(self, logits: Any) -> Any:
        return focal_log_probs(logits / self.temperature_, self.gamma_)

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule

        return FocalTemperatureModule(self.temperature_, self.gamma_)


def check_objective(objective: str) -> None:
    """Raise ValueError for an unknown objective."""
    if objective not in ("nll", *ECES):
        raise ValueError(f"objective must be 'nll', 'ece' or 'adaptive-ece'. Got {objective!r}.")


class TemperatureScaling(MappedCalibrator):
    r"""Temperature scaling: divide the logits by one fitted temperature (Guo et al. 2017).

    p = softmax(z / T).

    Args:
        objective: 'nll', by Newton steps on log(1/T) to its one minimum; or, over the grid, 'adaptive-ece' (bins of
            equal mass, as in KK24) or 'ece' (bins of equal width).
        prior_sd: standard deviation of a normal prior of log T with mean 0, for few samples or few errors: the NLL
            then has :math:`(\log T)^2/(2\,\mathrm{sd}^2 n)` added, n the sum of the weights. `focal calibrate` has
            0.5. None: no prior.
        temperatures: the grid for an ECE; default KK24's 500.
        n_bins: number of bins of the ECE.

    Fitted attributes:
        ``temperature_``: the fit; of those whose ECEs differ by less than 1e-12 the nearest to 1. ``gamma_`` is 0.
        ``objective_``: value at the fit, with the prior's term.
        ``optimal_``: True: the NLL is convex in 1/T, and of an ECE the optimum of the whole grid is found.
        ``n_classes_``, ``classes_``: see Calibrator.

    Raises:
        ValueError: bad data, an empty or invalid grid, an unknown objective.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # confidence 0.9, accuracy 0.75
        >>> fit = TemperatureScaling().fit(logits, labels)
        >>> round(fit.temperature_, 3), fit.predict_proba(logits[:1]).round(3).tolist()
        (2.0, [[0.25, 0.75]])
    """

    def __init__(
        self,
        objective: Literal["nll", "ece", "adaptive-ece"] = "nll",
        *,
        prior_sd: float | None = None,
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = DEFAULT_BINS,
    ) -> None:
        self.objective = objective
        self.prior_sd = prior_sd
        self.temperatures = temperatures
        self.n_bins = n_bins

    def _check_options(self) -> None:
        check_objective(self.objective)
        check_temperatures(self.temperatures)
        if self.prior_sd is not None and not 0 < self.prior_sd < math.inf:
            raise ValueError(f"prior_sd must be above 0, or None for no prior. Got {self.prior_sd}.")
        if self.objective != "nll" and self.prior_sd is not None:
            raise ValueError(f"prior_sd is for objective 'nll'. Got {self.prior_sd} for {self.objective!r}.")

    def _fit(self, samples: FitSamples) -> None:
        if self.objective == "nll":
            precision = 0.0 if self.prior_sd is None else 1 / (self.prior_sd**2 * samples.weight)
            value, temperature = fit_temperature(samples, precision)
            self._keep((value, 0.0, temperature), True)
        else:
            surface = EceSurface(samples, metric=self.objective, n_bins=self.n_bins)
            self._keep(ece_by_grid(surface, (0.0,), check_temperatures(self.temperatures)), True)


class AsGiven(MappedCalibrator):
    """The logits unchanged, p = softmax(z), as a calibrator: ``temperature_`` is 1, ``objective_`` the NLL."""

    def _fit(self, samples: FitSamples) -> None:
        value = float(samples.weighted_mean(functools.partial(temperature_sums, 1.0))[0])
        self._keep((value, 0.0, 1.0), True)
