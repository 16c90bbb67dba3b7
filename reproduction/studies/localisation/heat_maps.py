"""Whether a heat map lies where the object is: energy in its box, where the map is highest, how far it spreads.

A map says of each pixel how much it counts, at least 0; a box is top, left, bottom, right, the last two outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def energy_in_box(maps: Any, boxes: Any) -> np.ndarray:
    r"""Share of a map's sum that lies in the box, (n, H, W), (n, 4) -> (n,); 0 of a map that is 0 everywhere.

    .. math:: \sum_{x \in \mathrm{box}} m(x) \Big/ \sum_x m(x)

    Wang et al. (2020), 'Score-CAM', section 4.3. Of a constant map it is the box's share of the image.

    Raises:
        ValueError: maps that are not finite, at least 0 and of shape (n, H, W); boxes that are empty or reach outside.
    """
    m, inside = _checked(maps, boxes)
    total = m.sum((1, 2))
    return (m * inside).sum((1, 2)) / np.where(total > 0, total, 1)


def points_into_box(maps: Any, boxes: Any) -> np.ndarray:
    """Whether the highest pixel lies in the box, (n,): 1 or 0; of several highest ones the share that do.

    The pointing game of Zhang et al. (2018), without its tolerance of some pixels; 0 of a map that is 0 everywhere.
    Arguments and errors as energy_in_box.
    """
    m, inside = _checked(maps, boxes)
    highest = m == m.max((1, 2), keepdims=True)
    found: np.ndarray = (highest & inside).sum((1, 2)) / highest.sum((1, 2))
    return np.where(m.any((1, 2)), found, 0.0)


def spread(maps: Any, share: float = 0.5) -> np.ndarray:
    """The smallest share of the pixels that holds this share of a map's sum, (n, H, W) -> (n,); nan of a map of 0.

    Broad maps have a large one: a constant map `share`, up to the last pixel, a single pixel 1 / (H W).

    Raises:
        ValueError: maps as energy_in_box; share not in (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1]. Got {share}.")
    m = _checked_maps(maps)
    falling = -np.sort(-m.reshape(len(m), -1), axis=1)
    held = falling.cumsum(1)
    needed = (held < share * held[:, -1:] * (1 - 1e-12)).sum(1) + 1  # whatever rounding makes of the sum
    return np.where(held[:, -1] > 0, needed / falling.shape[1], np.nan)


def _checked_maps(maps: Any) -> np.ndarray:
    m = np.asarray(maps, dtype=np.float64)
    if m.ndim != 3 or not m.size or not np.isfinite(m).all() or m.min() < 0:
        raise ValueError(f"maps must be finite, at least 0, of shape (n, H, W). Got shape {m.shape}.")
    return m


def _checked(maps: Any, boxes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Maps float64 (n, H, W), and which of their pixels are in the box."""
    m, b = _checked_maps(maps), np.asarray(boxes)
    if b.shape != (len(m), 4) or not np.issubdtype(b.dtype, np.integer):
        raise ValueError(f"boxes must be integers of shape {(len(m), 4)}. Got {b.dtype} {b.shape}.")
    (height, width), (top, left, bottom, right) = m.shape[1:], b.T[..., None, None]
    if not ((top >= 0) & (top < bottom) & (bottom <= height) & (left >= 0) & (left < right) & (right <= width)).all():
        raise ValueError(f"boxes must be top < bottom, left < right, within {height} x {width}. Got others.")
    rows, columns = np.arange(height)[:, None], np.arange(width)
    return m, (top <= rows) & (rows < bottom) & (left <= columns) & (columns < right)
