"""Networks on two moons, seed by seed: distances from the truth, the boundary, contrasts written down before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from contourpy import contour_generator
from scipy.interpolate import RegularGridInterpolator

from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.metrics.significance import holm, t_p_value
from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import MoonGrid


def boundary(logits: np.ndarray, grid: MoonGrid) -> list[np.ndarray]:
    """Where logits (a, b) on the grid are 0: pieces (k, 2), cut to where 99 % of the samples lie."""
    inside = RegularGridInterpolator(
        (grid.x, grid.y), grid.dense.astype(float), method="nearest", bounds_error=False, fill_value=0.0
    )
    pieces = []
    for line in map(np.asarray, contour_generator(grid.x, grid.y, logits.T).lines(0.0)):
        kept = inside(line) > 0.5
        for run in np.split(np.arange(len(line)), np.flatnonzero(np.diff(kept)) + 1):
            if kept[run[0]] and len(run) > 1:
                pieces.append(line[run])
    return pieces


def turning(logits: np.ndarray, grid: MoonGrid) -> float:
    """Total absolute turning of the boundary, in half turns: 0 of a straight line, 2 of a circle.

    Corners and bends alike count with their angle; steps shorter than a thousandth of the grid's are left out.
    """
    shortest = (grid.x[1] - grid.x[0]) / 1000
    total = 0.0
    for piece in boundary(logits, grid):
        steps = np.diff(piece, axis=0)
        steps = steps[np.linalg.norm(steps, axis=1) > shortest]
        heading = np.arctan2(steps[:, 1], steps[:, 0])
        total += float(np.abs((np.diff(heading) + np.pi) % (2 * np.pi) - np.pi).sum())
    return total / np.pi


def steepness(logits: np.ndarray, grid: MoonGrid) -> float:
    """Mean length of the gradient of the probability along the boundary, a quarter of that of the logit.

    nan where there is no boundary: one class is predicted everywhere.
    """
    slopes = np.linalg.norm(np.gradient(logits, grid.x, grid.y), axis=0) / 4
    at = RegularGridInterpolator((grid.x, grid.y), slopes, bounds_error=False, fill_value=None)
    total, length = 0.0, 0.0
    for piece in boundary(logits, grid):
        steps = np.linalg.norm(np.diff(piece, axis=0), axis=1)
        total += float(at((piece[1:] + piece[:-1]) / 2) @ steps)
        length += float(steps.sum())
    return total / length if length else float("nan")


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


def _contrasts(gamma: float, lam: float) -> tuple[tuple[MoonLoss, str, MoonLoss, str, str], ...]:
    """First minus second, a loss and a column of `by_loss` each, and what a negative number means.

    Written down before the seeds of the chapter were run; all of them of the distance from the truth.
    """
    focal, both, plain, brier = MoonLoss(gamma), MoonLoss(gamma, lam), MoonLoss(), MoonLoss(brier=True)
    return (
        (both, "distance", focal, "distance", "as trained, FCL is nearer than focal loss"),
        (focal, "mapped_distance", focal, "distance", "its map brings focal loss nearer"),
        (both, "mapped_distance", both, "distance", "its map brings FCL nearer"),
        (focal, "mapped_distance", both, "distance", "the map does more than the square"),
        (focal, "mapped_distance", plain, "distance", "after the map focal loss beats cross-entropy"),
        (brier, "distance", plain, "distance", "Brier is nearer than cross-entropy"),
    )


def written_contrasts(table: pd.DataFrame, gamma: float, lam: float) -> pd.DataFrame:
    """The contrasts on a table of `by_loss`: mean difference over networks, 95 % t interval, Holm's p.

    Columns: question, difference, low, high, p (Holm), answer ('yes', 'no, the opposite' or 'open' at 5 %).

    Raises:
        ValueError: fewer than two networks.
    """
    by_name, rows, intervals = table.set_index("loss"), [], []
    for first, one, second, two, asks in _contrasts(gamma, lam):
        ours, theirs = by_name.loc[[first.label], one], by_name.loc[[second.label], two]
        interval = paired_t_interval(ours.to_numpy(), theirs.to_numpy())
        intervals.append(interval)
        rows.append((asks, interval.estimate, interval.low, interval.high))
    found = pd.DataFrame(rows, columns=["question", "difference", "low", "high"])
    found["p (Holm)"] = holm([t_p_value(interval) for interval in intervals])
    decided = found["p (Holm)"] <= 0.05
    found["answer"] = np.where(decided, np.where(found["difference"] < 0, "yes", "no, the opposite"), "open")
    return found
