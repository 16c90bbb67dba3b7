"""Figures of a report with their captions: reliability diagrams, and the ECE over gamma and temperature.

Matplotlib, which takes long to import, is imported where something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import WIDE_GAMMAS
from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.methods import TEMPERATURE, Method
from focal_lib.metrics.bins import DEFAULT_BINS, reliability_bins_of
from focal_lib.tool.report.summary import name_of

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.figure import Figure

    from focal_lib.tool.report.report import Report

_TEMPERATURES = np.geomspace(0.5, 2, 25)  # times that of temperature scaling; those of the fits are drawn as well
_NUMBERS, _LEAST, _MOST = 200_000, 2000, 20_000  # logits, and samples, that the landscape is computed of
_AT_ALL, _FEWEST = 2_000_000, 500  # beyond so many logits there are fewer samples, down to those
_CLASSES = 10_000  # with more it would take longer than all else


@contextmanager
def _drawing() -> Iterator[ModuleType]:
    """The module that draws, in the book's style, which is not left behind."""
    import matplotlib as mpl

    from focal_lib.plots import reliability
    from focal_lib.plots.style import use_style

    with mpl.rc_context():
        use_style()
        yield reliability


def reliability_diagrams(report: Report, methods: Iterable[Method] | None = None) -> Figure:
    """A panel for each method; default those in `compared`.

    Accuracy over confidence in bins of equal width; of two classes, observed share over probability of class 1.
    """
    methods = report.compared if methods is None else tuple(methods)
    if report.evaluation.is_binary:
        with _drawing() as plots:
            judged = {m.label: report.evaluation.judged(m) for m in methods}
            return plots.event_panels(judged, DEFAULT_BINS, "mass", report.evaluation.design)
    weights = report.evaluation.design.given
    shown = {m.label: report.evaluation.scores[m] for m in methods}
    bins = {name: reliability_bins_of(s.confidence, s.correct, weights=weights) for name, s in shown.items()}
    with _drawing() as plots:
        return plots.reliability_diagrams(bins, bands=True)


def reliability_caption(report: Report) -> str:
    """The caption of the diagrams of the methods in `compared`."""
    *others, last = map(name_of, report.compared)
    names = f"{', '.join(others)} and {last}" if others else last
    if report.evaluation.is_binary:
        return (
            f"Reliability of the probability of class {report.evaluation.event} {names}: its observed share over the "
            f"mean probability in {DEFAULT_BINS} bins of equal mass; below, the samples and those of the class. The "
            "grey bands hold all shares of a calibrated model together with probability 95 % at least (Bonferroni)."
        )
    return (
        f"Reliability {names}: accuracy over confidence in {DEFAULT_BINS} bins of equal width; below, the share of the "
        "samples in each bin, and their number. The grey bands hold all accuracies of a calibrated model together with "
        "probability 95 % at least (Bonferroni): on average at most one of twenty calibrated models has a point "
        "outside. Hatched in orange is the gap from the accuracy to the diagonal, where it would equal the confidence."
    )


def reliability_alt(report: Report, method: Method) -> str:
    """Text alternative of the method's diagram."""
    values, design = report.evaluation.judged(method), report.evaluation.design
    bins = reliability_bins_of(
        *values, binning="mass" if report.evaluation.is_binary else "width", weights=design.given
    )
    far, probability, observed = int(np.abs(bins.gap).argmax()), *(design.mean(each) for each in values)
    if report.evaluation.is_binary:
        return (
            f"Reliability diagram {name_of(method)}: mean probability of class {report.evaluation.event} "
            f"{probability:.1%}, observed {observed:.1%}; the largest gap of a bin is at probability "
            f"{bins.confidence[far]:.1%}, where {bins.accuracy[far]:.1%} of {bins.count[far]:,.0f} samples are of it."
        )
    return (
        f"Reliability diagram {name_of(method)}: mean confidence {probability:.1%}, accuracy "
        f"{observed:.1%}; the largest gap of a bin is at confidence {bins.confidence[far]:.1%}, where "
        f"{bins.accuracy[far]:.1%} of {bins.count[far]:,.0f} predictions are right."
    )


class _Surface(NamedTuple):
    """The ECE on some of the samples to fit on, its axes, and the fits of temperatures, (gamma, T), on them or not."""

    ece: EceSurface
    every: int  # of so many samples one
    gammas: np.ndarray
    temperatures: np.ndarray
    inside: dict[Method, tuple[float, float]]
    outside: dict[Method, tuple[float, float]]


def _surface(report: Report) -> _Surface:
    """Gammas up to 1 or the largest fit, temperatures around that of temperature scaling, and the fits' own."""
    data = report.fitted_on
    least = min(_LEAST, max(_FEWEST, _AT_ALL // data.classes))
    every = max(1, len(data) // min(_MOST, max(least, _NUMBERS // data.classes)))
    ece = EceSurface(data.logits[::every], data.labels[::every], "adaptive-ece")
    points = {m: (fit.gamma_, fit.temperature_) for m, fit in report.fits.items() if isinstance(fit, MappedCalibrator)}
    reach = max([1.0, *(gamma for gamma, _ in points.values() if gamma <= WIDE_GAMMAS[-1])])
    end = min(gamma for gamma in WIDE_GAMMAS if gamma >= reach)
    gammas = np.array([gamma for gamma in WIDE_GAMMAS if gamma <= end])
    temperatures = points[TEMPERATURE][1] * _TEMPERATURES
    inside = {
        method: (gamma, t)
        for method, (gamma, t) in points.items()
        if gammas[0] <= gamma <= gammas[-1] and temperatures[0] <= t <= temperatures[-1]
    }
    own = np.array(list(inside.values())).reshape(-1, 2)
    outside = {method: point for method, point in points.items() if method not in inside}
    return _Surface(ece, every, np.union1d(gammas, own[:, 0]), np.union1d(temperatures, own[:, 1]), inside, outside)


def has_landscape(report: Report) -> bool:
    """Whether the page shows it: where gamma was fitted, or there are not too many classes."""
    return report.fitted_on.classes <= _CLASSES or any(getattr(fit, "gamma_", 0) for fit in report.fits.values())


def landscape(report: Report) -> Figure:
    """Adaptive ECE (equal mass) over gamma and temperature on the samples to fit on, with the fits marked."""
    found = _surface(report)
    values = np.array([found.ece.eces(found.gammas.tolist(), t) for t in found.temperatures])
    marks = {method.label: point for method, point in found.inside.items()}
    with _drawing() as plots:
        return plots.landscape(found.gammas, found.temperatures, values, marks)


def landscape_caption(report: Report) -> str:
    """The caption of the landscape: the samples, the grid, the values at the fits, the fits that it does not show."""
    found = _surface(report)
    part = "the samples fitted on" if found.every == 1 else f"one of {found.every} of the samples fitted on"
    at_fits = "; ".join(f"{m.label} {100 * found.ece.ece(*point):.2f} %" for m, point in found.inside.items())
    outside = "".join(
        f" The fit of {method.label}, gamma = {gamma:.3g} and T = {t:.3g}, lies outside the picture."
        for method, (gamma, t) in found.outside.items()
    )
    return (
        f"Adaptive ECE, of {DEFAULT_BINS} bins of equal mass, over gamma and temperature on {part}. It was computed at "
        f"{found.gammas.size} gammas and {found.temperatures.size} temperatures, those of the fits among them; between "
        "these the colours are interpolated, so that a narrow valley may look shallower than it is. At the marks it "
        f"is: {at_fits}. Where a long valley shows, the data determine the valley and not the pair.{outside}"
    )
