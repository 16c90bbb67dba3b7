"""What rests on what: named columns of boxes, lines from each to what it supports in the next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from focal_lib.plots.style import WIDTH

SWEEPS = 40  # of the ordering within columns; it settles after a few
LETTERS = 11  # on a line of a name, where a word ends by then
SIZE = 10.5  # points
LETTER, LINE = 0.6 * SIZE / 72, 1.25 * SIZE / 72  # inches, as wide as most letters are, as high as a line of them
BORDER = 0.25 * SIZE / 72  # inches, between letters and the edge of their box
GAP, APART, HEADER = 0.35, 0.14, 0.35  # inches: between columns at least, between the boxes of one, above them
_WORDS = re.compile(r"[A-Z]+[^A-Z_ ]*_?|[^A-Z_ ]+_?|[_ ]")


def columns_figure(
    columns: Mapping[str, Collection[str]],
    pairs: Sequence[tuple[str, str]],
    marks: Mapping[str, tuple[str, str]],
) -> Figure:
    """A box for each name under the header of its column, a line for each pair.

    Args:
        columns: header -> names, from left to right.
        pairs: (name, name in the next column).
        marks: name -> a word below it in its box, and the colour of that box.
    """
    column = {name: i for i, names in enumerate(columns.values()) for name in names}
    labels = {name: "\n".join([*_in_lines(name), *marks.get(name, ())[:1]]) for name in column}
    wide = [max(map(_widest, [header, *map(labels.__getitem__, names)])) for header, names in columns.items()]
    high = max(label.count("\n") + 1 for label in labels.values()) * LINE + 2 * BORDER + APART
    width = max(WIDTH, sum(wide) + GAP * (len(wide) - 1) + 2 * BORDER)
    height = HEADER + high * max(map(len, columns.values()))
    gap = (width - 2 * BORDER - sum(wide)) / max(1, len(wide) - 1)
    middle = [BORDER + sum(wide[:i]) + gap * i + wide[i] / 2 for i in range(len(wide))]
    down = {name: HEADER + share * (height - HEADER) for name, share in _order(columns.values(), pairs).items()}
    fig = plt.figure(figsize=(width, height))
    fig.set_layout_engine("none")  # places are in inches; an engine not set at first would come back in a notebook
    ax = fig.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    t = np.linspace(0, 1, 25)
    for left, right in pairs:  # bent between the columns
        i, j = column[left], column[right]
        x = np.r_[middle[i], np.linspace(middle[i] + wide[i] / 2, middle[j] - wide[j] / 2, len(t)), middle[j]]
        y = np.r_[down[left], down[left] + (down[right] - down[left]) * t**2 * (3 - 2 * t), down[right]]
        ax.plot(x, y, color="0.55", linewidth=1, zorder=1)
    for header, x in zip(columns, middle, strict=True):
        ax.text(x, HEADER / 2, header, ha="center", va="center", fontsize=SIZE, fontweight="bold")
    for name, label in labels.items():
        _, colour = marks.get(name, ("", "white"))
        text = ax.text(middle[column[name]], down[name], label, ha="center", va="center", fontsize=SIZE, zorder=2)
        text.set(bbox={"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "0.4"}, linespacing=1.05)
        text.set_color("white" if name in marks else "black")
    plt.close(fig)  # shown where a cell ends in it, not before
    return fig


def _in_lines(name: str) -> list[str]:
    """Broken where a word of 'snake_case' or 'CamelCase' begins, so that few lines are longer than LETTERS."""
    lines = [""]
    for word in _WORDS.findall(name):
        if lines[-1] and len(lines[-1]) + len(word) > LETTERS:
            lines.append("")
        lines[-1] += word
    return [line.strip() for line in lines]


def _widest(label: str) -> float:
    return LETTER * max(map(len, label.split("\n"))) + 2 * BORDER


def _order(columns: Iterable[Collection[str]], pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """A place for each, from 0 to 1 down its column, near what it is joined with (barycentres)."""
    rows = [list(names) for names in columns]
    place = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for sweep in range(SWEEPS):
        near: dict[str, list[str]] = {}
        for one, other in pairs if sweep % 2 else [(right, left) for left, right in pairs]:
            near.setdefault(one, []).append(other)
        for row in reversed(rows) if sweep % 2 else rows:
            middle = {name: np.mean([place[other] for other in near.get(name, [name])]) for name in row}
            row.sort(key=lambda name: (middle[name], name))
            place |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return place
