"""CIFAR-10-C, generated, and the same done to grey images.

Corruptions of Hendrycks & Dietterich (2019) at their severities for 32x32 images: the twelve whose definition needs
neither pictures of frost nor a fractal, a wand or a shuffle. The others of CIFAR-10-C (frost, snow, fog, motion blur,
glass blur, elastic transform) are left out. Noise is seeded.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage, signal

__all__ = ["CORRUPTIONS", "corrupt"]

Rng = np.random.Generator


def corrupt(images: np.ndarray, name: str, severity: int, seed: int = 0) -> np.ndarray:
    """Corrupted images, uint8 (n, H, W, C) -> uint8 (n, H, W, C), in colour or grey.

    Args:
        images: C is 3, or 1 for grey ones, which cannot be saturated.
        name: one of CORRUPTIONS.
        severity: 1 (mild) to 5.

    Raises:
        ValueError: an unknown name or severity; images of another type or shape.
    """
    if name not in CORRUPTIONS:
        raise ValueError(f"corruption must be one of {', '.join(CORRUPTIONS)}. Got {name!r}.")
    if severity not in (1, 2, 3, 4, 5):
        raise ValueError(f"severity must be 1 to 5. Got {severity!r}.")
    channels = (3,) if name == "saturate" else (1, 3)
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] not in channels:
        shape = f"(n, H, W, {' or '.join(map(str, channels))})"
        raise ValueError(f"images for {name} must be uint8 of shape {shape}. Got {images.dtype} {images.shape}.")
    change, settings = CORRUPTIONS[name]
    rng = np.random.default_rng(seed)
    setting = settings[severity - 1]
    parts = np.array_split(images, max(1, len(images) // 1000))  # bounded memory
    changed = [np.clip(change(part / 255.0, setting, rng), 0, 1) for part in parts]
    return np.concatenate([(255 * part).astype(np.uint8) for part in changed])


def _gaussian_noise(x: np.ndarray, scale: float, rng: Rng) -> np.ndarray:
    return x + rng.normal(scale=scale, size=x.shape)


def _shot_noise(x: np.ndarray, photons: float, rng: Rng) -> np.ndarray:
    return rng.poisson(x * photons) / photons


def _impulse_noise(x: np.ndarray, amount: float, rng: Rng) -> np.ndarray:
    """Salt and pepper in equal parts."""
    hit, salt = rng.random(x.shape) < amount, rng.random(x.shape) < 0.5
    return np.where(hit, salt, x)


def _speckle_noise(x: np.ndarray, scale: float, rng: Rng) -> np.ndarray:
    return x + x * rng.normal(scale=scale, size=x.shape)


def _gaussian_blur(x: np.ndarray, sigma: float, rng: Rng) -> np.ndarray:
    return ndimage.gaussian_filter(x, (0, sigma, sigma, 0), mode="nearest")


def _defocus_blur(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """Convolution with an antialiased disk."""
    radius, alias = setting
    side = np.arange(-8, 9) if radius <= 8 else np.arange(-int(radius), int(radius) + 1)
    disk = (side[:, None] ** 2 + side**2 <= radius**2).astype(np.float64)
    kernel = ndimage.gaussian_filter(disk / disk.sum(), alias, mode="constant", radius=1)
    padded = np.pad(x, ((0, 0), (8, 8), (8, 8), (0, 0)), mode="reflect")
    return signal.fftconvolve(padded, kernel[None, :, :, None], mode="valid", axes=(1, 2))


def _zoom_blur(x: np.ndarray, top: float, rng: Rng) -> np.ndarray:
    """Mean of the image and its enlargements by 1, 1.01, ... below top."""
    size = x.shape[1]
    total, factors = x.copy(), np.arange(1, top, 0.01)
    for factor in factors:
        side = int(np.ceil(size / factor))
        start = (size - side) // 2
        crop = x[:, start : start + side, start : start + side]
        zoomed = ndimage.zoom(crop, (1, size / side, size / side, 1), order=1)
        total += zoomed[:, :size, :size]
    return total / (len(factors) + 1)


def _brightness(x: np.ndarray, added: float, rng: Rng) -> np.ndarray:
    """The value of HSV raised; hue and saturation kept."""
    value = x.max(-1, keepdims=True)
    raised = np.clip(value + added, 0, 1)
    return np.where(value > 0, x * raised / np.where(value > 0, value, 1), raised)


def _contrast(x: np.ndarray, factor: float, rng: Rng) -> np.ndarray:
    mean = x.mean((1, 2), keepdims=True)
    return (x - mean) * factor + mean


def _saturate(x: np.ndarray, setting: tuple[float, float], rng: Rng) -> np.ndarray:
    """Saturation of HSV times and plus the setting; hue and value kept."""
    value = x.max(-1, keepdims=True)
    depth = value - x.min(-1, keepdims=True)  # saturation times value
    saturation = depth / np.where(value > 0, value, 1)
    wanted = np.clip(saturation * setting[0] + setting[1], 0, 1)
    reddish = np.array([1.0, 0.0, 0.0])  # the hue of grey, as in HSV
    away = np.where(depth > 0, (value - x) / np.where(depth > 0, depth, 1), 1 - reddish)
    return value - away * wanted * value


def _jpeg_compression(x: np.ndarray, quality: int, rng: Rng) -> np.ndarray:
    return _through_pictures(x, lambda image: _jpeg(image, quality))


def _pixelate(x: np.ndarray, share: float, rng: Rng) -> np.ndarray:
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


# name -> (what it does, its setting at severities 1 to 5), settings from the authors' make_cifar_c.py
CORRUPTIONS: dict[str, tuple[Callable[[np.ndarray, Any, Rng], np.ndarray], tuple[Any, ...]]] = {
    "gaussian-noise": (_gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.10)),
    "shot-noise": (_shot_noise, (500, 250, 100, 75, 50)),
    "impulse-noise": (_impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "speckle-noise": (_speckle_noise, (0.06, 0.1, 0.12, 0.16, 0.2)),
    "gaussian-blur": (_gaussian_blur, (0.4, 0.6, 0.7, 0.8, 1.0)),
    "defocus-blur": (_defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1))),
    "zoom-blur": (_zoom_blur, (1.06, 1.11, 1.16, 1.21, 1.26)),
    "brightness": (_brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": (_contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "saturate": (_saturate, ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2))),
    "jpeg-compression": (_jpeg_compression, (80, 65, 58, 50, 40)),
    "pixelate": (_pixelate, (0.95, 0.9, 0.85, 0.75, 0.65)),
}
