"""Notes on the fits: parameters, classes without samples, gamma at an end of its range, KK24 Prop. 5."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.calibration_test import calibration_p_value_of, p_value_over_groups
from focal_lib.tool.evaluation.comparison import Evaluation


def describe_cautions(evaluation: Evaluation, methods: Collection[Method] | None = None) -> list[str]:
    """Cautions: classes without samples, gamma at an end of its range, labels of probability 0; [] without any.

    Args:
        methods: methods to describe; default all.
    """
    found = []
    if evaluation.unseen:
        names = ", ".join(map(str, evaluation.unseen[:10]))
        more = f" and {len(evaluation.unseen) - 10} more" if len(evaluation.unseen) > 10 else ""
        found.append(
            f"Classes without a sample to fit on: {names}{more}. Temperatures do not need them; vector and matrix "
            "scaling guess theirs; the other methods leave them as given."
        )
    for method, fit in evaluation.fits.items():
        if isinstance(fit, FocalTemperatureScaling) and (methods is None or method in methods):
            low, high = GAMMA_RANGE if fit.search == "newton" else (min(fit.gammas), max(fit.gammas))
            if low < high and fit.gamma_ in (low, high):
                edge = "smallest" if fit.gamma_ == low else "largest"
                found.append(f"{method.label}: gamma is the {edge} that was tried, so another may do better.")
    for method, scores in evaluation.scores.items():
        none = int(np.isinf(scores.log_loss).sum())
        if none and (methods is None or method in methods):
            found.append(f"{method.label}: {none:,} labels got probability 0, so the NLL is infinite.")
    return found


def describe_fits(evaluation: Evaluation) -> list[str]:
    """Temperature, and gamma, of each method that has them."""
    fits = evaluation.fits.items()
    return [describe_fit(method, fit) for method, fit in fits if isinstance(fit, MappedCalibrator)]


def describe_fit(method: Method, fit: Calibrator) -> str:
    """'temperature: T = 1.72.', 'vector.'"""
    if not isinstance(fit, MappedCalibrator):
        return f"{method.label}."
    gamma = f", gamma = {fit.gamma_:.3g}" if fit.gamma_ else ""
    return f"{method.label}: T = {fit.temperature_:.4g}{gamma}."


def describe_theory(evaluation: Evaluation) -> list[str]:
    """Which fits are proved optimal on a grid, and how often the map lowers a top probability (KK24 Prop. 5)."""
    found = []
    for method, fit in evaluation.fits.items():
        if isinstance(fit, FocalTemperatureScaling) and fit.optimal_:
            found.append(f"{method.label}: no other pair of its grid has a smaller value, proved.")
        if isinstance(fit, MappedCalibrator) and fit.gamma_ > 0:
            found.append(
                f"{method.label}: the focal calibration map lowers the top probability of "
                f"{evaluation.lowered[method]:.1%} of the samples (KK24 Prop. 5 says of none)."
            )
    return found


def calibration_p(evaluation: Evaluation, method: Method, seed: int = 0) -> float:
    """p-value of the hypothesis that the method's top label is right as often as its confidence says.

    Tested over groups, if samples have them; nan with too few groups.
    """
    scores, design = evaluation.scores[method], evaluation.design
    if design.groups is not None:
        return p_value_over_groups(scores.confidence, scores.correct, design)
    return calibration_p_value_of(scores.confidence, scores.correct, seed=seed)


def in_words(p: float) -> str:
    """'p = 0.03', 'p < 0.001'."""
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def name_of(method: Method) -> str:
    """'as given', 'after vector'."""
    return "as given" if method == AS_GIVEN else f"after {method.label}"
