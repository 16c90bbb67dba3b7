"""The corruptions of Hendrycks & Dietterich (2019) one by one, by kind.

Each takes images float (n, H, W, C) in [0, 1], a setting, and a generator of random numbers, which many do not need,
and gives images that are not yet clipped.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from reproduction.engine.data.frost_photographs import frost_photographs

Rng = np.random.Generator
LUMA = np.array([0.299, 0.587, 0.114])  # of red, green and blue in grey


# --- noise: noise in each value of each pixel --------------------------------------------------------------


def gaussian_noise(x: np.ndarray, scale: float, rng: Rng) -> np.ndarray:
    """Added, of that standard deviation."""
    return x + rng.normal(scale=scale, size=x.shape)


def shot_noise(x: np.ndarray, photons: float, rng: Rng) -> np.ndarray:
    """Poisson, as of so many photons for white."""
    return rng.poisson(x * photons) / photons


def impulse_noise(x: np.ndarray, amount: float, rng: Rng) -> np.ndarray:
    """Salt and pepper in equal parts."""
    hit, salt = rng.random(x.shape) < amount, rng.random(x.shape) < 0.5
    return np.where(hit, salt, x)


# --- blur: values of neighbouring pixels mixed; a flat image stays flat ------------------------------------


def gaussian_blur(x: np.ndarray, sigma: float, rng: Rng) -> np.ndarray:
    """Convolution with a Gaussian, the border repeated."""
    return ndimage.gaussian_filter(x, (0, sigma, sigma, 0), mode="nearest")


def defocus_blur(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """Convolution with an antialiased disk."""
    from scipy.signal import fftconvolve  # takes longer to import than all else that reads data

    radius, alias = setting
    side = np.arange(-8, 9) if radius <= 8 else np.arange(-int(radius), int(radius) + 1)
    disk = (side[:, None] ** 2 + side**2 <= radius**2).astype(np.float64)
    kernel = ndimage.gaussian_filter(disk / disk.sum(), alias, mode="constant", radius=1)
    padded = np.pad(x, ((0, 0), (8, 8), (8, 8), (0, 0)), mode="reflect")
    return fftconvolve(padded, kernel[None, :, :, None], mode="valid", axes=(1, 2))


def glass_blur(x: np.ndarray, setting: tuple[float, int], rng: Rng) -> np.ndarray:
    """Between two Gaussian blurs, rounds in which each pixel takes the value of itself or of a neighbour.

    The neighbours are those above, on the left, and both. The authors write a swap of the two pixels; of colour images
    NumPy hands out views, so that what they made of CIFAR-10 holds copies, and so does this. They go from the last row
    and column to the third, against the side from which values come: all can be taken at once.
    """
    sigma, rounds = setting
    x = gaussian_blur(x, sigma, rng)
    n, height, width = x.shape[:3]
    image, row, column = np.ogrid[:n, 2:height, 2:width]
    for _ in range(rounds):
        up, left = rng.integers(0, 2, (2, n, height - 2, width - 2))
        x[:, 2:, 2:] = x[image, row - up, column - left]
    return gaussian_blur(x, sigma, rng)


def motion_blur(x: np.ndarray, setting: tuple[int, float], rng: Rng) -> np.ndarray:
    """Each image smeared in a direction of its own, within 45 degrees of its rows."""
    return smear(x, *setting, rng.uniform(-45, 45, len(x)))


def smear(x: np.ndarray, radius: int, sigma: float, angles: np.ndarray) -> np.ndarray:
    """Half a Gaussian along a line, an angle (n,) in degrees each, rounded to whole pixels, the border repeated.

    The kernel of ImageMagick's motion blur, which the authors call, computed here: weights exp(-i^2 / (2 sigma^2)) for
    i = 0 to 2 radius, normalised; the i-th on the pixel that lies i to the right at angle 0, and i below at 90.
    """
    weights = np.exp(-(np.arange(2 * radius + 1) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    n, height, width = x.shape[:3]
    image, row, column = np.ogrid[:n, :height, :width]
    radians = np.radians(angles)[:, None, None]
    total = np.zeros_like(x)
    for step in np.flatnonzero(weights > 1e-6):  # the others change no pixel by a grey level
        down, right = (np.ceil(step * part - 0.5).astype(int) for part in (np.sin(radians), np.cos(radians)))
        total += weights[step] * x[image, np.clip(row + down, 0, height - 1), np.clip(column + right, 0, width - 1)]
    return total


def zoom_blur(x: np.ndarray, top: float, rng: Rng) -> np.ndarray:
    """Mean of the image and its enlargements by 1, 1.01, ... below top."""
    total, factors = x.copy(), np.arange(1, top, 0.01)
    for factor in factors:
        total += enlarge(x, factor)
    return total / (len(factors) + 1)


def enlarge(x: np.ndarray, factor: float) -> np.ndarray:
    """The middle of images, linearly interpolated, and cut to their size: scipy's zoom, which the authors call.

    It may be a pixel or two larger than they are before it is cut.
    """
    size = x.shape[1]
    side = int(np.ceil(size / factor))
    start = (size - side) // 2
    crop = x[:, start : start + side, start : start + side]
    larger = round(side * factor)
    between = np.linspace(0, side - 1, larger)[(larger - size) // 2 :][:size]
    mix = np.stack([np.interp(between, np.arange(side), one) for one in np.eye(side)], -1)  # (size, side)
    tall = (mix @ crop.reshape(len(x), side, -1)).reshape(len(x), size, side, -1)
    return mix @ tall


# --- weather: snow, frost, fog, and light ------------------------------------------------------------------


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


# --- digital: what a camera, a file or a program does ------------------------------------------------------


def contrast(x: np.ndarray, factor: float, rng: Rng) -> np.ndarray:
    """Distances from the mean of each channel, scaled."""
    mean = x.mean((1, 2), keepdims=True)
    return (x - mean) * factor + mean


def elastic_transform(x: np.ndarray, setting: tuple[float, float, float], rng: Rng) -> np.ndarray:
    """Three corners of the middle drawn aside and the image with them; then each pixel, by a smooth random field.

    Args:
        setting: how far the field moves a pixel, before it is smoothed; the sigma by which it is; how far a corner
            moves at most; in parts of the side.
    """
    height, width = x.shape[1:3]
    side = min(height, width)
    strength, sigma, most = (part * side for part in setting)
    down, right = np.mgrid[:height, :width].astype(float)
    corners = np.array([width // 2, height // 2]) + side // 3 * np.array([[1, 1], [1, -1], [-1, -1]])
    drawn = np.concatenate([corners + rng.uniform(-most, most, (len(x), 3, 2)), np.ones((len(x), 3, 1))], -1)
    back = np.linalg.solve(drawn, np.broadcast_to(corners.astype(float), (len(x), 3, 2)))  # (n, 3, 2): x, y, 1 to x, y
    source = np.einsum("hwi,nij->jnhw", np.stack([right, down, np.ones_like(down)], -1), back)
    x = _sample(x, source[1], source[0], "mirror")
    if not strength:
        return x
    field = rng.uniform(-1, 1, (2, len(x), height, width))
    field = strength * ndimage.gaussian_filter(field, (0, 0, sigma, sigma), mode="reflect", truncate=3)
    return _sample(x, down + field[0], right + field[1], "reflect")


def _sample(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, border: str) -> np.ndarray:
    """Images at places (n, H, W) between their pixels, linearly."""
    found = np.empty_like(x)
    for image, places, out in zip(x, np.stack([rows, columns], 1), found, strict=True):
        for channel in range(x.shape[-1]):
            out[..., channel] = ndimage.map_coordinates(image[..., channel], places, order=1, mode=border)
    return found


def jpeg_compression(x: np.ndarray, quality: int, rng: Rng) -> np.ndarray:
    """Written as JPEG of that quality, and read."""
    return _through_pictures(x, lambda image: _jpeg(image, quality))


def pixelate(x: np.ndarray, share: float, rng: Rng) -> np.ndarray:
    """Made smaller, and large again."""
    from PIL import Image

    side = int(x.shape[1] * share)
    box = Image.Resampling.BOX
    return _through_pictures(x, lambda image: image.resize((side, side), box).resize(image.size, box))


def _through_pictures(x: np.ndarray, change: Callable[[Any], Any]) -> np.ndarray:
    from PIL import Image

    pixels = (255 * x).round().astype(np.uint8)
    pictures = map(Image.fromarray, pixels[..., 0] if x.shape[-1] == 1 else pixels)
    return np.stack([np.asarray(change(picture)) for picture in pictures]).reshape(x.shape) / 255.0


def _jpeg(image: Any, quality: int) -> Any:
    from PIL import Image

    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)
