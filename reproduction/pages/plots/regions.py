"""Predicted probabilities over the plane: where a classifier changes its mind, and how sure it is where."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure


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
