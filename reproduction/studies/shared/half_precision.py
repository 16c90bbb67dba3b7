"""Whether logits of runs may be recorded in float16: only if no metric that tables show moves by 0.01 points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS
from reproduction.engine.store import Logits, Result
from reproduction.studies.shared.over_seeds import SCALINGS, measure

LIMIT = 0.01  # of what tables print, the last digit
_QUICK = SCALINGS[:2]  # as trained, and T by NLL


class Answer(NamedTuple):
    """What logits are recorded as, and why, in words."""

    number: type[np.floating]
    words: str


def decide(results: Sequence[Result]) -> Answer:
    """float16 if no metric and no T of any of the runs moves by LIMIT points, after any scaling, else float32.

    The first run in which one does settles it.
    """
    if not results:
        return Answer(np.float32, "Every run is recorded already.")
    for scalings in (_QUICK, SCALINGS[2:]):
        for result in results:
            moved = moves(result, scalings)
            most = moved.iloc[int(moved["moved"].argmax())]
            if not moved["moved"].lt(LIMIT).all():
                return Answer(np.float32, f"Logits are recorded in float32: in float16 {_in_words(result, most)}.")
    found = f"no metric or temperature of {len(results)} runs moves by {LIMIT} points"
    return Answer(np.float16, f"Logits are recorded in float16: {found}.")


def _in_words(result: Result, most: pd.Series[Any]) -> str:
    how = "as trained" if most["method"] == "none" else f"after {most['method']} by {most['objective']}"
    return f"the {most['metric']} of {result.spec.name}, {how}, moves by {most['moved']:.4f} points, and {LIMIT} counts"


def moves(result: Result, scalings: Sequence[tuple[str, str]] = SCALINGS) -> pd.DataFrame:
    """By how much each metric on test, and T, changes if validation and test logits are rounded to float16.

    A row for each scaling and metric of `measure`, and one for its T as the metric 'temperature'. `moved` is in points:
    per cent of a metric that tables show in per cent, hundredths of another, T as it is; infinite where a logit is too
    large for float16.
    """
    whole = _with_temperatures(measure([result], scalings))
    found = whole[["method", "objective", "metric"]].assign(moved=np.inf)
    with np.errstate(over="ignore"):
        rounded = replace(result, validation=_rounded(result.validation), test=_rounded(result.test))
    if np.isfinite(rounded.validation.logits).all() and np.isfinite(rounded.test.logits).all():
        points = [1.0 if m == "temperature" or METRICS[m].per_cent else 100.0 for m in whole["metric"]]
        one, two = whole["value"], _with_temperatures(measure([rounded], scalings))["value"]
        found["moved"] = points * (two - one).abs().where(one != two, 0.0)  # both may be infinite
    return found


def _rounded(part: Logits) -> Logits:
    return Logits(part.logits.astype(np.float16).astype(np.float32), part.labels)


def _with_temperatures(table: pd.DataFrame) -> pd.DataFrame:
    """With rows for the T of each scaling."""
    chosen = table[table["method"] != "none"].drop_duplicates(["method", "objective"])
    return pd.concat([table, chosen.assign(metric="temperature", value=chosen["temperature"])], ignore_index=True)
