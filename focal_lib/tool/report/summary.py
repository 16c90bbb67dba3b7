"""Sentences of a report: its first screen, and notes on the fits (parameters, limits, KK24 Prop. 5)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.tool.evaluation.comparison import OFF, Evaluation
from focal_lib.tool.evaluation.recommendation import p_in_words

if TYPE_CHECKING:
    from focal_lib.tool.report.report import Report

_NAMED = 5  # slices, at most
_SEEN = 0.01  # of two ECEs in per cent: the last digit that is shown
_FEW = 100  # samples to test on, or groups, below which a share is uncertain by 10 points and more
_SHOWN = {"error (%)": "Error (%)", "adaptive-ece (%)": "ECE, equal mass (%)", "nll": "NLL"}
_SHOWN_OF_EVENT = {
    "positive-ece (%)": "ECE of class {event}, equal width (%)",
    "observed/expected": "Observed / expected {event}",
    "nll": "NLL",
}


@dataclass(frozen=True)
class Summary:
    """Sentences in plain words, and a small table.

    Attributes:
        gave: the data and how they were split.
        heads, found: the table: heads 'as given' and 'after ...', and rows of a name and one value for each head.
        todo: the advice, and what calibrator.json holds.
        split: for a random split, its seed and how to test on all samples; else ''.
        command: the command that applies the calibrator; '' if the logits stay unchanged.
        sure: what the advice and the intervals rest on.
        cautions: what to know before the advice is followed; () if nothing.
    """

    gave: tuple[str, ...]
    heads: tuple[str, ...]
    found: tuple[tuple[str, ...], ...]
    todo: tuple[str, ...]
    split: str
    command: str
    sure: tuple[str, ...]
    cautions: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """The results as given and after the kept method."""
        return pd.DataFrame([row[1:] for row in self.found], [row[0] for row in self.found], self.heads)


def summarise(report: Report) -> Summary:
    """Summarise a report for its first screen."""
    methods, evaluation = report.compared, report.evaluation
    metrics = report.metric_table().droplevel(1, axis=1)
    shown = _SHOWN_OF_EVENT if evaluation.is_binary else _SHOWN
    found = [
        (name.format(event=evaluation.event), *(str(metrics.loc[tuple(method), key]) for method in methods))
        for key, name in shown.items()
    ]
    found.append(("Calibrated?", *(_verdict(report, method) for method in methods)))
    count, units = evaluation.units
    tested = f"{evaluation.n_test:,} samples" + (f" in {count:,} groups that stay together" * (units == "groups"))
    return Summary(
        gave=(*_given(report), *_given_beside(report), *report.fitted_on.notes),
        heads=tuple(name_of(method) for method in methods),
        found=tuple(found),
        todo=(report.advice.words, *_larger_ece(report), *_still_off(report), report.kept_in_words),
        split=_on_split(report),
        command="" if report.kept == AS_GIVEN else _command(report),
        sure=(
            f"All is measured on {tested}, each unseen by the fit that scores it.",
            f"The advice is based on NLL and Brier score. The intervals of all {report.intervals} differences hold "
            "together with 95 %, however many methods were tried.",
            "In the table each interval in square brackets holds with 95 % by itself; in round brackets stands an "
            f"estimate of the ECE with less bias. 'Calibrated?' tests all answers as a whole: no where p < {OFF:g}, "
            f"that is, where a calibrated model has so large an ECE in fewer than {OFF:.0%} of test sets like this.",
            "All this holds for data like these; on data of another time or place, measure again.",
        ),
        cautions=(*report.suspicions, *_too_few(evaluation), *describe_cautions(evaluation, methods)),
    )


def _command(report: Report) -> str:
    """Of the kind of file that was given: a table becomes a table."""
    kind = Path(report.provenance["input"]).suffix.lower()
    kind = kind if kind in (".csv", ".parquet") else ".npy"
    return f"focal apply calibrator.json new{kind} --out probs{kind}"


def _given(report: Report) -> tuple[str, str]:
    e = report.evaluation
    n = e.n_test if e.folds else e.n_fit + e.n_test
    how = f"{e.n_fit:,} to fit on, {e.n_test:,} to test on, {report.provenance['split']}."
    if e.folds:
        how = f"Each is scored by fits on the other {e.folds - 1} of {e.folds} folds; the calibrator is fitted on all."
    name, kind = report.provenance["input"], report.provenance["read as"]
    return f"{name}, read as {kind}: {n:,} samples, {e.n_classes:,} classes.", how


def _given_beside(report: Report) -> list[str]:
    """'Groups: 150, which stay together. Slices: east, north. Weights: 0.5 to 2.'; [] without any."""
    sets = [data for _, data in report.evaluation.parts]
    sets += [] if report.evaluation.folds else [report.fitted_on]
    groups, weights = ([getattr(data, name) for data in sets] for name in ("groups", "weights"))
    found = []
    if all(own is not None for own in groups):
        found.append(f"Groups: {len(np.unique(np.concatenate(groups))):,}, which stay together.")
    if names := sets[0].slice_names:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        found.append(f"Slices: {', '.join(map(str, names[:_NAMED]))}{more}.")
    if all(own is not None for own in weights):
        every = np.concatenate(weights)
        found.append(f"Weights: {every.min():.3g} to {every.max():.3g}.")
    return found


def _verdict(report: Report, method: Method) -> str:
    """'no, overconfident (p < 0.001)', 'no evidence of miscalibration (p = 0.4); yet 4 of 10 classes are off, ...'."""
    p, design = report.p_values[method], report.evaluation.design
    if p != p:
        found = "not known (too few groups)"
    elif p >= OFF:
        found = f"no evidence of miscalibration ({p_in_words(p)})"
    else:
        found = f"no{_side(report, method)} ({p_in_words(p)})"
    classes = report.decisions.per_class
    off = int(np.count_nonzero(classes.certain))
    if method != report.kept or not off or report.decisions.is_rare:  # the classes of the kept method are listed below
        return found
    sure = "" if design.groups is None else " if samples of a group are independent"
    yet, are = "" if p < OFF else "yet ", "is" if off == 1 else "are"
    return f"{found}; {yet}{off} of {len(classes.classes)} classes {are} off{sure}, see below"


def _side(report: Report, method: Method) -> str:
    """', overconfident', ', underconfident', or ', too high', ', too low' of two classes; '' if none is significant."""
    probability, outcome = report.evaluation.judged(method)
    away = report.evaluation.design.mean_interval(probability - outcome)
    high, low = ("too high", "too low") if report.evaluation.is_binary else ("overconfident", "underconfident")
    return f", {high}" if away.low > 0 else f", {low}" if away.high < 0 else ""


def _larger_ece(report: Report) -> list[str]:
    """One sentence if the advised method has a larger ECE than its neighbour in the table."""
    if report.kept != report.advice.method:
        return []
    eces = {method: 100 * report.evaluation.calibration_error(method) for method in report.compared}
    own = eces.pop(report.kept)
    less = [f"{name_of(method)} ({ece:.2f} %)" for method, ece in eces.items() if ece + _SEEN < own]
    if not less:
        return []
    return [
        f"Its ECE ({report.evaluation.bins}, {own:.2f} %) is larger than {' and '.join(less)}: the advice "
        "goes by NLL and Brier score, which reward telling the classes apart, too."
    ]


def _still_off(report: Report) -> list[str]:
    """One sentence if the kept method is not calibrated, even if it is the best found."""
    e, p = report.evaluation, report.p_values[report.kept]
    if not e.shown_off(report.kept):
        return []
    what = f"the probability of class {e.event} is" if e.is_binary else "the confidence is"
    off = f"off{_side(report, report.kept)} ({p_in_words(p)})"
    if report.kept != report.advice.kept:
        return [f"With what was asked for {what} {off}."]
    if report.kept == AS_GIVEN:
        return [f"As given {what} {off}: no method that was tried is shown to gain enough."]
    moved = ""
    if e.is_binary:
        before, after = (e.observed_expected(m).estimate for m in (AS_GIVEN, report.kept))
        moved = f" Observed/expected goes from {before:.2f} to {after:.2f}."
    return [
        f"After it {what} {'' if e.is_binary else 'still '}{off}: the NLL is lower, but it is not calibrated.{moved}"
    ]


def _on_split(report: Report) -> str:
    """Seed of a random split, and how to test on all samples; '' for two sets or folds."""
    e, split = report.evaluation, report.provenance["split"]
    if e.folds or not split.startswith("parts of one set"):
        return ""
    seed = split.rpartition(", ")[2]
    return (
        f"The split was random ({seed}), and another may lead to other advice: --folds 5 (folds=5) tests on all "
        f"{e.n_fit + e.n_test:,} samples, not on {e.n_test:,} of them, and keeps a fit on all."
    )


def _too_few(evaluation: Evaluation) -> list[str]:
    """One sentence if there are few test samples, with the half-width of a 95 % interval of a share of 1/2."""
    count, units = evaluation.units
    if count >= _FEW:
        return []
    return [
        f"There are only {count} {units} to test on, too few to tell much: a share of them, such as the error, is "
        f"uncertain by up to {98 / count**0.5:.0f} points either way."
    ]


# --- notes on the fits ----------------------------------------------------------------------


def describe_cautions(evaluation: Evaluation, methods: Collection[Method] | None = None) -> list[str]:
    """Cautions: classes without samples, gamma at an end of its range, labels of probability 0; [] without any.

    Args:
        methods: methods to describe; default all.
    """
    found, shown = [], evaluation.scores if methods is None else methods
    if evaluation.unseen:
        names = ", ".join(map(str, evaluation.unseen[:10]))
        more = f" and {len(evaluation.unseen) - 10} more" if len(evaluation.unseen) > 10 else ""
        found.append(
            f"Classes without a sample to fit on: {names}{more}. Temperatures do not need them; vector and matrix "
            "scaling guess theirs; the other methods leave them as given."
        )
    for method, fit in evaluation.fits.items():
        if isinstance(fit, FocalTemperatureScaling) and method in shown:
            low, high = GAMMA_RANGE if fit.search == "newton" else (min(fit.gammas), max(fit.gammas))
            if low < high and fit.gamma_ in (low, high):
                edge = "smallest" if fit.gamma_ == low else "largest"
                found.append(f"{method.label}: gamma is the {edge} that was tried, so another may do better.")
    for method, scores in evaluation.scores.items():
        none = int(np.isinf(scores.log_loss).sum())
        if none and method in shown:
            why = (
                "" if method == AS_GIVEN else ", as of what it was fitted on no sample with such scores has that class"
            )
            found.append(f"{method.label}: {none:,} labels got probability 0{why}, so the NLL is infinite.")
    return found


def describe_fit(method: Method, fit: Calibrator) -> str:
    """'temperature: T = 1.72.', 'platt: slope 0.4, intercept -3.', 'vector.'"""
    if isinstance(fit, PlattScaling):
        return f"{method.label}: slope {fit.slope_:.3g}, intercept {fit.intercept_:.3g}."
    if not isinstance(fit, MappedCalibrator):
        return f"{method.label}."
    gamma = f", gamma = {fit.gamma_:.3g}" if fit.gamma_ else ""
    return f"{method.label}: T = {fit.temperature_:.4g}{gamma}."


def describe_fits(evaluation: Evaluation) -> list[str]:
    """Temperature, and gamma, of each method that has them."""
    fits = evaluation.fits.items()
    return [describe_fit(method, fit) for method, fit in fits if isinstance(fit, MappedCalibrator)]


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


def name_of(method: Method) -> str:
    """'as given', 'after vector'."""
    return "as given" if method == AS_GIVEN else f"after {method.label}"
