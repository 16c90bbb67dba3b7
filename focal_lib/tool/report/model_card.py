"""A section on calibration for a model card, in Markdown, as Hugging Face shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.by_name import METRICS
from focal_lib.tool.report.fit_notes import name_of

if TYPE_CHECKING:
    from focal_lib.tool.report.decisions import Decisions
    from focal_lib.tool.report.report import Report


_SHOWN = {"error": "Error", "nll": "NLL", "brier": "Brier score", "ece": "ECE", "adaptive-ece": "Adaptive ECE"}


def model_card(report: Report, decisions: Decisions | None = None) -> str:
    """The section: metrics before and after, how to apply the calibrator, limitations.

    Args:
        decisions: of the kept method on the same samples; None leaves their sentences out.
    """
    evaluation = report.evaluation
    over = "samples" if evaluation.design.groups is None else "groups"
    seen = "each scored by fits on other samples" if evaluation.folds else "on which nothing was fitted"
    parts = [
        "## Calibration",
        f"Measured on {evaluation.n_test:,} samples of {evaluation.n_classes} classes, {seen}.",
        escape(" ".join(report.summary.todo[:-1])),  # the last says what calibrator.json holds
        _table(report),
        f"95 % intervals over {over} in square brackets; {_bins()}.",
        _how(report),
    ]
    if decisions is not None:
        parts += ["### Decisions", *(escape(sentence) for sentence in decisions.sentences())]
    parts += [
        "### What this does not say",
        "These numbers are of samples like those measured on. On other data, of another time or place, the model may "
        "be calibrated otherwise: measure there, or watch it with `focal watch`.",
        *(f"* {escape(str(caution))}" for caution in report.summary.cautions),
        "Made " + "; ".join(f"{name}: {escape(value)}" for name, value in report.provenance.items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Escape Markdown's marks and the bar that ends a table's cell."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def _table(report: Report) -> str:
    methods = report.compared
    names = ["", *map(name_of, methods)]
    lines = [names, ["---"] * len(names)]
    for metric, name in _SHOWN.items():
        unit = " (%)" if METRICS[metric].per_cent else ""
        lines.append([f"{name}{unit}", *(_cell(report, method, metric) for method in methods)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(report: Report, method: Method, metric: str) -> str:
    table, digits = report.metrics, 2 if METRICS[metric].per_cent else 3
    is_row = (table["method"] == method[0]) & (table["objective"] == method[1]) & (table["metric"] == metric)
    row = table[is_row].iloc[0]
    span = f" [{row['low']:.{digits}f}, {row['high']:.{digits}f}]" if row["low"] == row["low"] else ""
    return f"{row['value']:.{digits}f}{span}"


def _bins() -> str:
    return "; ".join(f"{_SHOWN[name]} over 15 bins of {METRICS[name].bins}" for name in _SHOWN if METRICS[name].bins)


def _how(report: Report) -> str:
    fit = report.calibrator
    apply = "`focal apply calibrator.json logits.npy --out probs.npy`"
    if report.kept == AS_GIVEN:
        return "The probabilities are the softmax of the logits, as they are."
    if isinstance(fit, MappedCalibrator) and not fit.gamma_:
        return f"Calibrated probabilities are `softmax(logits / {fit.temperature_:.6g})`, or {apply}."
    if isinstance(fit, MappedCalibrator):
        where = f"gamma = {fit.gamma_:.6g}, T = {fit.temperature_:.6g}"
        return f"Calibrated probabilities, by {report.kept.label} scaling with {where}: {apply}."
    return f"Calibrated probabilities, by {report.kept.label} scaling: {apply}."
