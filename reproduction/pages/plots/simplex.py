"""Pictures on the triangle of three class probabilities."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from focal_lib.plots.colours import ACCENTS

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def project(probs: np.ndarray) -> np.ndarray:
    """Points of the simplex of three classes to the plane: (..., 3) -> (..., 2)."""
    return probs @ _CORNERS


def simplex_grid(steps: int) -> np.ndarray:
    """Interior points (m, 3) of a triangular grid with `steps` cells a side."""
    cells = [(i, j, steps - i - j) for i in range(1, steps) for j in range(1, steps - i)]
    return np.array(cells, dtype=np.float64) / steps


def _triangle(ax: Axes, title: str) -> None:
    ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color="black", linewidth=1)
    for corner, name, offset in zip(
        _CORNERS, ("class 1", "class 2", "class 3"), ((-4, -12), (4, -12), (0, 5)), strict=True
    ):
        ax.annotate(name, corner, xytext=offset, textcoords="offset points", ha="center", fontsize=9)
    ax.set_title(title, pad=14)
    ax.set_aspect("equal")
    ax.axis("off")


def _panels(n: int) -> tuple[Figure, list[Axes]]:
    fig, axes = plt.subplots(-(-n // 2), min(n, 2), figsize=(4.2 * min(n, 2), 3.9 * -(-n // 2)), squeeze=False)
    return fig, list(axes.ravel())


def arrow_fields(points: np.ndarray, moved: Mapping[str, np.ndarray]) -> Figure:
    """Arrows from points (m, 3) to where each map takes them, one panel a map."""
    fig, axes = _panels(len(moved))
    start = project(points)
    for ax, (title, target) in zip(axes, moved.items(), strict=False):
        step = project(target) - start
        ax.quiver(*start.T, *step.T, angles="xy", scale_units="xy", scale=1, width=0.004, color=ACCENTS[0])
        _triangle(ax, title)
    plt.close(fig)
    return fig


def isolines(
    points: np.ndarray, values: Mapping[str, np.ndarray], percentiles: list[float], truth: np.ndarray
) -> Figure:
    """Contours of values (m,) at percentiles of each panel, with the true distribution marked."""
    fig, axes = _panels(len(values))
    x, y = project(points).T
    styles = ["solid", "dashed", "dotted"]
    for ax, (title, value) in zip(axes, values.items(), strict=False):
        levels = np.percentile(value, percentiles)
        ax.tricontour(x, y, value, levels=levels, colors=ACCENTS[0], linestyles=styles[: len(levels)])
        ax.plot(*project(truth), "kx", markersize=8)
        _triangle(ax, title)
    plt.close(fig)
    return fig


def maps_on_triangle(points: np.ndarray, values: Mapping[str, np.ndarray], label: str) -> Figure:
    """Values (m,) as shades on the triangle, one panel each, with a common scale and contour lines."""
    fig, axes = _panels(len(values))
    top = max(float(np.abs(v).max()) for v in values.values())
    x, y = project(points).T
    for ax, (title, value) in zip(axes, values.items(), strict=False):
        levels = MaxNLocator(8).tick_values(0, top)
        shades = ax.tricontourf(x, y, value, levels=levels, cmap="cividis")
        shades.set_rasterized(True)  # as paths they take a third of a megabyte
        ax.tricontour(x, y, value, levels=levels[1:-1], colors="white", linewidths=0.6)
        _triangle(ax, title)
    fig.colorbar(shades, ax=axes, label=label, shrink=0.8)
    plt.close(fig)
    return fig
