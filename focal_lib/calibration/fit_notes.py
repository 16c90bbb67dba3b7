"""What to know about the fits: sizes, classes without samples, gamma at an end of its range, and Prop. 5."""

from __future__ import annotations

import numpy as np

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.mapped import MappedCalibrator
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.calibration.comparison import Evaluation
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.calibration_test import calibration_p_value_of

__all__ = ["describe_calibration", "describe_fits"]


def describe_fits(evaluation: Evaluation) -> list[str]:
    """Sizes, classes without samples, the fits, whether gamma is at an end of its range, and Prop. 5."""
    found = [_sizes(evaluation)]
    if evaluation.unseen:
        names = ", ".join(map(str, evaluation.unseen[:10]))
        found.append(
            f"Classes without a sample to fit on: {names}. Temperatures do not need them; vector and matrix scaling "
            "guess theirs; the other methods leave them as given."
        )
    for method, fit in evaluation.fits.items():
        if isinstance(fit, MappedCalibrator):
            found += _describe_temperature(method, fit, evaluation)
    for method, scores in evaluation.scores.items():
        if none := int(np.isinf(scores.log_loss).sum()):
            found.append(f"{method.label}: {none:,} labels got probability 0, so the NLL is infinite.")
    return found


def describe_calibration(evaluation: Evaluation, kept: Method, seed: int = 0) -> str:
    """Whether the logits as given are calibrated, and what is kept, by the test of metrics.calibration_p_value."""
    found = []
    for method in dict.fromkeys((AS_GIVEN, kept)):
        scores = evaluation.scores[method]
        p = calibration_p_value_of(scores.confidence, scores.correct, seed=seed)
        name = "as given" if method == AS_GIVEN else f"after {method.label}"
        found.append(f"{name} {f'p = {p:.2g}' if p >= 0.001 else 'p < 0.001'}")
    return (
        "How often a calibrated model would have so large an ECE (equal mass, the top label's confidence): "
        f"{', '.join(found)}."
    )


def _sizes(evaluation: Evaluation) -> str:
    if evaluation.folds:
        return (
            f"{evaluation.n_fit:,} samples, {evaluation.n_classes} classes; each sample is scored by fits on the other "
            f"{evaluation.folds - 1} of {evaluation.folds} folds, and the calibrator is fitted on all."
        )
    return f"{evaluation.n_fit:,} samples to fit on, {evaluation.n_test:,} to test on, {evaluation.n_classes} classes."


def _describe_temperature(method: Method, fit: MappedCalibrator, evaluation: Evaluation) -> list[str]:
    gamma = f", gamma = {fit.gamma_:.3f}" if fit.gamma_ else ""
    proved = isinstance(fit, FocalTemperatureScaling) and fit.optimal_
    end = " This is the optimum of the whole grid, proved." if proved else ""
    found = [f"{method.label}: T = {fit.temperature_:#.4g}{gamma}.{end}"]
    if isinstance(fit, FocalTemperatureScaling):
        low, high = GAMMA_RANGE if fit.search == "newton" else (min(fit.gammas), max(fit.gammas))
        if low < high and fit.gamma_ in (low, high):
            edge = "smallest" if fit.gamma_ == low else "largest"
            found.append(f"{method.label}: gamma is the {edge} that was tried, so another may do better.")
    if fit.gamma_ > 0:
        share = evaluation.lowered[method]
        found.append(
            f"{method.label}: the map lowers the top probability of {share:.1%} of the samples "
            "(KK24 Prop. 5 says of none)."
        )
    return found
