"""Reliability diagrams and the landscape of focal temperature scaling."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from focal_lib.metrics.bins import Bins
from focal_lib.plots.colours import ACCENTS
from focal_lib.plots.style import WIDTH, put_legend_below


def reliability_diagrams(panels: Mapping[str, Bins], bands: bool = False) -> Figure:
    """Accuracy against confidence by bin, one panel each; bars of counts below, gaps hatched.

    Args:
        bands: shade the simultaneous 95 % bands of a calibrated model's accuracies; write the counts.
    """
    fig, axes = plt.subplots(
        2, len(panels), figsize=(4.1 * len(panels), 4.8), sharex=True, sharey="row", height_ratios=[3, 1], squeeze=False
    )
    for (top, below), (title, bins) in zip(axes.T, panels.items(), strict=True):
        top.plot([0, 1], [0, 1], color="0.4", linewidth=1)
        low, high = np.minimum(bins.accuracy, bins.confidence), np.maximum(bins.accuracy, bins.confidence)
        top.bar(bins.confidence, high - low, bottom=low, width=0.045, color="none", edgecolor=ACCENTS[1], hatch="////")
        if bands:
            _bands(top, below, bins)
        top.plot(bins.confidence, bins.accuracy, "o-", color=ACCENTS[0])
        below.bar(bins.confidence, bins.count / bins.count.sum(), width=0.045, color="0.5")
        below.set(xlabel="confidence", xlim=(0, 1.02))
        top.set(title=title, ylim=(0, 1.02))
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("share")
    plt.close(fig)
    return fig


def _bands(top: Axes, below: Axes, bins: Bins) -> None:
    low, high = bins.consistency_together()
    top.bar(bins.confidence, high - low, bottom=low, width=0.055, color="0.8", linewidth=0, zorder=0.5)
    for confidence, count in zip(bins.confidence, bins.count, strict=True):
        height = count / bins.count.sum()
        below.annotate(
            f"{count:,}", (confidence, height), (0, 2), textcoords="offset points", ha="center", fontsize=8, rotation=90
        )
    below.margins(y=0.6)


def landscape(
    gammas: np.ndarray,
    temperatures: np.ndarray,
    ece: np.ndarray,
    best: Mapping[str, tuple[float, float]],
    metric: str = "adaptive ECE",
) -> Figure:
    """ECE (len(temperatures), len(gammas)) in per cent as contours over gamma and T, with marked points."""
    fig, ax = plt.subplots(figsize=(WIDTH, 4.4))
    shades = ax.contourf(gammas, temperatures, 100 * ece, levels=12, cmap="cividis_r")
    ax.contour(gammas, temperatures, 100 * ece, levels=12, colors="white", linewidths=0.5)
    for (name, (g, t)), marker in zip(best.items(), itertools.cycle("osD^vPX*"), strict=False):
        ax.plot(
            g,
            t,
            marker,
            color="white",
            markeredgecolor="black",
            markersize=9,
            label=name.replace("-", " ").replace("ece", "ECE"),
            clip_on=False,
            zorder=5,
        )
    ax.set(xlabel=r"$\gamma$ of the calibration map", ylabel="temperature $T$")
    fig.colorbar(shades, ax=ax, label=f"{metric} (%)")
    put_legend_below(fig, ax)
    plt.close(fig)
    return fig
