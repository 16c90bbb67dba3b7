"""Shades over two axes: a cell for each value, with its number; probabilities over the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from focal_lib.plots.colours import ACCENTS


def cell_map(
    values: pd.DataFrame,
    xlabel: str,
    ylabel: str,
    label: str,
    *,
    marked: Sequence[tuple[float, float]] = (),
    signed: bool = False,
    digits: int = 1,
) -> Figure:
    """A cell for each column (across) and index (upwards) of the values; cells are as wide, however far apart they lie.

    Args:
        label: of the shades.
        marked: pairs (column, index) whose cells have a frame; those that are not there are left out.
        signed: shades of two colours, white at 0.
    """
    numbers = values.to_numpy()
    fig, ax = plt.subplots(figsize=(1.1 + 0.95 * max(3, numbers.shape[1]), 1.4 + 0.45 * numbers.shape[0]))
    most = max(float(np.nanmax(np.abs(numbers))), 1e-12)
    shades = {"cmap": "RdBu_r", "vmin": -most, "vmax": most} if signed else {"cmap": "cividis_r"}
    image = ax.imshow(numbers, origin="lower", aspect="auto", **shades)
    for (row, column), number in np.ndenumerate(numbers):
        if np.isfinite(number):
            ink = _ink_on(np.asarray(image.cmap(image.norm(number))))
            ax.text(column, row, f"{number:.{digits}f}", ha="center", va="center", color=ink)
    for x, y in marked:
        if x in values.columns and y in values.index:
            column, row = int(np.flatnonzero(values.columns == x)[0]), int(np.flatnonzero(values.index == y)[0])
            corner = (column - 0.46, row - 0.44)
            ax.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, edgecolor=ACCENTS[1], linewidth=3))
    ax.set(xlabel=xlabel, ylabel=ylabel, xticks=range(len(values.columns)), yticks=range(len(values.index)))
    ax.set_xticklabels([f"{x:g}" for x in values.columns])
    ax.set_yticklabels([f"{y:g}" for y in values.index])
    ax.grid(False)
    fig.colorbar(image, ax=ax, label=label)
    plt.close(fig)
    return fig


def _ink_on(colour: np.ndarray) -> str:
    """Black or white, which has the larger contrast on an RGB colour (relative luminance as in WCAG 2)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3].tolist())
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def probability_regions(
    x: np.ndarray,
    y: np.ndarray,
    panels: Mapping[str, np.ndarray],
    samples: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    columns: int = 3,
) -> Figure:
    """Probability of class 1, (len(x), len(y)) a panel, as shades; a line at 1/2, dashed ones at 0.1 and 0.9.

    Args:
        samples: points (n, 2) and labels (n,), drawn in each panel, class 0 as dots and class 1 as crosses.
    """
    rows = -(-len(panels) // columns)
    fig, axes = plt.subplots(
        rows, columns, figsize=(3.3 * columns, 2.9 * rows), sharex=True, sharey=True, squeeze=False
    )
    for ax in axes.ravel()[len(panels) :]:
        ax.axis("off")
    for ax, (title, probs) in zip(axes.ravel(), panels.items(), strict=False):
        shades = ax.contourf(x, y, probs.T, levels=np.linspace(0, 1, 11), cmap="PuOr_r", alpha=0.85)
        shades.set_rasterized(True)  # as paths they take half a megabyte
        for level, style in ((0.1, "--"), (0.5, "-"), (0.9, "--")):
            if probs.min() < level < probs.max():
                ax.contour(x, y, probs.T, levels=[level], colors="black", linestyles=style, linewidths=1.3)
        if samples is not None:
            points, labels = samples
            for of_class, marker in ((0, "."), (1, "x")):
                ax.plot(*points[labels == of_class].T, marker, color="0.25", markersize=3, markeredgewidth=0.7)
        ax.set(title=title, xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
        ax.grid(False)
    fig.colorbar(shades, ax=axes, label="probability of class 1", shrink=0.8, ticks=[0, 0.1, 0.3, 0.5, 0.7, 0.9, 1])
    plt.close(fig)
    return fig
