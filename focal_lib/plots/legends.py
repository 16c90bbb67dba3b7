"""The legend of a figure, below its panels."""

from __future__ import annotations

import re
from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

_LETTERS = 13  # of a legend, on an inch
_MOST = 4  # columns
_ROW = 0.24  # inches
_GAP = 4  # letters between columns
_LINE = 9 + _GAP  # as wide as a sample of a line with the space about it; see legend.handlelength in `style`
_MARK = 5 + _GAP  # the same of a mark
_COMMAND = re.compile(r"\\[a-z]+|[${}^_\\]")


def put_legend_below(fig: Figure, ax: Axes, spell: Callable[[str], str] = str) -> None:
    """Put the panel's legend below the figure, in as many columns as fit; the figure grows by its rows.

    It is aligned left, since a phone first shows the left part of a wide figure. Without labels nothing changes.

    Args:
        spell: maps a label to the printed text.
    """
    handles, names = ax.get_legend_handles_labels()
    labels = [spell(name) for name in names]
    if not labels:
        return
    marks = all(isinstance(handle, Line2D) and handle.get_linestyle() == "None" for handle in handles)
    longest = max(len(_COMMAND.sub("", label)) for label in labels) + (_MARK if marks else _LINE)
    columns = min(_MOST, len(labels), max(1, int((_LETTERS * fig.get_figwidth() + _GAP) // longest)))
    fig.set_layout_engine("constrained")  # else it would lie upon the words of the axis
    fig.set_figheight(fig.get_figheight() + _ROW * -(-len(labels) // columns))
    length = {"handlelength": 1.5} if marks else {}
    fig.legend(handles, labels, loc="outside lower left", ncols=columns, **length)
