"""The first screen of a report: what was given, what was found, what to do, how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.calibration.report.fit_notes import calibration_p, describe_cautions, in_words, name_of

if TYPE_CHECKING:
    from focal_lib.calibration.report.report import Report

__all__ = ["Summary", "summarise"]

_SIZE = 0.05  # of the test of calibration
_SHOWN = {"error (%)": "Error (%)", "adaptive-ece (%)": "ECE, equal mass (%)", "nll": "NLL"}


@dataclass(frozen=True)
class Summary:
    """Sentences in plain words, and a small table.

    Attributes:
        gave: what was given, and how it was split.
        heads, found: the table: 'as given' and 'after ...', and rows of (what, of each).
        todo: the advice, and what calibrator.json holds.
        command: that applies it; '' where the logits stay as they are.
        sure: what the advice and the intervals rest on.
        cautions: what should be known before it is followed; () where nothing is.
    """

    gave: tuple[str, ...]
    heads: tuple[str, ...]
    found: tuple[tuple[str, ...], ...]
    todo: tuple[str, ...]
    command: str
    sure: tuple[str, ...]
    cautions: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """What was found, as given and after what is kept."""
        return pd.DataFrame([row[1:] for row in self.found], [row[0] for row in self.found], self.heads)


def summarise(report: Report) -> Summary:
    """What the first screen says."""
    methods = report.compared
    metrics = report.metric_table().droplevel(1, axis=1)
    found = [(name, *(str(metrics.loc[tuple(method), key]) for method in methods)) for key, name in _SHOWN.items()]
    found.append(("Calibrated?", *(_verdict(report, method) for method in methods)))
    count = int((report.differences["interval"] != "").sum())
    return Summary(
        gave=tuple(_given(report)),
        heads=tuple(name_of(method) for method in methods),
        found=tuple(found),
        todo=(report.advice.words, report.kept_in_words),
        command="" if report.kept == AS_GIVEN else "focal apply calibrator.json new.npy --out probs.npy",
        sure=(
            f"All is measured on {_tested(report)}, each unseen by the fit that scores it.",
            f"The advice goes by NLL and Brier score. The intervals of all {count} differences hold together with "
            "95 %, however many methods were tried.",
            "In the table each interval in square brackets holds with 95 % by itself; in round brackets stands an "
            "estimate of the ECE with less bias. 'Calibrated?' is no where a calibrated model would have so large an "
            f"ECE less than once in {1 / _SIZE:.0f} times (p < {_SIZE:g}).",
            "All this is of data like these: of another time or place, measure again.",
        ),
        cautions=(*report.suspicions, *describe_cautions(report.evaluation, methods)),
    )


def _tested(report: Report) -> str:
    """'1,500 samples', '1,500 samples in 250 groups that stay together'."""
    n, design = report.evaluation.n_test, report.evaluation.design
    groups = "" if design.groups is None else f" in {design.independent(n):,} groups that stay together"
    return f"{n:,} samples{groups}"


def _given(report: Report) -> list[str]:
    e = report.evaluation
    n = e.n_test if e.folds else e.n_fit + e.n_test
    how = (
        f"Each is scored by fits on the other {e.folds - 1} of {e.folds} folds; the calibrator is fitted on all."
        if e.folds
        else f"{e.n_fit:,} to fit on, {e.n_test:,} to test on, {report.provenance['split']}."
    )
    name, kind = report.provenance["input"], report.provenance["read as"]
    return [f"{name}, read as {kind}: {n:,} samples, {e.n_classes:,} classes.", how, *report.fitted_on.notes]


def _verdict(report: Report, method: Method) -> str:
    """'no, overconfident (p < 0.001)', 'nothing speaks against it (p = 0.4)'."""
    p, design = calibration_p(report.evaluation, method), report.evaluation.design
    if p != p:
        return "not known (too few groups)"
    if p >= _SIZE:
        return f"nothing speaks against it ({in_words(p)})"
    scores = report.evaluation.scores[method]
    away = design.mean_interval(scores.confidence - scores.correct)
    side = ", overconfident" if away.low > 0 else ", underconfident" if away.high < 0 else ""
    return f"no{side} ({in_words(p)})"
