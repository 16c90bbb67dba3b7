"""Maps of probabilities over the plane."""

import numpy as np
import pytest

from reproduction.pages.plots.regions import probability_regions

X, Y = np.linspace(0, 1, 12), np.linspace(0, 2, 9)


def test_a_panel_each_and_a_scale():
    across, up = np.broadcast_to(X[:, None], (12, 9)), np.broadcast_to(Y / 2, (12, 9))
    fig = probability_regions(X, Y, {"across": across, "up": up}, columns=2)
    assert [ax.get_title() for ax in fig.axes[:2]] == ["across", "up"]
    assert len(fig.axes) == 3  # with the bar of colours
    assert fig.axes[0].get_xlim() == (0, 1)
    assert fig.axes[0].get_ylim() == (0, 2)


def test_first_axis_is_x():
    (ax, _) = probability_regions(X, Y, {"across": np.broadcast_to(X[:, None], (12, 9))}, columns=1).axes
    half = next(c for c in ax.collections if list(c.levels) == [0.5])
    np.testing.assert_allclose(half.get_paths()[0].vertices[:, 0], 0.5)


def test_lines_that_are_not_there_are_not_drawn():
    (ax, _) = probability_regions(X, Y, {"flat": np.full((12, 9), 0.3)}, columns=1).axes
    assert len(ax.collections) == 1


@pytest.mark.parametrize("columns", [2, 3])
def test_samples_and_empty_places(columns):
    points, labels = np.array([[0.2, 0.3], [0.5, 1.0], [0.7, 1.5]]), np.array([0, 1, 1])
    fig = probability_regions(X, Y, {n: np.full((12, 9), 0.5) for n in "abc"}, (points, labels), columns=columns)
    lines = fig.axes[0].lines
    assert [len(line.get_xdata()) for line in lines] == [1, 2]
