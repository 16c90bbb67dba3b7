"""One look for every figure: readable without colour, the same fonts and sizes everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
import seaborn as sns

__all__ = ["LINES", "line_styles", "loss_styles", "use_style"]

# Okabe-Ito colours, each with a line style and a marker of its own: grey print keeps them apart.
LINES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "linestyle": "-", "marker": "o"},
    {"color": "#D55E00", "linestyle": "--", "marker": "s"},
    {"color": "#009E73", "linestyle": "-.", "marker": "^"},
    {"color": "#CC79A7", "linestyle": ":", "marker": "D"},
    {"color": "#E69F00", "linestyle": (0, (5, 1, 1, 1)), "marker": "v"},
    {"color": "#56B4E9", "linestyle": (0, (3, 1)), "marker": "P"},
    {"color": "#000000", "linestyle": (0, (1, 1)), "marker": "X"},
)


def line_styles(n: int, markers: bool = False) -> list[dict[str, Any]]:
    """n sets of keyword arguments for Axes.plot, told apart by more than colour."""
    styles = [dict(s) for s, _ in zip(cycle(LINES), range(n), strict=False)]
    return styles if markers else [{k: v for k, v in s.items() if k != "marker"} for s in styles]


def loss_styles(losses: Sequence[str], markers: bool = False) -> list[dict[str, Any]]:
    """As `line_styles`, for losses: cross-entropy is a black line, the others have the colours in their order."""
    others = iter(line_styles(len(losses), markers))
    black = {"color": "#000000", "linestyle": "-"} | ({"marker": "*"} if markers else {})
    return [black if loss == "cross-entropy" else next(others) for loss in losses]


def use_style() -> None:
    """Set the book's matplotlib style for the session."""
    sns.set_theme(context="notebook", style="whitegrid", palette=[s["color"] for s in LINES])
    mpl.rcParams.update(
        {
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "lines.linewidth": 1.8,
            "legend.frameon": False,
        }
    )
