"""Snow, frost, fog, and light."""

from __future__ import annotations

import numpy as np

from reproduction.engine.data.corruption_kinds.blur import enlarge, smear
from reproduction.engine.data.frost_photographs import frost_photographs

Rng = np.random.Generator
LUMA = np.array([0.299, 0.587, 0.114])  # of red, green and blue in grey


def snow(x: np.ndarray, setting: tuple[float, float, float, float, int, float, float], rng: Rng) -> np.ndarray:
    """Flakes, and the same turned by half a turn, added to a whitened image.

    Args:
        setting: mean and standard deviation of noise; by how much it is enlarged; below which it is no flake; radius
            and sigma of its motion blur, downwards within 45 degrees; share of the image that is not whitened.
    """
    mean, scale, factor, threshold, radius, sigma, kept = setting
    flakes = enlarge(rng.normal(mean, scale, (*x.shape[:3], 1)), factor)
    flakes = np.clip(np.where(flakes < threshold, 0, flakes), 0, 1)
    flakes = smear(flakes, radius, sigma, rng.uniform(-135, -45, len(x)))
    grey = x @ LUMA[:, None] if x.shape[-1] == 3 else x
    whitened = kept * x + (1 - kept) * np.maximum(x, 1.5 * grey + 0.5)
    return whitened + flakes + flakes[:, ::-1, ::-1]


def frost(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """To each image a part of a photograph added, which one and where at random.

    Args:
        setting: weights of the image and of the photograph, which is grey where the image is.

    Raises:
        ValueError: images that are not smaller than the smallest photograph.
        FileNotFoundError: the photographs are nowhere to be had, see `frost_photographs`.
    """
    kept, added = setting
    n, height, width, channels = x.shape
    photographs = [photograph / 255 for photograph in frost_photographs()]
    room = np.array([photograph.shape[:2] for photograph in photographs]) - (height, width)
    if room.min() < 1:
        least = " x ".join(str(side) for side in np.add(room.min(0), (height, width)))
        raise ValueError(f"images for frost must be smaller than {least} pixels. Got {height} x {width}.")
    which: np.ndarray = np.asarray(rng.integers(0, len(photographs), n))
    corners: np.ndarray = np.asarray(rng.integers(0, room[which].T)).T
    parts = [photographs[k][i : i + height, j : j + width] for k, (i, j) in zip(which, corners, strict=True)]
    layer = np.stack(parts) if channels == 3 else np.stack(parts) @ LUMA[:, None]
    return kept * x + added * layer


def fog(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """A plasma fractal of that thickness and decay added, the brightest value brought back to what it was."""
    thickness, decay = setting
    n, height, width = x.shape[:3]
    size = 1 << (max(height, width) - 1).bit_length()
    layer = plasma(n, size, decay, rng)[:, :height, :width, None]
    top = x.max((1, 2, 3), keepdims=True)
    return (x + thickness * layer) * top / (top + thickness)


def plasma(n: int, size: int, decay: float, rng: Rng) -> np.ndarray:
    """Height maps (n, size, size) from 0 to 1 by diamonds and squares, the far edges joined; size a power of 2.

    From one point, 0, each step halves the distance of points that are known: the centre of four corners, then the
    middle of each edge between its four neighbours, is their mean and uniform noise within 100^2 / decay^(2 step).
    """
    heights = np.zeros((n, size, size))
    step, wobble = size, 100.0
    while step > 1:
        half, count = step // 2, size // step
        noise = rng.uniform(-(wobble**2), wobble**2, (3, n, count, count))
        corners = heights[:, ::step, ::step]
        rows = corners + np.roll(corners, -1, 1)
        centres = (rows + np.roll(rows, -1, 2)) / 4 + noise[0]
        heights[:, half::step, half::step] = centres
        beside = centres + np.roll(centres, 1, 1) + corners + np.roll(corners, -1, 2)
        below = centres + np.roll(centres, 1, 2) + rows
        heights[:, ::step, half::step] = beside / 4 + noise[1]
        heights[:, half::step, ::step] = below / 4 + noise[2]
        step, wobble = half, wobble / decay
    heights -= heights.min((1, 2), keepdims=True)
    return heights / heights.max((1, 2), keepdims=True)


def brightness(x: np.ndarray, added: float, rng: Rng) -> np.ndarray:
    """The value of HSV raised; hue and saturation kept."""
    value = x.max(-1, keepdims=True)
    raised = np.clip(value + added, 0, 1)
    return np.where(value > 0, x * raised / np.where(value > 0, value, 1), raised)
