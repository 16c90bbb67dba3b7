"""A section on calibration for a model card, in Markdown, as Hugging Face shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.methods import AS_GIVEN
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.metrics.by_name import EVENT_METRICS, METRICS
from focal_lib.tool.report.summary import name_of
from focal_lib.tool.report.tables import cell

if TYPE_CHECKING:
    from focal_lib.tool.report.report import Report

_METRICS = METRICS | EVENT_METRICS
_SHOWN = {"error": "Error", "nll": "NLL", "brier": "Brier score", "ece": "ECE", "adaptive-ece": "Adaptive ECE"}
_SHOWN_OF_EVENT = {
    "nll": "NLL",
    "brier": "Brier score, sum over both classes",
    "positive-ece": "ECE of class {event}, equal width",
    "observed/expected": "Observed / expected {event}",
}


def model_card(report: Report) -> str:
    """A section for a model card: metrics before and after, how to apply the calibrator, decisions, limitations."""
    evaluation, summary = report.evaluation, report.summary
    seen = "each scored by fits on other samples" if evaluation.folds else "on which nothing was fitted"
    bins = "; ".join(
        f"{name} over {DEFAULT_BINS} bins of {_METRICS[own].bins}"
        for own, name in _shown(report).items()
        if _METRICS[own].bins
    )
    parts = [
        "## Calibration",
        f"Measured on {evaluation.n_test:,} samples of {evaluation.n_classes} classes, {seen}.",
        escape(" ".join(summary.todo[:-1])),  # the last says what calibrator.json holds
        _table(report),
        f"95 % intervals over {evaluation.units[1]} in square brackets; {bins}.",
        _how(report),
        "### Decisions",
        *map(escape, report.decisions.sentences()),
        "### What this does not say",
        "These numbers are of samples like those measured on. On other data, of another time or place, the model may "
        "be calibrated otherwise: measure there, or watch it with `focal watch`.",
        *(f"* {escape(caution)}" for caution in summary.cautions),
        "Made " + "; ".join(f"{name}: {escape(value)}" for name, value in report.provenance.items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _shown(report: Report) -> dict[str, str]:
    e = report.evaluation
    named = _SHOWN_OF_EVENT if e.is_binary else _SHOWN
    return {metric: name.format(event=escape(e.event)) for metric, name in named.items()}


def escape(text: str) -> str:
    """Escape Markdown's marks and the bar that ends a table's cell."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def _table(report: Report) -> str:
    names = ["", *map(name_of, report.compared)]
    lines = [names, ["---"] * len(names)]
    measured: Any = report.metrics.set_index(["method", "objective", "metric"])
    for metric, name in _shown(report).items():
        rows = (measured.loc[(*method, metric)] for method in report.compared)
        unit = " (%)" if _METRICS[metric].per_cent else ""
        lines.append([f"{name}{unit}", *(cell(metric, row["value"], row["low"], row["high"]) for row in rows)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _how(report: Report) -> str:
    fit = report.calibrator
    apply = f"`{report.summary.command}`"
    if report.kept == AS_GIVEN:
        return "The probabilities are the softmax of the logits, as they are."
    if isinstance(fit, MappedCalibrator) and not fit.gamma_:
        return f"Calibrated probabilities are `softmax(logits / {fit.temperature_:.6g})`, or {apply}."
    where = f" with gamma = {fit.gamma_:.6g}, T = {fit.temperature_:.6g}" if isinstance(fit, MappedCalibrator) else ""
    return f"Calibrated probabilities, by {report.kept.label} scaling{where}: {apply}."
