"""Canvases with garments at random places among cut-outs of others: every label has a box that is known.

In the manner of the cluttered translated digits of Mnih et al. (2014), 'Recurrent models of visual attention'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focal_lib.validation import check_number
from reproduction.engine.data.dataset import Split


@dataclass(frozen=True)
class LocatedImages:
    """Images uint8 (n, S, S, 1), labels int64 (n, L) of 0 and 1, names of the L labels.

    boxes: int64 (n, L, 4), top, left, bottom, right of a label that is 1, the last two outside; -1 where not known.
    """

    images: np.ndarray
    labels: np.ndarray
    boxes: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)

    def asked(self) -> tuple[np.ndarray, np.ndarray]:
        """Images and labels, (m,) each, of every box."""
        image, label = np.nonzero(self.boxes[..., 0] >= 0)
        return image, label


SIDE = 48  # of a canvas
GARMENT = 14  # side of a garment: Fashion-MNIST's, halved
_PATCHES, _PATCH = 8, 5  # cut-outs of other garments, and their side
_VISIBLE = 25  # of 255: what is darker does not count for a box


def garment_canvases(
    part: Split, n: int, seed: int | tuple[int, ...], names: tuple[str, ...], *, fewest: int = 1, most: int = 1
) -> LocatedImages:
    """n canvases of black ground, each with `fewest` to `most` garments of different classes, that do not overlap.

    First eight cut-outs of 5 x 5 pixels of any garments, at random places; then the garments. Where two things meet,
    the brighter pixel stays. A box is the smallest around the garment's pixels of more than 25.

    Args:
        part: images uint8 (m, 28, 28, 1) with labels.
        names: of the classes, all of which must be there.

    Raises:
        ValueError: images of another size; n below 1, fewest below 0, most above 4 or the classes, or below fewest; a
            class without an image.
    """
    check_number(n, "n", minimum=1)
    if part.inputs.shape[1:] != (2 * GARMENT, 2 * GARMENT, 1):
        raise ValueError(f"images must have shape (m, {2 * GARMENT}, {2 * GARMENT}, 1). Got {part.inputs.shape}.")
    if not 0 <= fewest <= most <= min(4, len(names)):
        raise ValueError(f"fewest and most must be 0 <= fewest <= most <= 4, and classes. Got {fewest} and {most}.")
    of_class = [np.flatnonzero(part.labels == k) for k in range(len(names))]
    if not all(len(found) for found in of_class):
        raise ValueError(f"every class of {', '.join(names)} must have an image. Got {list(map(len, of_class))}.")
    rng = np.random.default_rng(seed)
    images = _clutter(part.inputs, n, rng)
    labels, boxes = np.zeros((n, len(names)), np.int64), np.full((n, len(names), 4), -1)
    for canvas, count in enumerate(rng.integers(fewest, most + 1, n)):
        for k, (top, left) in zip(rng.permutation(len(names))[:count], _places(count, rng), strict=True):
            garment = halve(part.inputs[rng.choice(of_class[k])][None])[0]
            _paint(images[canvas], garment, top, left)
            labels[canvas, k], boxes[canvas, k] = 1, _box(garment) + np.array([top, left, top, left])
    return LocatedImages(images[..., None], labels, boxes, names)


def halve(images: np.ndarray) -> np.ndarray:
    """Means of 2 x 2 pixels, rounded: uint8 (m, 2a, 2b, 1) -> (m, a, b)."""
    m, height, width, _ = images.shape
    means = images.reshape(m, height // 2, 2, width // 2, 2).mean((2, 4))
    rounded: np.ndarray = means.round().astype(np.uint8)
    return rounded


def _clutter(garments: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    images = np.zeros((n, SIDE, SIDE), np.uint8)
    whose = rng.integers(len(garments), size=(n, _PATCHES))
    start = rng.integers(GARMENT - _PATCH + 1, size=(n, _PATCHES, 2))
    place = rng.integers(SIDE - _PATCH + 1, size=(n, _PATCHES, 2))
    for canvas in range(n):
        cut = halve(garments[whose[canvas]])
        for patch, (a, b), (top, left) in zip(cut, start[canvas], place[canvas], strict=True):
            _paint(images[canvas], patch[a : a + _PATCH, b : b + _PATCH], top, left)
    return images


def _places(count: int, rng: np.random.Generator) -> np.ndarray:
    """Corners (count, 2) of garments, uniform over those that do not overlap: drawn again until they do not."""
    while True:
        corners = rng.integers(SIDE - GARMENT + 1, size=(count, 2))
        apart = np.abs(corners[:, None] - corners).max(-1) >= GARMENT
        if apart[~np.eye(count, dtype=bool)].all():
            return corners


def _paint(canvas: np.ndarray, picture: np.ndarray, top: int, left: int) -> None:
    part = canvas[top : top + picture.shape[0], left : left + picture.shape[1]]
    np.maximum(part, picture, out=part)


def _box(garment: np.ndarray) -> np.ndarray:
    visible = garment > _VISIBLE
    if not visible.any():
        return np.array([0, 0, *garment.shape])
    rows, columns = np.flatnonzero(visible.any(1)), np.flatnonzero(visible.any(0))
    return np.array([rows[0], columns[0], rows[-1] + 1, columns[-1] + 1])
