"""What came of the networks on two moons, seed by seed, and contrasts between losses that were written down before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.metrics.significance import holm, t_p_value
from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import MoonGrid
from reproduction.studies.simple_models.boundary import steepness, turning


def by_loss(logits: Mapping[MoonLoss, np.ndarray], grid: MoonGrid, *, shape: bool = True) -> pd.DataFrame:
    """A row for each loss and network, of logits (s, a * b) on the grid.

    Columns: loss, network; accuracy, confidence, gap, distance and excess as in `Standing`, and each but the accuracy
    again as mapped_*, after the loss's own map; with `shape` the turning and the steepness of the boundary.
    """
    tables = []
    for loss, found in logits.items():
        raw, mapped = against_truth(found, grid.truth), against_truth(loss.mapped(found), grid.truth)
        columns = {"loss": loss.label, "network": np.arange(len(found)), "accuracy": raw.accuracy}
        for name in ("confidence", "gap", "distance", "excess"):
            columns |= {name: getattr(raw, name), f"mapped_{name}": getattr(mapped, name)}
        if shape:
            planes = grid.on_grid(found)
            columns["turning"] = [turning(plane, grid) for plane in planes]
            columns["steepness"] = [steepness(plane, grid) for plane in planes]
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


class WrittenContrast(NamedTuple):
    """First minus second: a loss and a column of `by_loss` each. `asks` says what a negative number means."""

    first: tuple[MoonLoss, str]
    second: tuple[MoonLoss, str]
    asks: str


def _contrasts(gamma: float, lam: float) -> tuple[WrittenContrast, ...]:
    """Written down before the seeds of the chapter were run; all of them of the distance from the truth."""
    focal, both, plain, brier = MoonLoss(gamma), MoonLoss(gamma, lam), MoonLoss(), MoonLoss(brier=True)
    return (
        WrittenContrast((both, "distance"), (focal, "distance"), "as trained, FCL is nearer than focal loss"),
        WrittenContrast((focal, "mapped_distance"), (focal, "distance"), "its map brings focal loss nearer"),
        WrittenContrast((both, "mapped_distance"), (both, "distance"), "its map brings FCL nearer"),
        WrittenContrast((focal, "mapped_distance"), (both, "distance"), "the map does more than the square"),
        WrittenContrast(
            (focal, "mapped_distance"), (plain, "distance"), "after the map focal loss beats cross-entropy"
        ),
        WrittenContrast((brier, "distance"), (plain, "distance"), "Brier is nearer than cross-entropy"),
    )


def written_contrasts(table: pd.DataFrame, gamma: float, lam: float) -> pd.DataFrame:
    """The contrasts on a table of `by_loss`: mean difference over networks, 95 % t interval, Holm's p.

    Columns: question, difference, low, high, p (Holm), answer ('yes', 'no, the opposite' or 'open' at 5 %).

    Raises:
        ValueError: fewer than two networks.
    """
    rows, intervals = [], []
    for contrast in _contrasts(gamma, lam):
        first, second = (
            table.loc[table["loss"] == loss.label, column].to_numpy()
            for loss, column in (contrast.first, contrast.second)
        )
        interval = paired_t_interval(first, second)
        intervals.append(interval)
        rows.append((contrast.asks, interval.estimate, interval.low, interval.high))
    found = pd.DataFrame(rows, columns=["question", "difference", "low", "high"])
    found["p (Holm)"] = holm([t_p_value(interval) for interval in intervals])
    decided = found["p (Holm)"] <= 0.05
    found["answer"] = np.where(decided, np.where(found["difference"] < 0, "yes", "no, the opposite"), "open")
    return found
