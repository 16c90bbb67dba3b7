"""The same losses on several data sets: what each changes there, and whether the changes differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import Interval, welch_interval
from reproduction.studies.shared.over_seeds import contrast


def as_means(found: pd.DataFrame, level: float) -> list[Interval]:
    """The t intervals of a table's difference, low and high, over its seeds."""
    columns = found[["difference", "low", "high", "seeds"]].itertuples(index=False, name=None)
    return [Interval(mean, low, high, "t", level, seeds - 1) for mean, low, high, seeds in columns]


def subtract_means(first: Interval, second: Interval, *, level: float = 0.95) -> Interval:
    """The first mean minus the second, by Welch's interval; both are t intervals of independent values.

    Of one value, which has no interval, the difference with nan and nan.
    """
    counts = [(interval.degrees or 0) + 1 for interval in (first, second)]
    change = first.estimate - second.estimate
    if min(counts) < 2:
        return Interval(change, np.nan, np.nan)
    deviations = [interval.standard_error * n**0.5 for interval, n in zip((first, second), counts, strict=True)]
    if not any(deviations):
        return Interval(change, change, change, "t", level)
    return welch_interval((1, -1), (first.estimate, second.estimate), deviations, counts, level=level)


def compare_data_sets(tables: Mapping[str, pd.DataFrame], *, level: float = 0.95) -> pd.DataFrame:
    """ECE (equal width, %) as trained, minus cross-entropy's with the same seed, by loss and data set.

    Losses that all data sets have, in the order of the first. Seeds of two data sets are no pairs: their images differ.

    Args:
        tables: data set -> what `measure` gives of its runs.

    Returns:
        Index loss, data set; difference, low, high, the t interval over seeds; seeds; change, change_low, change_high:
        the difference minus that on the first data set, by Welch's interval, 0 there.

    Raises:
        ValueError: no loss but cross-entropy that all have, or none with cross-entropy.
    """
    asked = "metric == 'ece' and method == 'none'"
    found = {title: contrast(table.query(asked), "loss", "cross-entropy", level) for title, table in tables.items()}
    shared = set.intersection(*(set(own["loss"]) for own in found.values()))
    if not shared:
        raise ValueError(f"tables must have a loss beside cross-entropy in common. Got none in {', '.join(tables)}.")
    rows: dict[tuple[str, str], Interval] = {}
    for title, differences in found.items():
        kept = differences[differences["loss"].isin(shared)]
        rows |= {(loss, title): mean for loss, mean in zip(kept["loss"], as_means(kept, level), strict=True)}
    first = {loss: interval for (loss, title), interval in rows.items() if title == next(iter(tables))}
    numbers = []
    for (loss, _), own in rows.items():
        change = Interval(0, 0, 0) if own is first[loss] else subtract_means(own, first[loss], level=level)
        numbers.append((own.estimate, own.low, own.high, (own.degrees or 0) + 1, *astuple(change)[:3]))
    index = pd.MultiIndex.from_tuples(list(rows), names=["loss", "data set"])
    together = pd.DataFrame(
        numbers, index, ["difference", "low", "high", "seeds", "change", "change_low", "change_high"]
    )
    return together.reindex(pd.MultiIndex.from_product([first, tables], names=index.names))
