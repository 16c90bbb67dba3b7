"""Families of curves and points."""

import numpy as np
import pytest

from reproduction.pages.plots.curves import (
    dot_figure,
    interval_figure,
    line_figure,
    panel_figure,
    point_figure,
    row_figure,
)

X = np.linspace(0, 1, 5)


def test_lines_have_labels_of_their_own_and_marked_points():
    fig = line_figure(X, {"a": X, "b": X**2}, "x", "y", zero=True, points={"here": (0.5, 0.25)}, ylim=(-1, 1))
    (ax,) = fig.axes
    (legend,) = fig.legends  # below the axes
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    fig.draw_without_rendering()
    assert legend.get_window_extent().y1 <= ax.get_tightbbox().y0
    assert [text.get_text() for text in ax.texts] == ["here"]
    assert ax.get_ylim() == (-1, 1)


def test_one_line_needs_no_legend():
    assert line_figure(X, {"a": X}, "x", "y").axes[0].get_legend() is None


def test_a_broad_line_lies_under_that_of_its_colour():
    fig = line_figure(X, {"T of focal 2": X, "focal 2": X, "focal 3": -X}, "x", "y", broad=["T of focal 2"])
    broad, thin, other = fig.axes[0].lines
    assert broad.get_color() == thin.get_color() != other.get_color()
    assert broad.get_linewidth() > 2 * thin.get_linewidth()
    assert broad.get_zorder() < thin.get_zorder()


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


def test_points_of_a_row_stand_beside_each_other_and_one_run_has_no_bar():
    groups = {"a": (np.array([1.0, 2.0]), np.array([0.5, np.nan])), "b": (np.array([1.0, 2.0]), None)}
    (ax,) = row_figure(["cross-entropy", "mmce 2"], groups, "ECE", xscale="log").axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["cross-entropy", "MMCE (λ 2)"]
    assert ax.yaxis_inverted()
    points, _, (bars,) = ax.containers[0]
    assert points.get_xdata().tolist() == [1, 2]
    assert points.get_linestyle() == "None"
    assert [len(segment) for segment in bars.get_segments()] == [2, 0]
    assert (points.get_ydata() < ax.containers[1][0].get_ydata()).all()


def test_dots_and_lines_of_one_name_share_a_colour():
    x, values = np.array([0.0, 1.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    fig = dot_figure({"a": (x, values), "b": (x, -values)}, {"a": (x, x), "c": (x, x)}, "x", "y", reference=0)
    by_name = {line.get_label(): line for line in fig.axes[0].lines[1:]}
    assert set(by_name) == {"a, networks", "b", "a, asked for", "c"}
    assert by_name["a, networks"].get_color() == by_name["a, asked for"].get_color() != by_name["b"].get_color()
    np.testing.assert_allclose(by_name["b"].get_ydata(), [-1, -2, -3, -4])
    assert by_name["a, networks"].get_xdata()[0] < by_name["b"].get_xdata()[0]


@pytest.mark.parametrize(("aside", "between"), [(False, 0.0), (True, 0.012)])
def test_groups_of_a_panel_stand_aside_of_each_other_on_request(aside, between):
    fig = panel_figure({"panel": {"a": (X, X, None), "b": (X, -X, None)}}, "x", "y", aside=aside)
    first, second = (container[0].get_xdata() for container in fig.axes[0].containers)
    np.testing.assert_allclose(second - first, between)
