"""What to do with a model's logits, in plain words, and what to know about the fits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.calibrators import FocalTemperatureScaling
from focal_lib.calibrators.newton import GAMMA_RANGE
from focal_lib.comparison import BEFORE, Evaluation

__all__ = ["choose", "notes", "recommend"]

_UNITS = {"adaptive-ece": "ECE (per cent)", "nll": "NLL"}


def choose(found: pd.DataFrame) -> str | None:
    """From `comparison.differences`, the method to use.

    The one that most surely beats the first in one metric and is not surely worse in the other; else the first; None if
    the first does not help either.
    """
    first = found["method"].iloc[0]
    others = found[found["against"] == first]
    worse = set(others[others["real"] & (others["difference"] > 0)]["method"])
    better = others[others["real"] & (others["difference"] < 0) & ~others["method"].isin(worse)]
    if not better.empty:
        return str(better.sort_values("p", kind="stable")["method"].iloc[0])
    helps = found[(found["against"] == BEFORE) & found["real"] & (found["difference"] < 0)]
    return None if helps.empty else str(first)


def recommend(found: pd.DataFrame, rows: int, least: int = 500) -> str:
    """Which method to use and how sure that is.

    Args:
        found: of comparison.differences.
        rows: number of rows fitted on; below `least` nothing is said but that they are few.
    """
    first, chosen = found["method"].iloc[0], choose(found)
    if chosen not in (None, first):
        best = found[(found["method"] == chosen) & (found["against"] == first)].sort_values("p").iloc[0]
        unit = "points of ECE" if best["metric"] == "adaptive-ece" else "of NLL"
        return (
            f"Use {best['method']}: {-best['difference']:.3g} {unit} below {first} (95 % interval "
            f"{-best['high']:.3g} to {-best['low']:.3g}), beyond chance after correction for several methods."
        )
    if rows < least:
        return f"{rows} rows to fit on are too few to tell {first} scaling from the others: it is the safe choice."
    if chosen == first:
        return f"Plain {first} scaling is enough: {_gain(found, first)}; {_room(found, first)}."
    return f"Leave the logits as they are: no method improves on them beyond chance; {_room(found, first)}."


def _gain(found: pd.DataFrame, first: str) -> str:
    """What the first method gains over none, where that is real."""
    own = found[(found["against"] == BEFORE) & found["real"] & (found["difference"] < 0)]
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
