"""People's votes and what a network says, as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from focal_lib.plots.colours import ACCENTS
from focal_lib.plots.style import WIDTH, put_legend_below
from reproduction.pages.plots.curves import panel_figure


def bar_figure(classes: Sequence[str], shares: Mapping[str, np.ndarray], ylabel: str) -> Figure:
    """For each class a bar of each of `shares`, (K,) each, side by side; the axis has square roots."""
    fig, ax = plt.subplots(figsize=(WIDTH, 3.8))
    width = 0.8 / len(shares)
    at = np.arange(len(classes))
    for place, (label, values) in enumerate(shares.items()):
        colour = "0.25" if place == 0 else ACCENTS[place - 1]
        ax.bar(at + (place - (len(shares) - 1) / 2) * width, values, width, label=label, color=colour)
    ax.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0)), np.square))
    ax.set(xticks=at, ylabel=ylabel, ylim=(0, 1), yticks=[0, 0.01, 0.05, 0.1, 0.25, 0.5, 1])
    ax.set_xticklabels(classes, rotation=30, ha="right")
    put_legend_below(fig, ax, str)
    plt.close(fig)
    return fig


def valley_figure(curves: pd.DataFrame, names: Sequence[str]) -> Figure:
    """A panel a set of runs: how far NLL of the labels and KL from people lie above their least, over the temperature.

    Args:
        curves: `contrasts.read_curves`.
    """
    panels = {}
    for name in dict.fromkeys(names):
        own = curves[curves["record"] == name]
        above = {"to labels": own["nll"] - own["nll"].min(), "to people": own["kl"] - own["kl"].min()}
        panels[name] = {
            whom: (own["temperature"].to_numpy(), values.to_numpy(), None) for whom, values in above.items()
        }
    limits: dict[str, Any] = {"xlim": (0.8, 5), "ylim": (0, 0.12), "xticks": [1, 2, 3, 4, 5]}
    return panel_figure(panels, "temperature", "above the least (nats)", **limits)
