"""Maps of cells, frames where they belong; maps of probabilities over the plane."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from reproduction.pages.plots.shades import cell_map, probability_regions

X, Y = np.linspace(0, 1, 12), np.linspace(0, 2, 9)
VALUES = pd.DataFrame([[1.0, -2.0], [0.5, 3.0]], index=[0.0, 0.5], columns=[0.0, 2.0])


def frames(fig):
    return [p for p in fig.axes[0].patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == "#d55e00"]


def test_numbers_stand_in_their_cells():
    fig = cell_map(VALUES, "x", "y", "value")
    texts = {text.get_position(): text.get_text() for text in fig.axes[0].texts}
    assert texts == {(0, 0): "1.0", (1, 0): "-2.0", (0, 1): "0.5", (1, 1): "3.0"}
    assert [label.get_text() for label in fig.axes[0].get_xticklabels()] == ["0", "2"]
    assert not frames(fig)


def test_marked_cells_have_a_frame():
    fig = cell_map(VALUES, "x", "y", "value", marked=[(2.0, 0.5), (7.0, 0.5)])
    (frame,) = frames(fig)
    assert (frame.get_x() + frame.get_width() / 2, frame.get_y() + frame.get_height() / 2) == (1, 1)


def test_signed_shades_are_symmetric():
    image = cell_map(VALUES, "x", "y", "value", signed=True).axes[0].images[0]
    assert image.get_clim() == (-3, 3)


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
