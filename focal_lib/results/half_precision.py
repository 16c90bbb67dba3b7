"""Whether logits of runs may be recorded in float16: only if no metric that tables show moves by 0.01 points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS
from focal_lib.results.over_seeds import measure
from focal_lib.training.store import Logits, Result

__all__ = ["LIMIT", "in_words", "moves", "number_to_record"]

LIMIT = 0.01  # of what tables print, the last digit


def moves(results: Iterable[Result]) -> pd.DataFrame:
    """By how much each metric, and T, changes if validation and test logits are rounded to float16.

    A row for each run, scaling and metric of `measure`, and one for its T as the metric 'temperature'. `moved` is in
    points: per cent of a metric that tables show in per cent, hundredths of another, T as it is; infinite where a logit
    is too large for float16.
    """
    return pd.concat([_moves(result) for result in results], ignore_index=True)


def _moves(result: Result) -> pd.DataFrame:
    keys = ["loss", "seed", "method", "objective", "metric"]
    whole = _with_temperatures(measure([result]))
    found = whole[keys].assign(moved=np.inf)
    with np.errstate(over="ignore"):
        rounded = replace(result, validation=_rounded(result.validation), test=_rounded(result.test))
    if np.isfinite(rounded.validation.logits).all() and np.isfinite(rounded.test.logits).all():
        points = [1.0 if m == "temperature" or METRICS[m].per_cent else 100.0 for m in whole["metric"]]
        one, two = whole["value"], _with_temperatures(measure([rounded]))["value"]
        found["moved"] = points * (two - one).abs().where(one != two, 0.0)  # both may be infinite
    return found


def _rounded(part: Logits) -> Logits:
    return Logits(part.logits.astype(np.float16).astype(np.float32), part.labels)


def _with_temperatures(table: pd.DataFrame) -> pd.DataFrame:
    """With rows for the T of each scaling."""
    chosen = table[table["method"] != "none"].drop_duplicates(["loss", "seed", "method", "objective"])
    return pd.concat([table, chosen.assign(metric="temperature", value=chosen["temperature"])], ignore_index=True)


def number_to_record(moved: pd.DataFrame) -> type[np.floating]:
    """What logits are recorded as, from what `moves` gives."""
    return np.float16 if (moved["moved"] < LIMIT).all() else np.float32


def in_words(moved: pd.DataFrame) -> str:
    """The answer, with what moves most."""
    most = moved.iloc[int(moved["moved"].argmax())]
    how = "as trained" if most["method"] == "none" else f"after {most['method']} by {most['objective']}"
    kind = np.dtype(number_to_record(moved)).name
    count = int((moved["moved"] >= LIMIT).sum())
    which = f"{most['metric']} of {most['loss']}, seed {most['seed']}, {how}"
    return (
        f"Logits are recorded in {kind}: in float16, {count} of {len(moved)} metrics and temperatures move by {LIMIT} "
        f"points or more, at most by {most['moved']:.4f}: {which}."
    )
