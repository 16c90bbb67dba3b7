"""Temperature scaling (Guo et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from focal_lib.calibration.calibrators.base import check_samples
from focal_lib.calibration.calibrators.focal_temperature import PAPER_TEMPERATURES, FocalTemperatureScaling
from focal_lib.calibration.calibrators.newton import fit_temperature

__all__ = ["TemperatureScaling"]


class TemperatureScaling(FocalTemperatureScaling):
    r"""p = softmax(z / T), T fitted (Guo et al. 2017): focal temperature scaling with gamma = 0.

    Args:
        objective: 'nll', by Newton steps on log(1/T), to the one minimum there is; or 'adaptive-ece' (equal mass,
            KK24's) or 'ece' (equal width), over the grid.
        temperatures: the grid for an ECE; default KK24's 500.
        n_bins: of the ECE.

    Attributes:
        ``temperature_``, ``objective_``, ``optimal_``, ``n_classes_``, ``classes_``: as FocalTemperatureScaling;
        ``gamma_`` is 0.
    """

    def __init__(
        self,
        objective: Literal["nll", "ece", "adaptive-ece"] = "nll",
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = 15,
    ) -> None:
        super().__init__(objective, "grid", (0.0,), temperatures, n_bins)

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        if self.objective != "nll":
            return super().fit(logits, labels)
        self._checked_options()
        rows = check_samples(logits, labels)
        self.objective_, self.temperature_ = fit_temperature(rows)
        self.gamma_, self.optimal_ = 0.0, True  # the NLL is convex in 1/T
        self._remember_classes(rows.classes)
        return self
