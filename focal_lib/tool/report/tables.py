"""Formatted tables of metrics and differences: one row for each method, one column for each metric."""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS

_KEYS = ["method", "objective"]


def metric_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Format comparison.measure as 'value [low, high]'; columns name the unit, the bins and the kind of interval.

    A binned error is 'value (debiased) [low, high]'.
    """
    return _table(measured, _KEYS, measured["value"], measured["interval"], debiased=measured["debiased"])


def difference_table(differences: pd.DataFrame) -> pd.DataFrame:
    """Format comparison.differences as 'difference [low, high]', with * if significant."""
    stars = np.where(differences["significant"], " *", "")
    return _table(differences, [*_KEYS, "reference"], differences["difference"], differences["interval"], stars)


def _table(
    frame: pd.DataFrame,
    keys: list[str],
    values: pd.Series,
    kinds: pd.Series,
    stars: np.ndarray | str = "",
    debiased: pd.Series | None = None,
) -> pd.DataFrame:
    columns = zip(
        frame["metric"], values, frame["low"], frame["high"], values if debiased is None else debiased, strict=True
    )
    text = frame.assign(text=[_cell(*row) for row in columns])
    text["text"] += stars
    rows = pd.MultiIndex.from_frame(frame[keys].drop_duplicates())
    found = text.pivot(index=keys, columns="metric", values="text").loc[rows, frame["metric"].unique()]
    how = kinds[kinds != ""].groupby(frame["metric"]).first()
    heads = [_head(name, how.get(name, "no interval")) for name in found.columns]
    return found.set_axis(pd.MultiIndex.from_tuples(heads, names=[None, None]), axis=1)


def _head(name: str, how: str) -> tuple[str, str]:
    """'ece (%)', 'equal width; inverted test'."""
    metric = METRICS[name]
    return f"{name} (%)" if metric.per_cent else name, "; ".join(filter(None, (metric.bins, how)))


def _cell(metric: str, value: float, low: float, high: float, debiased: float) -> str:
    digits = 2 if METRICS[metric].per_cent else 3
    span = "" if np.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]"
    other = "" if debiased == value else f" ({debiased:.{digits}f})"
    return f"{value:.{digits}f}{other}{span}"
