"""Reliability diagrams and the landscape of focal temperature scaling."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from focal_lib.metrics.bins import DEFAULT_BINS, Binning, Bins, reliability_bins_of
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.positive import checked_design, checked_event
from focal_lib.metrics.scores import checked_samples
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
            f"{count:,.0f}",
            (confidence, height),
            (0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            rotation=90,
        )
    below.margins(y=0.6)


def positive_reliability_diagram(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "mass",
    event: str = "event",
    weights: Any = None,
) -> Figure:
    """Observed share of an event against its predicted probability by bin; counts of samples and events below.

    The band holds all shares of a calibrated model with a probability of at least 95 %. Axes end where the bins and
    99.9 % of the probabilities do; those of an event in fewer than 5 % are logarithmic, as all counts are.

    Args:
        probs: (n,) probabilities of the event, or (n, 2) with the event last.
        labels: (n,) of 0 and 1, integers or truth values.
        binning: bins of equal 'mass' or of equal 'width'.
        event: name of the event, for the title.
        weights: (n,), sample weights; counts are then sums of weights.

    Raises:
        ValueError: as metrics.positive_ece.

    >>> fig = positive_reliability_diagram([0.01] * 500 + [0.04] * 500, [0] * 960 + [1] * 40)
    >>> fig.axes[0].get_ylabel(), fig.axes[1].get_xlabel()
    ('observed share', 'predicted probability')
    """
    p, y = checked_event(probs, labels, "positive_reliability_diagram")
    return event_panels({event: (p, y)}, n_bins, binning, checked_design(len(p), weights))


def class_reliability_diagrams(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "mass",
    names: Sequence[str] | None = None,
    classes: Sequence[int] | None = None,
    weights: Any = None,
) -> Figure:
    """A `positive_reliability_diagram` of each class against the others.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        names: of the K classes; their numbers if None.
        classes: which to draw; if None the twelve with the most samples, in their order.
        weights: (n,), sample weights, as `positive_reliability_diagram`.

    Raises:
        ValueError: as metrics.ece; names that are not K, classes that are not in 0 ... K-1.

    >>> fig = class_reliability_diagrams([[0.7, 0.2, 0.1]] * 10, [0] * 7 + [1] * 2 + [2], names=["cat", "dog", "fox"])
    >>> [ax.get_title() for ax in fig.axes if ax.get_title()]
    ['cat', 'dog', 'fox']
    """
    samples = checked_samples(probs, labels)
    called = [f"class {k}" for k in range(samples.classes)] if names is None else list(names)
    if len(called) != samples.classes:
        raise ValueError(f"names must be of the {samples.classes} classes. Got {len(called)}.")
    if classes is None:
        (count,) = samples.collect(lambda p, y: ((), (np.bincount(y, minlength=samples.classes),)))[1]
        classes = np.sort(np.argsort(-count, kind="stable")[:_MOST_PANELS]).tolist()
    if not len(classes) or not all(k in range(samples.classes) for k in classes):
        raise ValueError(f"classes must be of 0 ... {samples.classes - 1}, at least one. Got {list(classes)}.")
    columns, truth = samples.gather(lambda p, y: (np.minimum(p[:, classes], 1).astype(np.float64), y))
    panels = {called[k]: (columns[:, i], (truth == k).astype(float)) for i, k in enumerate(classes)}
    return event_panels(panels, n_bins, binning, checked_design(len(truth), weights))


_MOST_PANELS, _PER_ROW, _CELLS = 12, 4, 40
_RARE = 0.05  # share of events, observed or expected, below which axes are logarithmic
_EMPTY: dict[str, Any] = {"color": ACCENTS[0], "marker": "o", "linestyle": "none", "markerfacecolor": "white"}


def event_panels(
    panels: Mapping[str, tuple[np.ndarray, np.ndarray]], n_bins: int, binning: Binning, design: Design = PLAIN
) -> Figure:
    """Panels of probabilities (n,) and outcomes (n,), each with its title; their samples have the design's weights."""
    columns, rows = min(_PER_ROW, len(panels)), -(-len(panels) // _PER_ROW)
    fig = plt.figure(figsize=(max(WIDTH if columns == 1 else 0, 3.4 * columns), 5.2 * rows), layout="constrained")
    grid = fig.add_gridspec(2 * rows, columns, height_ratios=[3, 1] * rows)
    for i, (title, (p, y)) in enumerate(panels.items()):
        row, column = divmod(i, columns)
        top = fig.add_subplot(grid[2 * row, column])
        below = fig.add_subplot(grid[2 * row + 1, column], sharex=top)
        own, p, y = design.counted(p, y)
        _event_panel(top, below, p, y, reliability_bins_of(p, y, n_bins, binning=binning, weights=own.given), own)
        top.set_title(title)
        top.tick_params(labelbottom=False)
        below.set_xlabel("predicted probability")
        if column == 0:
            top.set_ylabel("observed share")
            below.set_ylabel("count")
    fullest = max(fig.axes[1::2], key=lambda ax: len(ax.get_legend_handles_labels()[1]))
    put_legend_below(fig, fullest)
    plt.close(fig)
    return fig


def _event_panel(top: Axes, below: Axes, p: np.ndarray, y: np.ndarray, bins: Bins, design: Design) -> None:
    low, high = bins.consistency_together()
    most = min(1.0, 1.05 * max(float(np.quantile(p, 0.999)), bins.confidence.max(), bins.accuracy.max())) or 1.0
    least, share, cells = 0.0, bins.accuracy, np.linspace(0, most, _CELLS + 1).tolist()
    if rare := min(design.mean(p), design.mean(y)) < _RARE:
        none = 0.5 / bins.count.max()  # half an event in a bin, for bins without one
        least = max(0.7 * min(none, bins.confidence[bins.confidence > 0].min(initial=most)), 1e-9)
        share, cells = np.maximum(share, none), np.geomspace(least, most, _CELLS + 1).tolist()
        top.set(xscale="log", yscale="log")
    top.plot([least, most], [least, most], color="0.4", linewidth=1)
    top.fill_between(bins.confidence, np.maximum(low, least), high, color="0.8", linewidth=0, zorder=0.5)
    top.plot(bins.confidence, share, "o-", color=ACCENTS[0])
    if rare:
        empty = bins.accuracy == 0
        top.plot(bins.confidence[empty], share[empty], **_EMPTY)
        if empty.any():
            below.plot([], [], label="no event, drawn at half of one", **_EMPTY)
    top.set(xlim=(least, most), ylim=(least, most))
    shown, w = np.clip(p, least, most), np.ones(len(p)) if design.given is None else design.given
    below.hist(shown, cells, weights=w, color="0.6", label="samples", log=True)
    if y.any():
        below.hist(shown[y == 1], cells, weights=w[y == 1], color=ACCENTS[1], label="events", log=True)
    below.set_ylim(bottom=0.7 * min(1.0, float(w.min())))


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
