"""The law as a picture: every network a point.

python -m reproduction.studies.law.figures book/_static/law.png     # for the README
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from focal_lib.plots.colours import ACCENTS
from focal_lib.plots.style import WIDTH, put_legend_below, use_style
from reproduction.pages.explore import Network
from reproduction.studies.law.earlier import OUT
from reproduction.studies.law.judged import CELL, read_law

FALLS, RISES = ACCENTS
_FARTHEST = 30.0  # points of overconfidence that are drawn; what lies beyond is counted
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
_AROUND = 2.0  # points beside the outermost network
_MODELS: dict[Any, str] = {"small-cnn": "small CNN", "mlp": "MLP", "small-vit": "small ViT", "gp-cnn": "text CNN"}
_DATA: dict[Any, str] = {
    "fashion-mnist": "images of Fashion-MNIST",
    "mnist-5k": "MNIST digits",
    "cifar10": "images of CIFAR-10",
    "cifar100": "images of CIFAR-100",
    "movie-reviews": "film reviews",
    "film-snippets-2": "review sentences, two classes",
    "film-snippets-3": "review sentences, three classes",
}


def networks(runs: pd.DataFrame) -> list[Network]:
    """The kinds of networks, from the most underconfident to the most overconfident: means over seeds."""
    found = []
    for (dataset, model, n_train, epochs), own in runs.groupby(CELL):
        overconfident, plain, scaled = own[["cross_entropy", "cross_entropy_ece", "temperature_ece"]].mean()
        focal = own.groupby("gamma")[["added", "test_ece"]].mean().reset_index()
        name = f"{_MODELS[model]} on {n_train:,} {_DATA[dataset]}, {epochs} epochs"
        found.append(Network(name, overconfident, plain, scaled, [*focal.itertuples(index=False, name=None)]))
    return sorted(found, key=lambda network: network.overconfident)


def law_figure(runs: pd.DataFrame, earlier: pd.DataFrame | None = None) -> Figure:
    """Overconfidence G of cross-entropy against the confidence D that the map adds, coloured by what ECE does.

    Args:
        runs: rows with cross_entropy, added and change, in points: circles.
        earlier: rows alike, of runs that the law was found on: squares.
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 4.6))
    sets = [("o", "", runs), *([] if earlier is None else [("s", ", earlier runs", earlier)])]
    whole = pd.concat([part for _, _, part in sets])
    low, high = whole["cross_entropy"].min() - _AROUND, min(whole["cross_entropy"].max() + _AROUND, _FARTHEST)
    top = whole["added"].max() + _AROUND
    g = np.array([0.0, high])
    ax.plot(g, 2 * g, color="black", label="$D = 2G$")
    ax.plot(g, g, color="black", linestyle="--", linewidth=1, label="$D = G$: best")
    ax.axvline(0, color="0.6", linewidth=0.8)
    for marker, of, part in sets:
        for colour, word, inside in ((FALLS, "falls", part["change"] < 0), (RISES, "rises", part["change"] >= 0)):
            own = part[inside]
            ax.plot(
                own["cross_entropy"],
                own["added"],
                marker,
                color=colour,
                fillstyle="full" if word == "falls" else "none",
                markersize=5,
                alpha=0.85,
                linestyle="none",
                label=f"ECE {word}{of}",
            )
    ax.set(xlim=(low, high), ylim=(0, top))
    beyond = whole[whole["cross_entropy"] > high]
    if len(beyond):
        said = f"{len(beyond)} more to the right,\nECE falls in {(beyond['change'] < 0).sum()} of them"
        ax.annotate(said, (0.99, 0.9), xycoords="axes fraction", ha="right", va="top", fontsize="small", bbox=_PAPER)
    ax.set(xlabel="overconfidence of cross-entropy, $G$ (points)", ylabel="confidence that the map adds, $D$ (points)")
    return _finished(fig, ax)


def prediction_figure(runs: pd.DataFrame) -> Figure:
    """Predicted against true overconfidence of focal networks, without and with sharpening; both in points."""
    fig, ax = plt.subplots(figsize=(WIDTH, 4.2))
    ends = [runs[["own", "plain_own"]].min().min() - _AROUND, runs[["own", "sharper_own"]].max().max() + _AROUND]
    ax.plot(ends, ends, color="0.6", linewidth=1)
    for name, label, marker, fill in (
        ("plain", "the map alone", "o", "none"),
        ("sharper", "with sharpening", "o", "full"),
    ):
        colour = RISES if name == "plain" else FALLS
        style: dict[str, Any] = {
            "marker": marker,
            "fillstyle": fill,
            "linestyle": "none",
            "markersize": 5,
            "color": colour,
        }
        ax.plot(runs[f"{name}_own"], runs["own"], label=label, **style)
    ax.set(xlabel="predicted from the cross-entropy run (points)", ylabel="confidence $-$ accuracy (points)")
    return _finished(fig, ax)


def _finished(fig: Figure, ax: Axes) -> Figure:
    put_legend_below(fig, ax)
    plt.close(fig)
    return fig


if __name__ == "__main__":
    use_style()
    law_figure(read_law(), pd.read_parquet(OUT)).savefig(Path(sys.argv[1]), dpi=110)
