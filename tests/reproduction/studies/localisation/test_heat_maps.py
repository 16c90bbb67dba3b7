"""Heat maps against boxes: exact values, properties, and pixel by pixel."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reproduction.studies.localisation.heat_maps import energy_in_box, points_into_box, spread

MAPS = arrays(np.int64, (3, 5, 6), elements=st.integers(0, 9)).map(lambda m: m.astype(float))
BOXES = np.array([[0, 0, 2, 3], [1, 2, 5, 6], [4, 5, 5, 6]])


def test_values_by_hand():
    maps = np.zeros((3, 4, 4))
    maps[0, 1, 1], maps[0, 3, 3] = 3, 1
    maps[1, 0, 0] = maps[1, 3, 3] = 2  # two highest pixels
    boxes = np.array([[1, 1, 2, 2], [0, 0, 1, 1], [0, 0, 4, 4]])
    assert energy_in_box(maps, boxes).tolist() == [0.75, 0.5, 0.0]
    assert points_into_box(maps, boxes).tolist() == [1.0, 0.5, 0.0]
    assert spread(maps)[:2].tolist() == [1 / 16, 1 / 16]
    assert spread(maps, 1.0)[:2].tolist() == [2 / 16, 2 / 16]
    assert np.isnan(spread(maps)[2])


def _slowly(m, box):
    inside = list(itertools.product(range(box[0], box[2]), range(box[1], box[3])))
    everywhere = list(itertools.product(range(m.shape[0]), range(m.shape[1])))
    total = sum(m[at] for at in everywhere)
    if not total:
        return 0.0, 0.0, np.nan
    best = [at for at in everywhere if m[at] == m.max()]
    held, count = 0.0, 0
    for value in sorted((m[at] for at in everywhere), reverse=True):
        if held >= total / 2:
            break
        held, count = held + value, count + 1
    share = sum(at in inside for at in best) / len(best)
    return sum(m[at] for at in inside) / total, share, count / len(everywhere)


@given(maps=MAPS)
def test_as_pixel_by_pixel(maps):
    found = np.stack([energy_in_box(maps, BOXES), points_into_box(maps, BOXES), spread(maps)], -1)
    expected = [_slowly(m, box) for m, box in zip(maps, BOXES, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(maps=MAPS, factor=st.floats(0.01, 100))
def test_a_factor_changes_nothing(maps, factor):
    for metric in (energy_in_box, points_into_box):
        np.testing.assert_allclose(metric(factor * maps, BOXES), metric(maps, BOXES), rtol=1e-12)
    np.testing.assert_allclose(spread(factor * maps), spread(maps))


def test_a_constant_map_has_the_share_of_the_box():
    share = (BOXES[:, 2] - BOXES[:, 0]) * (BOXES[:, 3] - BOXES[:, 1]) / 30
    constant = np.full((3, 5, 6), 0.1)
    np.testing.assert_allclose(energy_in_box(constant, BOXES), share)
    np.testing.assert_allclose(points_into_box(constant, BOXES), share)
    np.testing.assert_allclose(spread(constant), 0.5)


@pytest.mark.parametrize(
    ("maps", "boxes", "message"),
    [
        (np.ones((4, 4)), BOXES[:1], r"of shape \(n, H, W\). Got shape \(4, 4\)"),
        (-np.ones((3, 5, 6)), BOXES, "at least 0"),
        (np.full((3, 5, 6), np.nan), BOXES, "finite"),
        (np.ones((3, 5, 6)), BOXES[:2], r"integers of shape \(3, 4\). Got int64 \(2, 4\)"),
        (np.ones((3, 5, 6)), BOXES.astype(float), "Got float64"),
        (np.ones((3, 5, 6)), np.add(BOXES, [0, 0, 1, 0]), "within 5 x 6"),
        (np.ones((3, 5, 6)), BOXES[:, [2, 1, 0, 3]], "top < bottom"),
    ],
)
def test_what_is_no_map_or_box_is_refused(maps, boxes, message):
    for metric in (energy_in_box, points_into_box):
        with pytest.raises(ValueError, match=message):
            metric(maps, boxes)


def test_a_share_to_hold_is_above_0():
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\]"):
        spread(np.ones((1, 2, 2)), 0)
