"""Heat maps over images."""

import numpy as np
import pytest

from reproduction.studies.localisation.figures import heat_map_table

IMAGES = np.full((2, 6, 6), 100, np.uint8)
BOXES = np.array([[1, 2, 3, 5], [0, 0, 6, 6]])


def test_a_column_an_image_and_a_row_a_loss():
    maps = {"one": np.ones((2, 6, 6)), "two": np.zeros((2, 6, 6))}
    fig = heat_map_table(IMAGES, BOXES, maps, ["coat", "bag"], {"one": ["3 %", "4 %"], "two": ["0 %", "0 %"]})
    axes = np.array(fig.axes).reshape(3, 2)
    assert [ax.get_title() for ax in axes[0]] == ["coat", "bag"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["", "one", "two"]
    assert axes[1, 1].get_xlabel() == "4 %"
    assert [len(ax.images) for ax in axes[:, 0]] == [1, 2, 2]
    (box,) = axes[2, 0].patches
    assert (box.get_xy(), box.get_width(), box.get_height()) == ((1.5, 0.5), 3, 2)
    assert axes[1, 0].images[1].get_array().max() == 1
    assert axes[2, 0].images[1].get_array().max() == 0


def test_numbers_must_agree():
    with pytest.raises(ValueError, match=r"must be of 2 images. Got \[1, 2\]"):
        heat_map_table(IMAGES, BOXES, {"one": np.ones((1, 6, 6))}, ["coat", "bag"], {"one": ["", ""]})
