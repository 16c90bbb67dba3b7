"""Errors of each slice (hospital, language), with the worst slice corrected for multiple comparisons.

The intervals of the ECE of the whole and of all slices are simultaneous with probability `level` (Bonferroni), so they
also hold for a slice that was selected by its result. A slice is worse than the whole if its interval lies above the
whole's, better if it lies below, and else UNDECIDED, as small slices often are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.ece_interval import ece_interval_of
from focal_lib.tool.evaluation.comparison import Evaluation

ALL = "all samples"
_SHOWN = 20  # slices in a table to read, the first ones


def together(level: float, slices: int) -> float:
    """Level of each interval such that those of the whole and of the slices hold simultaneously with `level`."""
    return 1 - (1 - level) / (slices + 1)


def by_slice(evaluation: Evaluation, method: Method = AS_GIVEN, *, level: float = 0.95) -> pd.DataFrame:
    """One row for the whole and one for each slice: samples, error, NLL, and ECE (equal width) with its interval.

    Error and ECE are in per cent. Slices are sorted by the lower end of the ECE's interval, the largest first, since
    small slices tend to have the largest estimates. Ties are sorted by the estimate with less bias, then by the ECE.

    Args:
        evaluation: of test samples that have slices.
        method: the method whose probabilities are measured.
        level: simultaneous level of all intervals.

    Raises:
        ValueError: samples without slices, or level not in (0, 1).

    Examples:
        >>> from focal_lib.tool import calibrate
        >>> logits, labels = [[0.0, 2.1972], [2.1972, 0.0]] * 200, [1, 0] * 90 + [0, 1] * 10 + [1, 0, 0, 1] * 50
        >>> slices = ["A"] * 200 + ["B"] * 200  # confidence 0.9, accuracy 0.9 in A and 0.5 in B
        >>> report = calibrate((logits, labels), "temperature", resamples=50, slices=slices)
        >>> by_slice(report.evaluation)[["slice", "verdict"]].to_numpy().tolist()
        [['all samples', ''], ['B', 'worse'], ['A', 'better']]
    """
    if not evaluation.slices:
        raise ValueError("samples must have slices to be reported on. Got none.")
    each, rows = together(level, len(evaluation.slices)), []
    scores, every = evaluation.scores[method], np.ones(evaluation.n_test, dtype=bool)
    for name, inside in [(ALL, every), *evaluation.slices.items()]:
        design, correct = evaluation.design.take(inside), scores.correct[inside]
        i = ece_interval_of(scores.confidence[inside], correct, level=each, design=design).scaled(100)
        means = 100 * design.mean(1 - correct), design.mean(scores.log_loss[inside])
        kind = design.named(i.kind) if i.kind else "no interval: too few groups"
        debiased = i.estimate if i.debiased is None else i.debiased
        rows.append((name, int(inside.sum()), *means, i.estimate, debiased, i.low, i.high, kind))
    columns = ["slice", "samples", "error", "nll", "ece", "debiased", "low", "high", "interval"]
    table = pd.DataFrame(rows, columns=columns)
    slices = table.iloc[1:].sort_values(["low", "debiased", "ece"], ascending=False, kind="stable")
    found = pd.concat([table.iloc[:1], slices], ignore_index=True)
    low, high = found.loc[0, "low"], found.loc[0, "high"]
    verdicts = np.select([found["low"] > high, found["high"] < low], ["worse", "better"], "UNDECIDED")
    return found.assign(verdict=np.where(found.index == 0, "", verdicts))


def slice_table(found: pd.DataFrame) -> pd.DataFrame:
    """Format the result of by_slice: ECE as 'value (debiased) [low, high]', for the first 20 slices."""
    rows = found.head(_SHOWN + 1)
    spans = zip(rows["ece"], rows["debiased"], rows["low"], rows["high"], strict=True)
    return pd.DataFrame(
        {
            "slice": rows["slice"],
            "samples": rows["samples"].map("{:,}".format),
            "error (%)": rows["error"].map("{:.2f}".format),
            "nll": rows["nll"].map("{:.3f}".format),
            "ece (%), equal width": [
                f"{value:.2f}" if np.isnan(low) else f"{value:.2f} ({debiased:.2f}) [{low:.2f}, {high:.2f}]"
                for value, debiased, low, high in spans
            ],
            "against all": rows["verdict"],
        }
    ).set_index("slice")


def describe_worst(found: pd.DataFrame, level: float = 0.95) -> str:
    """The worst slice and its interval, in sentences."""
    slices = found.iloc[1:]
    worst, verdicts = slices.iloc[0], slices["verdict"].value_counts()
    if slices["low"].isna().all():
        return "No slice has groups enough for an interval of its ECE."
    span = f"{worst['ece']:.2f} per cent, {worst['low']:.2f} to {worst['high']:.2f}"
    sure = f"with intervals that hold for all {len(slices)} slices and the whole together, {100 * level:g} %"
    if worst["verdict"] == "worse":
        others = verdicts["worse"] - 1
        more = f" {others} other{'s are' if others > 1 else ' is'} worse than the whole, too." if others else ""
        return f"The worst slice is {worst['slice']}: its ECE (equal width) is {span}, {sure}.{more}"
    return (
        f"No slice is shown to be worse calibrated than the whole, {sure}; "
        f"{verdicts.get('UNDECIDED', 0)} of {len(slices)} are UNDECIDED. "
        f"The first to look at is {worst['slice']}: ECE (equal width) {span}."
    )
