"""The style of every figure: colours (see `colours`), line styles that work without colour, fonts and sizes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from focal_lib.plots.colours import CROSS_ENTROPY, SERIES, apart, colour_of

WIDTH = 6.0  # inches, of a figure of one panel: on a phone, 27rem wide, a point of its letters is a pixel

# One of each a curve: grey print keeps them apart.
DASHES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (9, 3)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (2, 2)),
    (0, (10, 2, 3, 2)),
    (0, (1, 4)),
    (0, (4, 1.5, 4, 1.5, 1, 1.5)),
)
MARKERS = "os^DvPXd<>"
FILLS: tuple[dict[str, Any], ...] = (  # of markers that have one colour: full, empty, half full
    {},
    {"markerfacecolor": "white", "markersize": 7},
    {"fillstyle": "bottom", "markerfacecoloralt": "white", "markersize": 8},
)
LIKE = 0.11  # colours that are no farther apart look alike to some reader, see `apart`


def curve_styles(labels: Iterable[str], markers: bool = False) -> dict[str, dict[str, Any]]:
    """Label -> keyword arguments for Axes.plot; the curves of a figure differ by more than colour.

    A curve whose label names a loss always has that loss's colour. Other curves get colours unlike those of the losses
    in the figure, if there are any left. Of curves of one colour the second has empty markers, the third half-filled
    ones. Cross-entropy is a solid black line; no other line in its figure is solid.

    Raises:
        ValueError: more curves than can be distinguished without colour.
    """
    names = list(dict.fromkeys(labels))
    if len(names) > len(DASHES):
        raise ValueError(f"a figure must have at most {len(DASHES)} curves. Got {len(names)}: {', '.join(names)}.")
    of_losses = [colour for colour in map(colour_of, names) if colour]
    free = sorted(SERIES, key=lambda colour: any(apart(colour, taken) < LIKE for taken in of_losses))
    series = iter(free * len(names))
    colours = {name: colour_of(name) or next(series) for name in names}
    order = sorted(names, key=lambda name: colours[name] != CROSS_ENTROPY)
    shapes = dict(zip(order, zip(DASHES, MARKERS, strict=True), strict=False))
    styles: dict[str, dict[str, Any]] = {n: {"color": colours[n], "linestyle": shapes[n][0]} for n in names}
    if not markers:
        return styles
    for i, name in enumerate(names):
        before = sum(colours[other] == colours[name] for other in names[:i])
        styles[name] |= {"marker": shapes[name][1]} | FILLS[before % len(FILLS)]
    return styles


def use_style() -> None:
    """Set the book's matplotlib style for the session; notebooks show SVG, smaller than PNG and sharp in print.

    The background is white in the file, which suits any reader of the notebook; the book's style sheet replaces it. No
    single colour of text would suit both pages: its contrast is below 4.5 on one of them.
    """
    mpl.rcParams.update(
        {
            "axes.axisbelow": True,
            "axes.edgecolor": ".8",
            "axes.grid": True,
            "axes.labelsize": 12,
            "axes.linewidth": 1.25,
            "axes.prop_cycle": cycler(color=SERIES),
            "axes.titlesize": 12,
            "font.family": ["sans-serif"],
            "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif"],
            "font.size": 12,
            "legend.fontsize": 11,
            "legend.title_fontsize": 12,
            "lines.solid_capstyle": "round",
            "patch.edgecolor": "w",
            "patch.force_edgecolor": True,
            "xtick.bottom": False,
            "xtick.labelsize": 11,
            "xtick.major.size": 6,
            "xtick.major.width": 1.25,
            "xtick.minor.size": 4,
            "xtick.minor.width": 1,
            "ytick.labelsize": 11,
            "ytick.left": False,
            "ytick.major.size": 6,
            "ytick.major.width": 1.25,
            "ytick.minor.size": 4,
            "ytick.minor.width": 1,
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "figure.constrained_layout.h_pad": 0.1,  # inches: titles do not touch the panel above
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "svg.hashsalt": "focal",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "grid.color": "#d4d4d4",
            "grid.linewidth": 0.8,
            "axes.labelcolor": "black",
            "text.color": "black",
            "xtick.color": "black",
            "ytick.color": "black",
            "lines.linewidth": 1.8,
            "legend.frameon": False,
            "legend.handlelength": 3.6,  # of the size of letters: the longest of DASHES once, and where it begins anew
        }
    )
    ipython = sys.modules.get("IPython")  # `focal calibrate` draws without it
    if ipython is not None and ipython.get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", "png", metadata={"Date": None})  # the latter for small pictures on cards


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
