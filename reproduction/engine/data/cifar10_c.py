"""The published files of CIFAR-10-C, where they are given: FOCAL_DATA/cifar-10-c, as the archive has them.

An npy file a corruption, uint8 (50000, 32, 32, 3): the 10,000 test images of CIFAR-10 at severity 1, then at severity 2
and so on; labels.npy (50000,). A corruption that is not made here can be read, too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Split, check_images

SEVERITIES = 5


def is_published(corruption: str) -> bool:
    """Whether its file is in FOCAL_DATA/cifar-10-c."""
    return _path_of(corruption) is not None


def _path_of(corruption: str) -> Path | None:
    folder = places.own_folder("cifar-10-c")
    path = None if folder is None else folder / f"{corruption.replace('-', '_')}.npy"
    return path if path is not None and path.is_file() else None


def read_published(corruption: str, severity: int) -> Split | None:
    """The test images of FOCAL_DATA/cifar-10-c/<corruption>.npy at a severity; None where there is no such file.

    Raises:
        ValueError: a severity that is not 1 to 5, or files of another content.
    """
    path = _path_of(corruption)
    if path is None:
        return None
    if not 1 <= severity <= SEVERITIES:
        raise ValueError(f"severity must be 1 to {SEVERITIES}. Got {severity}.")
    try:
        images = np.load(path, mmap_mode="r", allow_pickle=False)  # 150 MB, of which a fifth is needed
        labels = np.load(path.parent / "labels.npy", allow_pickle=False).astype(np.int64)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path.parent} must hold whole npy files, labels.npy too. Got {error}") from None
    size, rest = divmod(len(labels), SEVERITIES)
    if rest or images.shape != (len(labels), 32, 32, 3):
        raise ValueError(
            f"{path.name} must be of shape (n, 32, 32, 3), with n labels, a fifth of them for each severity. "
            f"Got {images.shape} and {len(labels)} labels."
        )
    part = slice((severity - 1) * size, severity * size)
    return check_images(path.name, Split(np.array(images[part]), labels[part]), 10)
