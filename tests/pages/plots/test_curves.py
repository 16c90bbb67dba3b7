"""Families of curves and points."""

import numpy as np

from focal_lib.pages.plots.curves import interval_figure, line_figure, point_figure, scatter_figure

X = np.linspace(0, 1, 5)


def test_lines_have_labels_of_their_own_and_marked_points():
    fig = line_figure(X, {"a": X, "b": X**2}, "x", "y", zero=True, points={"here": (0.5, 0.25)}, ylim=(-1, 1))
    (ax,) = fig.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert [text.get_text() for text in ax.texts] == ["here"]
    assert ax.get_ylim() == (-1, 1)


def test_one_line_needs_no_legend():
    assert line_figure(X, {"a": X}, "x", "y").axes[0].get_legend() is None


def test_points_carry_their_error_bars():
    (ax,) = point_figure({"a": (X, X, np.full(5, 0.1)), "b": (X, X, None)}, "x", "y", reference=0).axes
    with_bars, without = ax.containers
    assert with_bars.has_yerr
    assert not without.has_yerr


def test_intervals_stand_from_top_to_bottom():
    (ax,) = interval_figure(["first", "second"], [1, 2], [0, 1], [2, 4], "difference", reference=0).axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first", "second"]
    assert ax.yaxis_inverted()
    (segment, *_) = ax.containers[0][2][0].get_segments()
    assert segment[:, 0].tolist() == [0, 2]


def test_scatter_has_no_lines_between_points():
    (ax,) = scatter_figure({"a": (X, X), "b": (X, 1 - X)}, "x", "y", diagonal=True).axes
    assert [line.get_linestyle() for line in ax.lines[:2]] == ["None", "None"]
