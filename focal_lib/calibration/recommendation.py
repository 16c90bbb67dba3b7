"""What to do with a model's logits, in plain words, and what to know about the fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.mapped import MappedCalibrator
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.calibration.comparison import Evaluation
from focal_lib.calibration.methods import AS_GIVEN, Method

__all__ = ["Advice", "advise", "describe_fits"]

_QUANTITIES = {"adaptive-ece": ("the ECE (equal mass)", " points"), "nll": ("the NLL", "")}


@dataclass(frozen=True)
class Advice:
    """The method to use, None for the logits as given; and why, in plain words."""

    method: Method | None
    words: str


def advise(differences: pd.DataFrame, n_fit: int, n_test: int, *, least: int = 500) -> Advice:
    """What to do, and how sure that is.

    A method is good if it is significantly better than none in ECE or NLL and significantly worse in neither. Of the
    good ones that are as good against the first method (temperature scaling) the one with the smallest p is
    recommended; else the first, if good.

    Args:
        differences: of comparison.differences.
        n_fit, n_test: samples fitted on and tested on. With fewer than `least` of either no other method is
            recommended.
    """
    first = Method(*differences[["method", "objective"]].iloc[0])
    few = min(n_fit, n_test) < least
    good = _significantly_better(differences, AS_GIVEN.name)
    others = [] if few else [m for m in _significantly_better(differences, first.name) if m in good]
    if others:
        return Advice(others[0], _use(differences, others[0], first.name))
    scarce = f"{n_fit} samples to fit on and {n_test} to test on are too few to tell the methods apart"
    if first in good:
        gain = _gain(differences, first, AS_GIVEN.name)
        if few:
            return Advice(first, f"{scarce}; use plain {first.name} scaling: {gain}.")
        return Advice(first, f"Plain {first.name} scaling is enough: {gain}; {_room(differences, first.name)}.")
    if few:
        words = f"{scarce}, and too few to see that {first.name} scaling helps: get more, or leave the logits."
        return Advice(None, words)
    if good:
        return Advice(good[0], _use(differences, good[0], AS_GIVEN.name))
    words = "Leave the logits as they are: no method is significantly better"
    return Advice(None, f"{words}; {_room(differences, first.name)}.")


def _against(differences: pd.DataFrame, reference: str) -> pd.DataFrame:
    found = differences[differences["reference"] == reference]
    keys: list[Any] = [Method(*pair) for pair in zip(found["method"], found["objective"], strict=True)]
    return found.assign(key=keys)


def _significantly_better(differences: pd.DataFrame, reference: str) -> list[Method]:
    """Methods significantly better in one metric and significantly worse in none, by rising p."""
    rows = _against(differences, reference)
    rows = rows[rows["significant"]]
    worse = set(rows[rows["difference"] > 0]["key"])
    better = rows[(rows["difference"] < 0) & ~rows["key"].isin(worse)]
    return list(dict.fromkeys(better.sort_values("p", kind="stable")["key"]))


def _use(differences: pd.DataFrame, method: Method, reference: str) -> str:
    instead = "the logits as given" if reference == AS_GIVEN.name else reference
    gain = _gain(differences, method, reference)
    return f"Use {method.label} rather than {instead}: {gain}; significant at 5 % after Holm's correction."


def _gain(differences: pd.DataFrame, method: Method, reference: str) -> str:
    """What a method gains, where that is significant."""
    rows = _against(differences, reference)
    own = rows[(rows["key"] == method) & rows["significant"] & (rows["difference"] < 0)]
    columns = zip(own["metric"], -own["difference"], -own["high"], -own["low"], strict=True)
    parts = []
    for metric, by, low, high in columns:
        name, unit = _QUANTITIES[metric]
        parts.append(f"{name} falls by {by:.3g}{unit} (95 % interval {low:.3g} to {high:.3g})")
    return " and ".join(parts)


def _room(differences: pd.DataFrame, first: str) -> str:
    """What other methods might still gain: the far ends of the intervals of those that are not significantly worse."""
    rows = _against(differences, first)
    others = rows[~(rows["significant"] & (rows["difference"] > 0))]
    most = -others.groupby("metric", sort=False)["low"].min()
    if most.empty:
        return "no other method was tried, or all are significantly worse"
    limits = " and ".join(
        f"{max(value, 0):.2g}{_QUANTITIES[str(metric)][1]} of {_QUANTITIES[str(metric)][0]}"
        for metric, value in most.items()
    )
    return (
        f"no other method is significantly better than {first} scaling, and the 95 % intervals allow at most {limits}"
    )


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
