"""Training as pictures: panels over the epochs, histograms and reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from focal_lib.metrics.bins import Bins
from focal_lib.plots.colours import ACCENTS, colour_of
from focal_lib.plots.style import curve_styles, put_legend_below
from reproduction.pages.tables import in_words

MANY = 20  # samples in a bin whose accuracy is shown
Band = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # x, mean, lowest, highest; (m,) each


def epoch_panels(
    panels: Mapping[str, Mapping[str, Band]],
    xlabel: str = "epoch",
    *,
    columns: int = 2,
    marks: Sequence[float] = (),
    zero: Sequence[str] = (),
) -> Figure:
    """A panel for each title, in it a line with its band for each loss; one legend for all.

    Args:
        panels: title -> loss -> (x, mean, lowest, highest).
        columns: of panels, side by side.
        marks: x at which all panels have a thin upright line.
        zero: titles of panels with a thin line at 0.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    fig, axes = plt.subplots(rows, columns, figsize=(4.1 * columns, 3.0 * rows), sharex=True, squeeze=False)
    styles = curve_styles(label for curves in panels.values() for label in curves)
    for ax, (title, curves) in zip(axes.flat, panels.items(), strict=False):
        for mark in marks:
            ax.axvline(mark, color="0.6", linewidth=1)
        if title in zero:
            ax.axhline(0, color="0.3", linewidth=1)
        for label, (x, mean, low, high) in curves.items():
            ax.plot(x, mean, label=label, **styles[label])
            ax.fill_between(x, low, high, color=styles[label]["color"], alpha=0.15, linewidth=0)
        ax.set_title(title)
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    for ax in list(axes.flat)[max(0, len(panels) - columns) : len(panels)]:
        ax.set_xlabel(xlabel)
        ax.tick_params(labelbottom=True)
    put_legend_below(fig, axes.flat[0], in_words)
    plt.close(fig)
    return fig


def histogram_panels(panels: Mapping[str, Mapping[str, np.ndarray]], xlabel: str, *, lowest: float) -> Figure:
    """Side by side: for each title the histogram of each loss's values, on one logarithmic axis.

    Args:
        panels: title -> loss -> values (n,), at least 0.
        lowest: smaller values are counted in the first bin.
    """
    highest = max(float(np.max(values)) for losses in panels.values() for values in losses.values())
    edges = np.geomspace(lowest, max(highest, 2 * lowest), 31)
    fig, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.4), sharey=True, squeeze=False)
    styles = curve_styles(label for losses in panels.values() for label in losses)
    for ax, (title, losses) in zip(axes[0], panels.items(), strict=True):
        for label, values in losses.items():
            shares = np.histogram(np.clip(values, lowest, None), edges)[0] / len(values)
            ax.stairs(shares, edges, label=label, linewidth=1.6, **styles[label])
        ax.set(title=title, xscale="log", xlabel=xlabel)
    axes[0, 0].set_ylabel("share of the samples")
    put_legend_below(fig, axes[0, 0], in_words)
    plt.close(fig)
    return fig


def reliability_strip(rows: Mapping[str, Mapping[str, Bins]]) -> Figure:
    """A row a loss, a column a moment: accuracy over confidence by bin, and how many samples each bin holds.

    Args:
        rows: loss -> title of the moment -> bins; each row with the same moments.
    """
    titles = list(next(iter(rows.values())))
    fig, axes = plt.subplots(
        len(rows), len(titles), figsize=(2.3 * len(titles), 2.3 * len(rows)), sharex=True, sharey=True, squeeze=False
    )
    for line, (loss, moments) in zip(axes, rows.items(), strict=True):
        for ax, bins in zip(line, moments.values(), strict=True):
            _reliability(ax, bins, loss)
        line[0].set_ylabel(f"{loss}\naccuracy")
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("confidence")
    plt.close(fig)
    return fig


def _reliability(ax: Axes, bins: Bins, loss: str) -> None:
    """Shares as grey bars, gaps as orange lines, accuracies in the loss's colour; of bins with few samples no more."""
    ax.bar(bins.confidence, bins.count / bins.count.sum(), width=0.05, color="0.8", linewidth=0)
    ax.plot([0, 1], [0, 1], color="0.4", linewidth=1)
    many = bins.count >= MANY
    confidence, accuracy = bins.confidence[many], bins.accuracy[many]
    ax.vlines(confidence, accuracy, confidence, color=ACCENTS[1], linewidth=1.5)
    colour = colour_of(loss) or ACCENTS[0]
    ax.plot(confidence, accuracy, "o-", color=colour, markersize=3, linewidth=1.2)
    ax.set(xlim=(0, 1.03), ylim=(0, 1.03))
