"""The line where a classifier of the plane changes its mind: how much it turns, how steep the probability is there."""

from __future__ import annotations

import numpy as np
from contourpy import contour_generator
from scipy.interpolate import RegularGridInterpolator

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
