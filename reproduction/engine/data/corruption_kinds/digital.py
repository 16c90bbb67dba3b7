"""What a camera, a file or a program does."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

Rng = np.random.Generator


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


def saturate(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """Saturation of HSV times and plus the setting; hue and value kept."""
    value = x.max(-1, keepdims=True)
    depth = value - x.min(-1, keepdims=True)  # saturation times value
    saturation = depth / np.where(value > 0, value, 1)
    wanted = np.clip(saturation * setting[0] + setting[1], 0, 1)
    reddish = np.array([1.0, 0.0, 0.0])  # the hue of grey, as in HSV
    away = np.where(depth > 0, (value - x) / np.where(depth > 0, depth, 1), 1 - reddish)
    return value - away * wanted * value


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
