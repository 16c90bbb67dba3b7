"""What to do with a model's logits, in plain words, and what to know about the fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators import FocalTemperatureScaling
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.calibration.comparison import BEFORE, Evaluation

__all__ = ["Advice", "advise", "notes"]

_UNITS = {"adaptive-ece": "ECE (per cent)", "nll": "NLL"}


@dataclass(frozen=True)
class Advice:
    """The method to use, None for the logits as given; and why, in plain words."""

    method: str | None
    words: str


def advise(found: pd.DataFrame, rows: int, tested: int, least: int = 500) -> Advice:
    """What to do, and how sure that is.

    A method is good if it is surely better than none in ECE or NLL and surely worse in neither. Of the good ones that
    are as good against the first method (temperature scaling) the surest is recommended; else the first, if good.

    Args:
        found: of comparison.differences.
        rows, tested: rows fitted on and tested on. With fewer than `least` of either no other method is recommended.
    """
    first = str(found["method"].iloc[0])
    good = _surely_better(found, BEFORE)
    others = [] if min(rows, tested) < least else [name for name in _surely_better(found, first) if name in good]
    if others:
        return Advice(others[0], _use(found, others[0], first))
    few = f"{rows} rows to fit on and {tested} to test on are too few to tell the methods apart" if tested else ""
    if first in good:
        if min(rows, tested) < least:
            return Advice(first, f"{few}; use plain {first} scaling: {_gain(found, first)}.")
        return Advice(first, f"Plain {first} scaling is enough: {_gain(found, first)}; {_room(found, first)}.")
    if min(rows, tested) < least:
        return Advice(None, f"{few}, and too few to see that {first} scaling helps: get more, or leave the logits.")
    if good:
        return Advice(good[0], _use(found, good[0], BEFORE))
    return Advice(None, f"Leave the logits as they are: no method surely improves on them; {_room(found, first)}.")


def _surely_better(found: pd.DataFrame, against: str) -> list[str]:
    """Methods really better in one metric and really worse in none, the surest first."""
    rows = found[(found["against"] == against) & found["real"]]
    worse = set(rows[rows["difference"] > 0]["method"])
    better = rows[(rows["difference"] < 0) & ~rows["method"].isin(worse)]
    return list(dict.fromkeys(better.sort_values("p", kind="stable")["method"]))


def _use(found: pd.DataFrame, method: str, against: str) -> str:
    return f"Use {method} rather than {against}: {_gain(found, method, against)}, after correction for several methods."


def _gain(found: pd.DataFrame, method: str, against: str = BEFORE) -> str:
    """What a method gains, where that is real."""
    own = found[(found["method"] == method) & (found["against"] == against) & found["real"] & (found["difference"] < 0)]
    columns = zip(own["metric"], -own["difference"], -own["high"], -own["low"], strict=True)
    parts = (f"{_UNITS[m]} falls by {d:.3g} (95 % interval {low:.3g} to {high:.3g})" for m, d, low, high in columns)
    return " and ".join(parts)


def _room(found: pd.DataFrame, first: str) -> str:
    """What other methods might still gain: the far ends of the intervals of those that are not surely worse."""
    others = found[(found["against"] == first) & ~(found["real"] & (found["difference"] > 0))]
    most = -others.groupby("metric", sort=False)["low"].min()
    if most.empty:
        return "no other method was tried, or all are worse"
    limits = " and ".join(f"{max(value, 0):.2g} of {_UNITS[str(metric)]}" for metric, value in most.items())
    return f"no other method beats {first} beyond chance, and 95 % intervals leave room for at most {limits}"


def notes(evaluation: Evaluation) -> list[str]:
    """Sizes, classes without rows, the fits, whether gamma is at an end of its range, and Prop. 5."""
    found = [_sizes(evaluation)]
    if evaluation.missing:
        names = ", ".join(map(str, evaluation.missing[:10]))
        found.append(
            f"Classes without a row to fit on: {names}. Temperatures do not need them; vector and matrix scaling guess "
            "theirs; the other methods leave them as given."
        )
    for name, fit in evaluation.fits.items():
        if isinstance(fit, FocalTemperatureScaling):
            found += _of_focal(name, fit, evaluation)
    for name, scores in evaluation.scores.items():
        if none := int(np.isinf(scores.log_loss).sum()):
            found.append(f"{name}: {none:,} labels got probability 0, so the NLL is infinite.")
    return found


def _sizes(evaluation: Evaluation) -> str:
    if evaluation.folds:
        return (
            f"{evaluation.rows:,} rows, {evaluation.classes} classes; each row is scored by fits on the other "
            f"{evaluation.folds - 1} of {evaluation.folds} folds, and the calibrator is fitted on all."
        )
    return f"{evaluation.rows:,} rows to fit on, {evaluation.tested:,} to test on, {evaluation.classes} classes."


def _of_focal(name: str, fit: FocalTemperatureScaling, evaluation: Evaluation) -> list[str]:
    end = " This is the optimum of the whole grid, proved." if fit.optimal_ and len(fit.gammas) > 1 else ""
    found = [f"{name}: T = {fit.temperature_:.3f}" + (f", gamma = {fit.gamma_:.3f}." if fit.gamma_ else ".") + end]
    low, high = GAMMA_RANGE if fit.search == "newton" else (min(fit.gammas), max(fit.gammas))
    if low < high and fit.gamma_ in (low, high):
        edge = "smallest" if fit.gamma_ == low else "largest"
        found.append(f"{name}: gamma is the {edge} that was tried, so another may do better.")
    if fit.gamma_ > 0:
        share = evaluation.lowered[name]
        found.append(
            f"{name}: the map lowers the top probability in {share:.1%} of the rows (KK24 Prop. 5 says never)."
        )
    return found
