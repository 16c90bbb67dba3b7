"""Formatted tables of metrics and differences: one row for each method, one column for each metric."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import EVENT_METRICS, METRICS

_KEYS = ["method", "objective"]
_SHOWN = METRICS | EVENT_METRICS


def metric_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Format comparison.measure as 'value [low, high]'; columns name the unit, the bins and the kind of interval.

    A binned error is 'value (debiased) [low, high]'.
    """
    shown = zip(*(measured[name] for name in ("metric", "value", "low", "high", "debiased")), strict=True)
    return _table(measured, _KEYS, (cell(*row) for row in shown))


def difference_table(differences: pd.DataFrame) -> pd.DataFrame:
    """Format comparison.differences as 'difference [low, high]', with * if significant."""
    shown = zip(*(differences[name] for name in ("metric", "difference", "low", "high")), strict=True)
    stars = np.where(differences["significant"], " *", "")
    return _table(differences, [*_KEYS, "reference"], (cell(*row) + s for row, s in zip(shown, stars, strict=True)))


def _table(frame: pd.DataFrame, keys: list[str], texts: Iterable[str]) -> pd.DataFrame:
    rows = pd.MultiIndex.from_frame(frame[keys].drop_duplicates())
    found = frame.assign(text=list(texts)).pivot(index=keys, columns="metric", values="text")
    found = found.loc[rows, frame["metric"].unique()]
    how = frame[frame["interval"] != ""].groupby("metric")["interval"].first()
    heads = []
    for name in found.columns:  # 'ece (%)', 'equal width; inverted test'
        metric = _SHOWN[name]
        unit = " (%)" if metric.per_cent else ""
        heads.append((f"{name}{unit}", "; ".join(filter(None, (metric.bins, how.get(name, "no interval"))))))
    return found.set_axis(pd.MultiIndex.from_tuples(heads, names=[None, None]), axis=1)


def cell(metric: str, value: float, low: float, high: float, debiased: float | None = None) -> str:
    """'13.80 (13.70) [12.88, 14.70]', without what is not known, and without an estimate that is the value."""
    digits = 2 if _SHOWN[metric].per_cent else 3
    span = "" if np.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]"
    other = "" if debiased is None or debiased == value else f" ({debiased:.{digits}f})"
    return f"{value:.{digits}f}{other}{span}"
