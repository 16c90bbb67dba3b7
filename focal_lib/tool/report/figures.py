"""Figures of a comparison: reliability diagrams, and the ECE over gamma and temperature."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import WIDE_GAMMAS
from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import TEMPERATURE, Method
from focal_lib.metrics.bins import reliability_bins_of
from focal_lib.plots.reliability import landscape, reliability_diagrams
from focal_lib.plots.style import use_style
from focal_lib.tool.evaluation.comparison import Evaluation
from focal_lib.tool.report.fit_notes import name_of

_TEMPERATURES = np.geomspace(0.5, 2, 25)  # times that of temperature scaling; those of the fits are drawn as well
_NUMBERS, _LEAST, _MOST = 200_000, 2000, 20_000  # logits, and samples, that the landscape is computed of
_AT_ALL, _FEWEST = 4_000_000, 500  # beyond so many logits there are fewer samples, down to those


def reliability_figure(evaluation: Evaluation, methods: Sequence[Method]) -> Figure:
    """Accuracy over confidence in 15 bins of equal width, one panel for each method."""
    scores = {method.label: evaluation.scores[method] for method in dict.fromkeys(methods)}
    with mpl.rc_context():
        use_style()
        bins = {name: reliability_bins_of(s.confidence, s.correct) for name, s in scores.items()}
        return reliability_diagrams(bins, bands=True)


def reliability_caption(methods: Sequence[Method]) -> str:
    methods = tuple(dict.fromkeys(methods))
    *others, last = map(name_of, methods)
    names = f"{', '.join(others)} and {last}" if others else last
    return (
        f"Reliability {names}: accuracy over confidence in 15 bins of equal width; below, the share of the samples in "
        "each bin, and their number. The grey bands hold all accuracies of a calibrated model together with "
        "probability 95 % at least (Bonferroni): on average at most one of twenty calibrated models has a point "
        "outside. Hatched in orange is the gap from the accuracy to the diagonal, where it would equal the confidence."
    )


def reliability_alt(evaluation: Evaluation, method: Method) -> str:
    """Text alternative of a panel."""
    scores = evaluation.scores[method]
    bins = reliability_bins_of(scores.confidence, scores.correct)
    far = int(np.abs(bins.gap).argmax())
    return (
        f"Reliability diagram {name_of(method)}: mean confidence {scores.confidence.mean():.1%}, accuracy "
        f"{scores.correct.mean():.1%}; the largest gap of a bin is at confidence {bins.confidence[far]:.1%}, where "
        f"{bins.accuracy[far]:.1%} of {bins.count[far]:,} predictions are right."
    )


def landscape_figure(evaluation: Evaluation, fitted_on: LogitSet) -> Figure:
    """Adaptive ECE (equal mass) over (gamma, T) on the samples to fit on, with the fits of temperatures marked."""
    surface = _surface(fitted_on)
    gammas, temperatures = _axes(evaluation)
    values = np.array([[surface.ece(gamma, t) for gamma in gammas] for t in temperatures])
    inside = {
        method.label: point for method, point in _points(evaluation).items() if _inside(point, gammas, temperatures)
    }
    with mpl.rc_context():
        use_style()
        return landscape(gammas, temperatures, values, inside)


def landscape_caption(evaluation: Evaluation, fitted_on: LogitSet) -> str:
    every, axes = _stride(fitted_on), _axes(evaluation)
    part = "the samples fitted on" if every == 1 else f"one of {every} of the samples fitted on"
    outside = [
        f" The fit of {method.label}, gamma = {gamma:.3g} and T = {t:.3g}, lies outside the picture."
        for method, (gamma, t) in _points(evaluation).items()
        if not _inside((gamma, t), *axes)
    ]
    surface = _surface(fitted_on)
    at_fits = "; ".join(
        f"{method.label} {100 * surface.ece(gamma, t):.2f} %"
        for method, (gamma, t) in _points(evaluation).items()
        if _inside((gamma, t), *axes)
    )
    return (
        f"Adaptive ECE, of 15 bins of equal mass, over gamma and temperature on {part}. It was computed at "
        f"{axes[0].size} gammas and {axes[1].size} temperatures, those of the fits among them; between these the "
        f"colours are interpolated, so that a narrow valley may look shallower than it is. At the marks it is: "
        f"{at_fits}. Where a long valley shows, the data determine the valley and not the pair.{''.join(outside)}"
    )


def _surface(fitted_on: LogitSet) -> EceSurface:
    every = _stride(fitted_on)
    return EceSurface(fitted_on.logits[::every], fitted_on.labels[::every], "adaptive-ece")


def _stride(fitted_on: LogitSet) -> int:
    least = min(_LEAST, max(_FEWEST, _AT_ALL // fitted_on.classes))
    most = min(_MOST, max(least, _NUMBERS // fitted_on.classes))
    return max(1, len(fitted_on) // most)


def _axes(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Axes: gammas up to 1 or the largest fit, temperatures around that of temperature scaling, and the fits' own."""
    points = _points(evaluation)
    reach = max([1.0, *(gamma for gamma, _ in points.values() if gamma <= WIDE_GAMMAS[-1])])
    end = min(gamma for gamma in WIDE_GAMMAS if gamma >= reach)
    gammas = np.array([gamma for gamma in WIDE_GAMMAS if gamma <= end])
    temperatures = points[TEMPERATURE][1] * _TEMPERATURES
    inside = [point for point in points.values() if _inside(point, gammas, temperatures)]
    of_fits = np.array(inside).reshape(-1, 2)
    return np.union1d(gammas, of_fits[:, 0]), np.union1d(temperatures, of_fits[:, 1])


def _points(evaluation: Evaluation) -> dict[Method, tuple[float, float]]:
    """(gamma, T) of every fit that has them."""
    return {
        method: (fit.gamma_, fit.temperature_)
        for method, fit in evaluation.fits.items()
        if isinstance(fit, MappedCalibrator)
    }


def _inside(point: tuple[float, float], gammas: np.ndarray, temperatures: np.ndarray) -> bool:
    gamma, t = point
    return bool(gammas[0] <= gamma <= gammas[-1] and temperatures[0] <= t <= temperatures[-1])
