"""Maps of cells: each number stands in its cell, frames where they belong."""

import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from reproduction.pages.plots.maps import cell_map

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
