"""What rests on what: a graph without cycles, drawn in rows, foundations at the bottom."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.figure import Figure

__all__ = ["layered_figure"]

SWEEPS = 20  # of the ordering within rows; it settles after a few


def layered_figure(pairs: Iterable[tuple[str, str]], emphasised: Collection[str] = (), *, width: float = 9.0) -> Figure:
    """A box for each name, a line from each upper to what it rests on; what follows from other lines is left out.

    Args:
        pairs: (upper, lower).
        emphasised: names with a darker box.
        width: in inches.

    Raises:
        ValueError: no pairs, or a cycle.
    """
    full = nx.DiGraph(list(pairs))
    if not full or not nx.is_directed_acyclic_graph(full):
        raise ValueError("pairs must be some, without a cycle. Got none, or a cycle.")
    graph = nx.transitive_reduction(full)
    rows = [sorted(row) for row in nx.topological_generations(graph.reverse())]
    place = _order(graph, rows)
    fig, ax = plt.subplots(figsize=(width, 0.8 * len(rows) + 0.3))
    for upper, lower in graph.edges:
        (x, y), (u, v) = place[upper], place[lower]
        ax.plot([x, u], [y, v], color="0.7", linewidth=0.8, zorder=1)
    for name, (x, y) in place.items():
        strong = name in emphasised
        box = {"boxstyle": "round,pad=0.25", "facecolor": "#cfe3f3" if strong else "white", "edgecolor": "0.4"}
        label = name.replace("_", "_\n") if len(name) > 12 else name
        ax.text(
            x, y, label, ha="center", va="center", fontsize=7.5, color="black", bbox=box, zorder=2, linespacing=0.95
        )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(rows) - 0.4))
    ax.axis("off")
    plt.close(fig)  # shown where a cell ends in it, not before
    return fig


def _order(graph: nx.DiGraph, rows: list[list[str]]) -> dict[str, tuple[float, float]]:
    """A place for each name: rows from the bottom, within a row near what it is joined with (barycentres)."""
    place: dict[str, tuple[float, float]] = {}
    for height, row in enumerate(rows):
        _spread(row, height, place)
    for sweep in range(SWEEPS):
        upwards = list(enumerate(rows))
        for height, row in upwards if sweep % 2 == 0 else reversed(upwards):
            near = graph.successors if sweep % 2 == 0 else graph.predecessors
            middle = {name: np.mean([place[other][0] for other in near(name)] or [place[name][0]]) for name in row}
            row.sort(key=lambda name: (middle[name], name))
            _spread(row, height, place)
    return place


def _spread(row: list[str], height: int, place: dict[str, tuple[float, float]]) -> None:
    """Evenly over the width."""
    for i, name in enumerate(row):
        place[name] = ((i + 0.5) / len(row), float(height))
