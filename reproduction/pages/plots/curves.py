"""Families of curves, told apart by line style, colour and a legend."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from focal_lib.plots.colours import ACCENTS, colour_of
from focal_lib.plots.style import WIDTH, curve_styles, put_legend_below
from reproduction.pages.tables import in_words

# of an axis of calibration errors in per cent, logarithmic
ECE_TICKS: dict[str, Any] = {"xticks": [0.5, 1, 2, 5, 10, 20], "xticklabels": ["0.5", "1", "2", "5", "10", "20"]}


def line_figure(
    x: np.ndarray,
    curves: Mapping[str, np.ndarray],
    xlabel: str,
    ylabel: str,
    *,
    diagonal: bool = False,
    zero: bool = False,
    points: Mapping[str, tuple[float, float]] | None = None,
    broad: Collection[str] = (),
    **axes: Any,
) -> Figure:
    """One line for each entry of `curves` over x, (m,) each.

    Args:
        diagonal, zero: draw y = x, or y = 0, as a thin reference.
        points: labelled points (x, y) to mark.
        broad: curves drawn broad and pale, under the others, so that one that nearly coincides with them shows.
        axes: passed to Axes.set, such as xscale='log' or ylim=(0, 1).
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 4.2))
    if diagonal:
        ax.plot(x, x, color="0.6", linewidth=1)
    if zero:
        ax.axhline(0, color="0.3", linewidth=1)
    styles = curve_styles(sorted(curves, key=lambda label: label in broad))
    for label, y in curves.items():
        pale = {"linestyle": "-", "linewidth": 7, "alpha": 0.35, "zorder": 1.5} if label in broad else {}
        ax.plot(x, y, label=label, **(styles[label] | pale))
    for label, (px, py) in (points or {}).items():
        ax.plot(px, py, "ko", markersize=5)
        ax.annotate(label, (px, py), xytext=(6, 6), textcoords="offset points")
    return _finish(fig, legend=len(curves) > 1, xlabel=xlabel, ylabel=ylabel, **axes)


def point_figure(
    groups: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    xlabel: str,
    ylabel: str,
    *,
    reference: float | None = None,
    diagonal: bool = False,
    **axes: Any,
) -> Figure:
    """Points (x, y, error bar or None) for each group, joined by a line; y = x on request.

    An error bar is its half-width (m,), or how far it reaches below and above (2, m).
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 4.2))
    if diagonal:
        ax.axline((0, 0), slope=1, color="0.6", linewidth=1)
    if reference is not None:
        ax.axhline(reference, color="0.3", linewidth=1)
    styles = curve_styles(groups, markers=True)
    for label, (x, y, error) in groups.items():
        ax.errorbar(x, y, yerr=error, label=label, capsize=3, elinewidth=1.2, **styles[label])
    return _finish(fig, legend=len(groups) > 1, xlabel=xlabel, ylabel=ylabel, **axes)


def dot_figure(
    groups: Mapping[str, tuple[np.ndarray, np.ndarray]],
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]],
    xlabel: str,
    ylabel: str,
    *,
    reference: float | None = None,
    **axes: Any,
) -> Figure:
    """Every value as a dot, x (m,) and values (m, s) a group, groups a little aside of each other; and lines.

    A line has the colour of the group of its name, where there is one, else one of those that are left.
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 4.2))
    if reference is not None:
        ax.axhline(reference, color="0.3", linewidth=1)
    styles = curve_styles([*groups, *lines], markers=True)
    width = max(float(np.ptp(x)) for x, _ in groups.values()) or 1.0
    for place, (label, (x, values)) in enumerate(groups.items()):
        at = np.repeat(x + width * _aside(place, len(groups)), values.shape[1])
        dots = styles[label] | {"linestyle": "none", "markersize": 5, "alpha": 0.7}
        ax.plot(at, values.ravel(), label=f"{label}, networks" if label in lines else label, **dots)
    for label, (x, y) in lines.items():
        line = {key: value for key, value in styles[label].items() if key != "marker"}
        ax.plot(x, y, label=f"{label}, asked for" if label in groups else label, **line)
    return _finish(fig, legend=True, xlabel=xlabel, ylabel=ylabel, **axes)


def panel_figure(
    panels: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]]],
    xlabel: str,
    ylabel: str,
    *,
    reference: float | None = None,
    one_scale: bool = True,
    aside: bool = False,
    **axes: Any,
) -> Figure:
    """Panels beside each other, a title each, and the groups of `point_figure` in it; one legend.

    Args:
        one_scale: whether the panels have one y axis; not where they show things of different units.
        aside: whether groups stand a little aside of each other, so that bars and markers do not cover each other.
    """
    size = (3.1 * len(panels) + 0.6, 4.2)
    fig, row = plt.subplots(1, len(panels), figsize=size, sharey=one_scale, squeeze=False)
    styles = curve_styles((label for groups in panels.values() for label in groups), markers=True)
    for ax, (title, groups) in zip(row[0], panels.items(), strict=True):
        if reference is not None:
            ax.axhline(reference, color="0.3", linewidth=1)
        for place, (label, (x, y, error)) in enumerate(groups.items()):
            at = x + float(np.ptp(x)) * _aside(place, len(groups)) if aside else x
            ax.errorbar(at, y, yerr=error, label=label, capsize=3, elinewidth=1.2, **styles[label])
        ax.set(title=in_words(title), xlabel=xlabel, **axes)
    row[0, 0].set(ylabel=ylabel)
    put_legend_below(fig, row[0, 0], in_words)
    plt.close(fig)
    return fig


def interval_figure(
    labels: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    xlabel: str,
    *,
    reference: float | None = None,
    linear_within: float | None = None,
) -> Figure:
    """One row a label, the first on top: a point with its interval [low, high], in the colour of the loss it names.

    Args:
        linear_within: the axis is linear up to this distance from 0, and logarithmic beyond; None: linear everywhere.
    """
    fig, ax = plt.subplots(figsize=(7, 0.9 + 0.33 * len(labels)))
    if linear_within is not None:
        ax.set_xscale("symlog", linthresh=linear_within)
    if reference is not None:
        ax.axvline(reference, color="0.3", linewidth=1)
    rows = np.arange(len(labels))
    at = np.asarray(values, dtype=float)
    error = np.stack([at - np.asarray(low, dtype=float), np.asarray(high, dtype=float) - at])
    for row, label in enumerate(labels):
        colour = colour_of(label) or ACCENTS[0]
        ax.errorbar(at[row], row, xerr=error[:, row : row + 1], fmt="o", color=colour, capsize=3)
    ax.invert_yaxis()
    return _finish(fig, legend=False, yticks=rows, yticklabels=[in_words(label) for label in labels], xlabel=xlabel)


def row_figure(
    labels: Sequence[str], groups: Mapping[str, tuple[np.ndarray, np.ndarray | None]], xlabel: str, **axes: Any
) -> Figure:
    """One row a label, the first on top: a point and error bar (m,) of each group, a little aside of each other."""
    fig, ax = plt.subplots(figsize=(7, 1.3 + 0.38 * len(labels)))
    rows, styles = np.arange(len(labels)), curve_styles(groups, markers=True)
    for place, (label, (values, error)) in enumerate(groups.items()):
        at = rows + 0.22 * (place - (len(groups) - 1) / 2)
        dots = styles[label] | {"linestyle": "none", "capsize": 2, "elinewidth": 1.2}
        ax.errorbar(values, at, xerr=error, label=label, **dots)
    ax.invert_yaxis()
    ticks = {"yticks": rows, "yticklabels": [in_words(label) for label in labels]}
    return _finish(fig, legend=len(groups) > 1, xlabel=xlabel, **ticks, **axes)


def _aside(place: int, groups: int) -> float:
    """By how much of the width of the data one of several groups is moved, so that they stand beside each other."""
    return 0.012 * (place - (groups - 1) / 2)


def _finish(fig: Figure, *, legend: bool, **axes: Any) -> Figure:
    """The one panel labelled, its legend below, where nothing is drawn; shown where a cell ends in it, not before."""
    (ax,) = fig.axes
    ax.set(**axes)
    if legend:
        put_legend_below(fig, ax, in_words)
    plt.close(fig)
    return fig
