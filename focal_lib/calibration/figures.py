"""Figures of a comparison: reliability diagrams, and the ECE over gamma and temperature."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import WIDE_GAMMAS
from focal_lib.calibration.comparison import Evaluation
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE, Method
from focal_lib.metrics.bins import reliability_bins_of
from focal_lib.pages.plots.reliability import landscape, reliability_diagrams
from focal_lib.pages.plots.style import use_style

__all__ = ["landscape_caption", "landscape_figure", "reliability_caption", "reliability_figure"]

_MARKED = (TEMPERATURE, Method("focal-temperature", "adaptive-ece"))
_GAMMAS = np.array([gamma for gamma in WIDE_GAMMAS if gamma <= 1])
_MOST = 20_000  # samples that the landscape is computed of; of more an even part


def reliability_figure(evaluation: Evaluation, methods: Sequence[Method]) -> Figure:
    """Accuracy over confidence in 15 bins of equal width, one panel for each method, once."""
    scores = {method.label: evaluation.scores[method] for method in dict.fromkeys(methods)}
    with mpl.rc_context():
        use_style()
        bins = {name: reliability_bins_of(s.confidence, s.correct) for name, s in scores.items()}
        return reliability_diagrams(bins, bands=True)


def reliability_caption(methods: Sequence[Method]) -> str:
    methods = tuple(dict.fromkeys(methods))
    names = " and ".join(method.label if method == AS_GIVEN else f"after {method.label}" for method in methods)
    return (
        f"Reliability {names}: accuracy over confidence in 15 bins of equal width; below, the share of the samples in "
        "each bin, and their number. The grey bands hold all accuracies of a calibrated model together with "
        "probability 95 % (Bonferroni): of twenty calibrated models one has a point outside."
    )


def landscape_figure(evaluation: Evaluation, fitted_on: LogitSet) -> Figure:
    """Adaptive ECE (equal mass) of the samples fitted on over (gamma, T), with the fits of temperatures marked."""
    every = _stride(fitted_on)
    surface = EceSurface(fitted_on.logits[::every], fitted_on.labels[::every], "adaptive-ece")
    temperatures = _temperatures(evaluation)
    values = np.array([[surface.ece(gamma, t) for gamma in _GAMMAS] for t in temperatures])
    marks = {method.label: point for method, point in _points(evaluation).items() if _inside(point, temperatures)}
    with mpl.rc_context():
        use_style()
        return landscape(_GAMMAS, temperatures, values, marks)


def landscape_caption(evaluation: Evaluation, fitted_on: LogitSet) -> str:
    every, temperatures = _stride(fitted_on), _temperatures(evaluation)
    part = "the samples fitted on" if every == 1 else f"every {every}th of the samples fitted on"
    outside = [
        f" The fit of {method.label}, gamma = {gamma:.3g} and T = {t:.3g}, lies outside the picture."
        for method, (gamma, t) in _points(evaluation).items()
        if not _inside((gamma, t), temperatures)
    ]
    return (
        f"Adaptive ECE, of 15 bins of equal mass, over gamma and temperature on {part}. A long valley means that the "
        f"pair is not determined by the data, only the valley is.{''.join(outside)}"
    )


def _stride(fitted_on: LogitSet) -> int:
    return max(1, len(fitted_on) // _MOST)


def _temperatures(evaluation: Evaluation) -> np.ndarray:
    return _points(evaluation)[TEMPERATURE][1] * np.geomspace(0.5, 2, 33)


def _points(evaluation: Evaluation) -> dict[Method, tuple[float, float]]:
    fits = {method: evaluation.fits[method] for method in _MARKED if method in evaluation.fits}
    return {method: (fit.gamma_, fit.temperature_) for method, fit in fits.items()}


def _inside(point: tuple[float, float], temperatures: np.ndarray) -> bool:
    gamma, t = point
    return bool(_GAMMAS[0] <= gamma <= _GAMMAS[-1] and temperatures[0] <= t <= temperatures[-1])
