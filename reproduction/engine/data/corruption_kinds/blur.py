"""Values of neighbouring pixels mixed; a flat image stays flat."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

Rng = np.random.Generator


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
