"""The first screen of a report: what was given, what was found, what to do, how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.calibration.report.fit_notes import describe_cautions, in_words, name_of

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
    found.append(("Calibrated?", *(_verdict(report, method) + _classes_off(report, method) for method in methods)))
    count = int((report.differences["interval"] != "").sum())
    return Summary(
        gave=tuple(_given(report)),
        heads=tuple(name_of(method) for method in methods),
        found=tuple(found),
        todo=(report.advice.words, *_still_off(report), report.kept_in_words),
        command="" if report.kept == AS_GIVEN else "focal apply calibrator.json new.npy --out probs.npy",
        sure=(
            f"All is measured on {_tested(report)}, each unseen by the fit that scores it.",
            f"The advice goes by NLL and Brier score. The intervals of all {count} differences hold together with "
            "95 %, however many methods were tried.",
            "In the table each interval in square brackets holds with 95 % by itself; in round brackets stands an "
            "estimate of the ECE with less bias. 'Calibrated?' is asked of all answers as a whole: no where a "
            f"calibrated model would have so large an ECE less than once in {1 / _SIZE:.0f} times (p < {_SIZE:g}).",
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
    """'no, overconfident (p < 0.001)', 'as a whole nothing speaks against it (p = 0.4)'."""
    p = report.p_values[method]
    if p != p:
        return "not known (too few groups)"
    if p >= _SIZE:
        return f"as a whole nothing speaks against it ({in_words(p)})"
    return f"no{_side(report, method)} ({in_words(p)})"


def _side(report: Report, method: Method) -> str:
    """', overconfident', ', underconfident', or nothing where neither is certain."""
    scores = report.evaluation.scores[method]
    away = report.evaluation.design.mean_interval(scores.confidence - scores.correct)
    return ", overconfident" if away.low > 0 else ", underconfident" if away.high < 0 else ""


def _classes_off(report: Report, method: Method) -> str:
    """'; 4 of 10 classes are off for certain, see below', of the method that is kept, whose classes are below."""
    if method != report.kept:
        return ""
    found, design = report.decisions.per_class, report.evaluation.design
    off = int(np.count_nonzero(found.certain))
    sure = "for certain" if design.groups is None else "if samples of a group are independent"
    return f"; {off} of {len(found.classes)} classes are off {sure}, see below" if off else ""


def _still_off(report: Report) -> list[str]:
    """One sentence where what is kept is not calibrated, though it is the best that was found."""
    p = report.p_values[report.kept]
    if not p < _SIZE:
        return []
    off = f"off{_side(report, report.kept)} ({in_words(p)})"
    if report.kept == AS_GIVEN:
        return [f"The confidence as given is {off}: no method that was tried is shown to gain enough."]
    return [f"After it the confidence is still {off}: better than before, but not calibrated."]
