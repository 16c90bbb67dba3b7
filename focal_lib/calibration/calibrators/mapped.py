"""Base class of temperature and focal temperature scaling: a temperature, then the focal calibration map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.ece_surface import ECES
from focal_lib.calibration.calibrators.searches import Fit
from focal_lib.theory.maps import focal_log_probs

if TYPE_CHECKING:
    from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule


class MappedCalibrator(Calibrator):
    r"""p = focal calibration map(softmax(z / T), gamma) (KK24 section 4.2); subclasses fit T, and gamma or 0.

    For gamma > -1 neither step changes the predicted class.
    """

    temperature_: float
    gamma_: float
    objective_: float
    optimal_: bool

    def _keep(self, fit: Fit, optimal: bool) -> None:
        self.objective_, self.gamma_, self.temperature_ = fit
        self.optimal_ = optimal

    def _log_probs(self, logits: Any) -> Any:
        return focal_log_probs(logits / self.temperature_, self.gamma_)

    def _module(self) -> FocalTemperatureModule:
        from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule

        return FocalTemperatureModule(self.temperature_, self.gamma_)


def check_objective(objective: str) -> None:
    """Raise ValueError for an unknown objective."""
    if objective not in ("nll", *ECES):
        raise ValueError(f"objective must be 'nll', 'ece' or 'adaptive-ece'. Got {objective!r}.")
