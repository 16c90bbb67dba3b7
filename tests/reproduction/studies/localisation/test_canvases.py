"""Canvases: garments where their boxes say, apart from each other, the same for the same seed."""

import numpy as np
import pytest

from reproduction.engine.data.dataset import Split
from reproduction.studies.localisation.canvases import GARMENT, SIDE, garment_canvases, halve

NAMES = ("one", "two", "three", "four", "five")


@pytest.fixture(scope="module")
def part():
    """Pictures of full brightness in a part that their class decides; class k fills 2 (k + 3) rows."""
    labels = np.arange(50) % 5
    images = np.zeros((50, 28, 28, 1), np.uint8)
    for image, k in zip(images, labels, strict=True):
        image[2 : 2 + 2 * (k + 3), 4:24] = 200
    return Split(images, labels)


def test_boxes_are_those_of_the_garments(part):
    found = garment_canvases(part, 200, 3, NAMES, fewest=0, most=3)
    assert found.images.shape == (200, SIDE, SIDE, 1)
    assert set(found.labels.sum(1)) == {0, 1, 2, 3}
    assert ((found.boxes >= 0).all(-1) == (found.labels == 1)).all()
    for image, k in zip(*found.asked(), strict=True):
        top, left, bottom, right = found.boxes[image, k]
        assert (bottom - top, right - left) == (k + 3, 10)
        assert (found.images[image, top:bottom, left:right] == 200).all()


def test_garments_do_not_overlap_and_lie_anywhere(part):
    found = garment_canvases(part, 300, 0, NAMES, fewest=2, most=3)
    corners = [[box[:2] - [1, 2] for box in boxes[boxes[:, 0] >= 0]] for boxes in found.boxes]
    for places in corners:
        gaps = [np.abs(a - b).max() for i, a in enumerate(places) for b in places[:i]]
        assert min(gaps) >= GARMENT
    flat = np.concatenate(corners)
    assert flat.min() == 0
    assert flat.max() == SIDE - GARMENT


def test_there_is_clutter_that_says_nothing_of_the_class(part):
    found = garment_canvases(part, 400, 1, NAMES)
    outside = found.images[..., 0].astype(float).sum((1, 2)) - 200 * 10 * (found.labels.argmax(-1) + 3)
    assert (outside > 0).mean() > 0.95
    by_class = [outside[found.labels[:, k] == 1].mean() for k in range(5)]
    assert max(by_class) / min(by_class) < 1.15


def test_a_seed_decides_the_canvases(part):
    one, same, other = (garment_canvases(part, 20, seed, NAMES) for seed in ((1, 0), (1, 0), (1, 1)))
    assert (one.images == same.images).all()
    assert (one.boxes == same.boxes).all()
    assert (one.images != other.images).any()


def test_halving_takes_means():
    image = np.array([[0, 1, 10, 10], [2, 3, 10, 30]], np.uint8)[None, ..., None]
    assert halve(image).tolist() == [[[2, 15]]]  # 1.5 and 15, to even


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"fewest": 2, "most": 1}, "0 <= fewest <= most"),
        ({"most": 5}, "most <= 4"),
        ({"names": (*NAMES, "none")}, "every class"),
    ],
)
def test_what_cannot_be_drawn_is_refused(part, options, message):
    with pytest.raises(ValueError, match=message):
        garment_canvases(part, **({"n": 2, "seed": 0, "names": NAMES} | options))


def test_other_sizes_are_refused(part):
    with pytest.raises(ValueError, match=r"shape \(m, 28, 28, 1\)"):
        garment_canvases(Split(part.inputs[:, :14], part.labels), 2, 0, NAMES)
