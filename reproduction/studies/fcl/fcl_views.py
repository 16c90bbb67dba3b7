"""The record of FCL's networks as maps over gamma and lambda, curves over lambda and over epochs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval
from reproduction.pages.tables import in_words
from reproduction.studies.fcl.plan import fcl

Band = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # epochs, mean, lowest, highest
Curve = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, mean, half of the 95 % t interval


def map_over(table: pd.DataFrame, metric: str, method: str = "none", objective: str = "") -> pd.DataFrame:
    """Means over seeds of FCL with the squared distance: a row each lambda, a column each gamma.

    Args:
        table: of `measure_trained`.
    """
    rows = table[table["name"].isin(("focal", "fcl")) & (table["metric"] == metric)]
    rows = rows[(rows["method"] == method) & (rows["objective"] == objective)]
    return rows.pivot_table(index="lam", columns="gamma", values="value")


def along_lambda(
    table: pd.DataFrame, gamma: float, metric: str, method: str = "none", objective: str = "", *, absolute: bool = False
) -> Curve:
    """A metric over lambda, of one gamma; lambda = 0 is focal loss with either distance.

    Raises:
        ValueError: fewer than two seeds.
    """
    rows = table[(table["metric"] == metric) & (table["method"] == method) & (table["objective"] == objective)]
    rows = rows[(rows["gamma"] == gamma) & rows["name"].isin(("focal", "fcl-l1" if absolute else "fcl"))]
    return _with_intervals(rows.pivot(index="seed", columns="lam", values="value"))


def lean_over_lambda(
    table: pd.DataFrame, trained_on: str, *, absolute: bool = False, column: str = "lean"
) -> tuple[np.ndarray, np.ndarray]:
    """Lambda (m,), and how far each network leans (m, s); lambda = 0 is focal loss with either distance.

    Args:
        table: of `measure_lean`.
        column: of it.
    """
    rows = table[(table["trained_on"] == trained_on) & ((table["absolute"] == absolute) | (table["lam"] == 0))]
    wide = rows.pivot(index="lam", columns="network", values=column)
    return wide.index.to_numpy(dtype=float), wide.to_numpy()


def _with_intervals(wide: pd.DataFrame) -> Curve:
    intervals = [t_interval(wide[lam]) for lam in wide]
    return (
        wide.columns.to_numpy(dtype=float),
        np.array([i.estimate for i in intervals]),
        np.array([(i.high - i.low) / 2 for i in intervals]),
    )


def count_higher(values: pd.DataFrame) -> tuple[int, int]:
    """Of neighbours along lambda in a map, columns with gamma above 0: how many rise, and how many there are."""
    steps = np.diff(values.loc[:, values.columns.to_numpy(dtype=float) > 0].to_numpy(), axis=0)
    return int((steps > 0).sum()), int(steps.size)


def normalised_curves(epochs: pd.DataFrame, losses: Sequence[str], last: int, column: str = "loss") -> dict[str, Band]:
    """The own test loss up to an epoch, less its least of all and over its range: mean, lowest, highest over seeds.

    Args:
        epochs: of the record, with the columns trained, seed, epoch, loss, error.
        column: of it; an error is normalised in the same way.
    """
    found: dict[str, Band] = {}
    for label in losses:
        wide = epochs[epochs["trained"] == label].pivot(index="epoch", columns="seed", values=column).sort_index()
        least = wide.min()
        shares = ((wide - least) / (wide.iloc[0] - least)).loc[:last]
        each = shares.to_numpy()
        found[label] = shares.index.to_numpy(), each.mean(axis=1), each.min(axis=1), each.max(axis=1)
    return found


def say_best(values: pd.DataFrame) -> str:
    """Where a map of errors in per cent is least, and whether that is with a square or without, in a sentence."""
    lam, gamma = values.stack().idxmin()  # type: ignore[misc]
    least = f"The least mean is {values[gamma][lam]:.1f} %, of {in_words(fcl(float(gamma), float(lam)).label)}"
    if lam == 0:
        return f"{least}: of all these losses one without a square is best."
    plain = float(values.columns.to_numpy(dtype=float)[values.loc[0.0].to_numpy().argmin()])
    without = f"{values[plain][0.0]:.1f} %, of {in_words(fcl(plain, 0.0).label)}"
    return f"{least}; the least without a square is {without}."


def count_better(values: pd.DataFrame, chosen: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Of the chosen pairs in a map of errors, how many are below lambda = 0 of their gamma; and how many there are."""
    inside = [(g, strength) for g, strength in chosen if g in values.columns and strength in values.index]
    better = sum(bool(values[g][strength] < values[g][0.0]) for g, strength in inside)
    return int(better), len(inside)
