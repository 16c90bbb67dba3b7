"""CIFAR-10-C, generated, and the same done to grey images.

Corruptions of Hendrycks & Dietterich (2019) with the settings of their severities for 32x32 images: the 15 of
CIFAR-10-C, in CORRUPTION_KINDS, and Gaussian blur. Frost needs photographs, see `frost_photographs`.
Motion blur has ImageMagick's kernel, computed here; nothing is rounded between steps. What is random is seeded.

Where FOCAL_DATA/cifar-10-c has the files of the published archive, those are read instead: an npy file a corruption,
uint8 (50000, 32, 32, 3), the 10,000 test images of CIFAR-10 at severity 1, then at severity 2 and so on; labels.npy
(50000,). A corruption that is not made here can be read, too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.engine.data import corruption_kinds as kinds
from reproduction.engine.data import places
from reproduction.engine.data.dataset import Split, check_images

Rng = np.random.Generator
SEVERITIES = 5


def corrupt(images: np.ndarray, name: str, severity: int, seed: int = 0) -> np.ndarray:
    """Corrupted images, uint8 (n, H, W, C) -> uint8 (n, H, W, C), in colour or grey.

    Args:
        images: C is 3, or 1 for grey ones.
        name: one of CORRUPTIONS.
        severity: 1 (mild) to 5.

    Raises:
        ValueError: an unknown name or severity; images of another type or shape; too large ones for frost.
        FileNotFoundError: the photographs of frost are nowhere to be had.
    """
    if name not in CORRUPTIONS:
        raise ValueError(f"corruption must be one of {', '.join(CORRUPTIONS)}. Got {name!r}.")
    if severity not in (1, 2, 3, 4, 5):
        raise ValueError(f"severity must be 1 to 5. Got {severity!r}.")
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] not in (1, 3):
        raise ValueError(f"images must be uint8 of shape (n, H, W, 1 or 3). Got {images.dtype} {images.shape}.")
    change, settings = CORRUPTIONS[name]
    rng = np.random.default_rng(seed)
    setting = settings[severity - 1]
    parts = np.array_split(images, max(1, len(images) // 1000))  # bounded memory
    changed = [np.clip(change(part / 255.0, setting, rng), 0, 1) for part in parts]
    return np.concatenate([(255 * part).astype(np.uint8) for part in changed])


# name -> (what it does, its setting at severities 1 to 5), settings from the authors' make_cifar_c.py
CORRUPTIONS: dict[str, tuple[Callable[[np.ndarray, Any, Rng], np.ndarray], tuple[Any, ...]]] = {
    "gaussian-noise": (kinds.gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.10)),
    "shot-noise": (kinds.shot_noise, (500, 250, 100, 75, 50)),
    "impulse-noise": (kinds.impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "gaussian-blur": (kinds.gaussian_blur, (0.4, 0.6, 0.7, 0.8, 1.0)),
    "defocus-blur": (kinds.defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1))),
    "glass-blur": (kinds.glass_blur, ((0.05, 1), (0.25, 1), (0.4, 1), (0.25, 2), (0.4, 2))),
    "motion-blur": (kinds.motion_blur, ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5))),
    "zoom-blur": (kinds.zoom_blur, (1.06, 1.11, 1.16, 1.21, 1.26)),
    "snow": (
        kinds.snow,
        (
            (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
    ),
    "frost": (kinds.frost, ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45))),
    "fog": (kinds.fog, ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75))),
    "brightness": (kinds.brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": (kinds.contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "elastic-transform": (
        kinds.elastic_transform,
        ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
    ),
    "jpeg-compression": (kinds.jpeg_compression, (80, 65, 58, 50, 40)),
    "pixelate": (kinds.pixelate, (0.95, 0.9, 0.85, 0.75, 0.65)),
}

# the kinds of CIFAR-10-C and their corruptions
CORRUPTION_KINDS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian-noise", "shot-noise", "impulse-noise"),
    "blur": ("defocus-blur", "glass-blur", "motion-blur", "zoom-blur"),
    "weather": ("snow", "frost", "fog", "brightness"),
    "digital": ("contrast", "elastic-transform", "pixelate", "jpeg-compression"),
}


def published_file(corruption: str) -> Path | None:
    """FOCAL_DATA/cifar-10-c/<corruption>.npy, where there is such a file."""
    folder = places.own_folder("cifar-10-c")
    path = None if folder is None else folder / f"{corruption.replace('-', '_')}.npy"
    return path if path is not None and path.is_file() else None


def read_published(path: Path, severity: int) -> Split:
    """The test images of a published file at a severity, 1 to 5.

    Raises:
        ValueError: files of another content.
    """
    with places.reading(path, "a whole npy file, with labels.npy beside it"):
        images = np.load(path, mmap_mode="r", allow_pickle=False)  # 150 MB, of which a fifth is needed
        labels = np.load(path.with_name("labels.npy"), allow_pickle=False).astype(np.int64)
    size, rest = divmod(len(labels), SEVERITIES)
    if rest or images.shape != (len(labels), 32, 32, 3):
        raise ValueError(
            f"{path.name} must be of shape (n, 32, 32, 3), with n labels, a fifth of them for each severity. "
            f"Got {images.shape} and {len(labels)} labels."
        )
    part = slice((severity - 1) * size, severity * size)
    return check_images(path.name, Split(np.array(images[part]), labels[part]), 10)
