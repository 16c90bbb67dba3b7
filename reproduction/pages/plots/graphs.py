"""What rests on what: a graph without cycles, drawn in rows, foundations at the bottom."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.figure import Figure

Node = str | tuple[str, int]  # a name, or where the lines down to a name pass a row
SWEEPS = 40  # of the ordering within rows; it settles after a few
LETTERS = 11  # on a line of a name, where a word ends by then
SIZE = 10.5  # points
LETTER = 0.6 * SIZE / 72  # inches, as wide as most letters are
ROW = 1.0  # inches
BAND = 0.28  # rows above and below a row's middle, which its boxes take: lines are upright there
PASSAGE, MARGIN = 2.0, 3.5  # letters as wide as the lines between two boxes, and as what is about a name
_WORDS = re.compile(r"[A-Z]+[^A-Z_]*_?|[^A-Z_]+_?|_")


def layered_figure(pairs: Iterable[tuple[str, str]], emphasised: Collection[str] = (), *, width: float = 9.0) -> Figure:
    """A box for each name, a line from each upper to what it rests on; what follows from other lines is left out.

    Lines pass between the boxes of the rows on their way; those that lead down to one box join there.

    Args:
        pairs: (upper, lower).
        emphasised: names with a darker box.
        width: in inches; more where a row needs it.

    Raises:
        ValueError: no pairs, or a cycle.
    """
    full = nx.DiGraph(list(pairs))
    if not full or not nx.is_directed_acyclic_graph(full):
        raise ValueError("pairs must be some, without a cycle. Got none, or a cycle.")
    graph = nx.transitive_reduction(full)
    rows: list[list[Node]] = [sorted(row) for row in nx.topological_generations(graph.reverse())]
    labels = {name: _in_lines(name) for name in graph}
    widths = {name: MARGIN + max(map(len, label.split("\n"))) for name, label in labels.items()}
    _pass_between(graph, rows)
    place = _order(graph, rows, widths)
    fullest = max(sum(_rooms(row, widths)) for row in rows)
    fig, ax = plt.subplots(figsize=(max(width, LETTER * fullest), ROW * len(rows) + 0.1))
    for upper, lower in graph.edges:
        ax.plot(*_line(place[upper], place[lower]), color="0.55", linewidth=1, zorder=1)
    for name, label in labels.items():
        colour = "#cfe3f3" if name in emphasised else "white"
        box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "0.4"}
        x, y = place[name]
        text = ax.text(x, y, label, ha="center", va="center", fontsize=SIZE, color="black")
        text.set(bbox=box, linespacing=1.05, zorder=2)
    ax.set(xlim=(0, 1), ylim=(-0.5, len(rows) - 0.5))
    ax.axis("off")
    plt.close(fig)  # shown where a cell ends in it, not before
    return fig


def _in_lines(name: str) -> str:
    """Broken where a word of 'snake_case' or 'CamelCase' begins, so that few lines are longer than LETTERS."""
    lines = [""]
    for word in _WORDS.findall(name):
        if lines[-1] and len(lines[-1]) + len(word) > LETTERS:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _pass_between(graph: nx.DiGraph, rows: Sequence[list[Node]]) -> None:
    """Each line that leads down by more than a row gets a place of its own in the rows between, one for each lower."""
    height = {name: i for i, row in enumerate(rows) for name in row}
    for upper, lower in list(graph.edges):
        if height[upper] - height[lower] > 1:
            graph.remove_edge(upper, lower)
            way = [lower, *((lower, i) for i in range(height[lower] + 1, height[upper])), upper]
            for below, above in itertools.pairwise(way):
                if above not in graph:
                    rows[above[1]].append(above)
                graph.add_edge(above, below)


def _order(graph: nx.DiGraph, rows: Sequence[list[Node]], widths: Mapping[Node, float]) -> dict[Node, np.ndarray]:
    """A place for each: rows from the bottom, within a row near what it is joined with (barycentres)."""
    place: dict[Node, np.ndarray] = {}
    for height, row in enumerate(rows):
        _spread(row, height, widths, place)
    for sweep in range(SWEEPS):
        upwards = list(enumerate(rows))
        for height, row in upwards if sweep % 2 == 0 else reversed(upwards):
            near = graph.successors if sweep % 2 == 0 else graph.predecessors
            middle = {node: np.mean([place[other][0] for other in near(node)] or [place[node][0]]) for node in row}
            row.sort(key=lambda node: (middle[node], str(node)))
            _spread(row, height, widths, place)
    return place


def _rooms(row: Sequence[Node], widths: Mapping[Node, float]) -> list[float]:
    """What each takes of a row, in letters."""
    return [widths.get(node, PASSAGE) for node in row]


def _spread(row: Sequence[Node], height: int, widths: Mapping[Node, float], place: dict[Node, np.ndarray]) -> None:
    """Over the width, each with room as it needs it."""
    room = np.array(_rooms(row, widths))
    room = room / room.sum()
    for node, x in zip(row, np.cumsum(room) - room / 2, strict=True):
        place[node] = np.array([x, float(height)])


def _line(upper: np.ndarray, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From one row to the next: upright beside boxes, bent between the rows."""
    t = np.linspace(0, 1, 25)
    bent = upper[0] + (lower[0] - upper[0]) * t**2 * (3 - 2 * t)
    x = np.concatenate([upper[:1], bent, lower[:1]])
    y = np.concatenate([upper[1:], upper[1] - BAND - (1 - 2 * BAND) * t, lower[1:]])
    return x, y
