"""The first screen of a report: the data, the result, the advice and its certainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.tool.report.fit_notes import describe_cautions, in_words, name_of

if TYPE_CHECKING:
    from focal_lib.tool.report.report import Report


_SIZE = 0.05  # of the test of calibration
_NAMED = 5  # slices, at most
_SEEN = 0.01  # of two ECEs in per cent: the last digit that is shown
_FEW = 100  # samples to test on, or groups, below which a share is uncertain by 10 points and more
_SHOWN = {"error (%)": "Error (%)", "adaptive-ece (%)": "ECE, equal mass (%)", "nll": "NLL"}


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
    methods = report.compared
    metrics = report.metric_table().droplevel(1, axis=1)
    found = [(name, *(str(metrics.loc[tuple(method), key]) for method in methods)) for key, name in _SHOWN.items()]
    found.append(("Calibrated?", *(_verdict(report, method) + _classes_off(report, method) for method in methods)))
    count = int((report.differences["interval"] != "").sum())
    return Summary(
        gave=tuple(_given(report)),
        heads=tuple(name_of(method) for method in methods),
        found=tuple(found),
        todo=(report.advice.words, *_larger_ece(report), *_still_off(report), report.kept_in_words),
        split=_on_split(report),
        command="" if report.kept == AS_GIVEN else "focal apply calibrator.json new.npy --out probs.npy",
        sure=(
            f"All is measured on {_tested(report)}, each unseen by the fit that scores it.",
            f"The advice is based on NLL and Brier score. The intervals of all {count} differences hold together with "
            "95 %, however many methods were tried.",
            "In the table each interval in square brackets holds with 95 % by itself; in round brackets stands an "
            f"estimate of the ECE with less bias. 'Calibrated?' tests all answers as a whole: no where p < {_SIZE:g}, "
            f"that is, where a calibrated model has so large an ECE in fewer than {_SIZE:.0%} of test sets like this.",
            "All this holds for data like these; on data of another time or place, measure again.",
        ),
        cautions=(*report.suspicions, *_too_few(report), *describe_cautions(report.evaluation, methods)),
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
    samples = f"{name}, read as {kind}: {n:,} samples, {e.n_classes:,} classes."
    return [samples, how, *_given_beside(report), *report.fitted_on.notes]


def _given_beside(report: Report) -> list[str]:
    """'Groups: 150, which stay together. Slices: east, north. Weights: 0.5 to 2.'; [] without any."""
    sets = [data for _, data in report.evaluation.parts]
    sets += [] if report.evaluation.folds else [report.fitted_on]
    found = []
    if all(data.groups is not None for data in sets):
        count = len(np.unique(np.concatenate([data.groups for data in sets if data.groups is not None])))
        found.append(f"Groups: {count:,}, which stay together.")
    if names := sets[0].slice_names:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        found.append(f"Slices: {', '.join(map(str, names[:_NAMED]))}{more}.")
    if all(data.weights is not None for data in sets):
        weights = np.concatenate([data.weights for data in sets if data.weights is not None])
        found.append(f"Weights: {weights.min():.3g} to {weights.max():.3g}.")
    return found


def _verdict(report: Report, method: Method) -> str:
    """'no, overconfident (p < 0.001)', 'no evidence of miscalibration (p = 0.4)'."""
    p = report.p_values[method]
    if p != p:
        return "not known (too few groups)"
    if p >= _SIZE:
        return f"no evidence of miscalibration ({in_words(p)})"
    return f"no{_side(report, method)} ({in_words(p)})"


def _side(report: Report, method: Method) -> str:
    """', overconfident', ', underconfident', or '' if neither is significant."""
    scores = report.evaluation.scores[method]
    away = report.evaluation.design.mean_interval(scores.confidence - scores.correct)
    return ", overconfident" if away.low > 0 else ", underconfident" if away.high < 0 else ""


def _classes_off(report: Report, method: Method) -> str:
    """'; yet 4 of 10 classes are off, see below', for the kept method, whose classes are listed below."""
    if method != report.kept:
        return ""
    found, design = report.decisions.per_class, report.evaluation.design
    off = int(np.count_nonzero(found.certain))
    sure = "" if design.groups is None else " if samples of a group are independent"
    are = "is" if off == 1 else "are"
    yet = "" if report.p_values[method] < _SIZE else "yet "
    return f"; {yet}{off} of {len(found.classes)} classes {are} off{sure}, see below" if off else ""


def _larger_ece(report: Report) -> list[str]:
    """One sentence if the advised method has a larger ECE than its neighbour in the table."""
    if report.kept != report.advice.method:
        return []
    eces = {method: 100 * report.evaluation.adaptive_ece(method) for method in report.compared}
    own = eces.pop(report.kept)
    less = [f"{name_of(method)} ({ece:.2f} %)" for method, ece in eces.items() if ece + _SEEN < own]
    if not less:
        return []
    return [
        f"Its ECE (equal mass, {own:.2f} %) is larger than {' and '.join(less)}: the advice goes by NLL and Brier "
        "score, which reward telling the classes apart, too."
    ]


def _on_split(report: Report) -> str:
    """Seed of a random split, and how to test on all samples; '' for two sets or folds."""
    e, split = report.evaluation, report.provenance["split"]
    if e.folds or not split.startswith("parts of one set"):
        return ""
    n, seed = e.n_fit + e.n_test, split.rpartition(", ")[2]
    settle = ", and may settle what is left open" if "left open" in report.advice.words else ""
    return (
        f"The split was random ({seed}), and another may lead to other advice: --folds 5 (folds=5) tests on all {n:,} "
        f"samples, not on {e.n_test:,} of them{settle}."
    )


def _too_few(report: Report) -> list[str]:
    """One sentence if there are few test samples, with the half-width of a 95 % interval of a share of 1/2."""
    e = report.evaluation
    count, what = e.design.independent(e.n_test), "samples" if e.design.groups is None else "groups"
    if count >= _FEW:
        return []
    return [
        f"There are only {count} {what} to test on, too few to tell much: a share of them, such as the error, is "
        f"uncertain by up to {98 / count**0.5:.0f} points either way."
    ]


def _still_off(report: Report) -> list[str]:
    """One sentence if the kept method is not calibrated, even if it is the best found."""
    p = report.p_values[report.kept]
    if not p < _SIZE:
        return []
    off = f"off{_side(report, report.kept)} ({in_words(p)})"
    if report.kept != report.advice.kept:
        return [f"With what was asked for the confidence is {off}."]
    if report.kept == AS_GIVEN:
        return [f"The confidence as given is {off}: no method that was tried is shown to gain enough."]
    return [f"After it the confidence is still {off}: better than before, but not calibrated."]
