"""Data sets by name; nothing of ours is ever unpickled.

Each is looked for in `FOCAL_DATA/<name>` first: `train.npz` and `test.npz` for pictures (`images` uint8 (n, H, W) or
(n, H, W, C), `labels` int64 (n,)), of your own also `train/<class>/*.png` and `test/<class>/*.png` or what Hugging
Face's `datasets` saved, the published files for texts. Then it is fetched, as a Debian package or by the
downloads of torchvision, scikit-learn and pip, and kept under `FOCAL_CACHE` (default: the user's cache folder).

`cifar10-c-<corruption>-<severity>` is CIFAR-10 with its test images corrupted: those of the published file where it is
given, else made here, see `corruptions`; with frost from photographs, see `frost_photographs`.

    python -m reproduction.engine.data fashion-mnist     # fetch it, or say why not
"""

from __future__ import annotations

from dataclasses import replace

from reproduction.engine.data import places
from reproduction.engine.data.corruptions import (
    CORRUPTION_KINDS,
    CORRUPTIONS,
    SEVERITIES,
    corrupt,
    published_file,
    read_published,
)
from reproduction.engine.data.dataset import Dataset, Split, split
from reproduction.engine.data.images import CLASSES, IMAGE_SETS, find_image_set, load_images
from reproduction.engine.data.sources import SOURCES, DataSource, find_source
from reproduction.engine.data.text import TEXT_SETS, load_text

__all__ = [
    "CORRUPTIONS",
    "CORRUPTION_KINDS",
    "DATASETS",
    "SOURCES",
    "DataSource",
    "Dataset",
    "Split",
    "check_name",
    "class_names",
    "corrupt",
    "find_source",
    "load",
    "split",
]

DATASETS = (*IMAGE_SETS, "cifar10-c-<corruption>-<severity>", *TEXT_SETS)


def load(name: str) -> Dataset:
    """The data set of that name.

    Raises:
        ValueError: an unknown name, or files with the wrong content.
        FileNotFoundError: it is nowhere to be had; the message names the ways to provide it.
    """
    check_name(name)
    if name in TEXT_SETS:
        return load_text(name)
    return _corrupted(name) if name.startswith("cifar10-c-") else load_images(name)


def check_name(name: str) -> None:
    """Whether there is a data set of that name, here or to be fetched.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    if name.startswith("cifar10-c-"):
        _corruption_of(name)
    elif name not in TEXT_SETS and name not in IMAGE_SETS and places.own_folder(name) is None:
        raise ValueError(f"dataset must be one of {', '.join(DATASETS)}, or a folder in FOCAL_DATA. Got {name!r}.")


def is_unpublished(dataset: Dataset) -> bool:
    """Whether it is a folder of images in FOCAL_DATA with a name that no published data set has."""
    return dataset.kind == "images" and find_image_set(dataset.name) is None


def class_names(name: str, classes: int) -> list[str]:
    """What the classes of a data set are called, where it is known here: of Fashion-MNIST; else their numbers."""
    return list(CLASSES) if name == "fashion-mnist" else [f"class {number}" for number in range(classes)]


def _corrupted(name: str) -> Dataset:
    """'cifar10-c-gaussian-noise-3': train on clean images, test on corrupted ones."""
    corruption, severity = _corruption_of(name)
    clean = load_images("cifar10")
    if (path := published_file(corruption)) is not None:
        return replace(clean, name=name, test=read_published(path, severity))
    return replace(clean, name=name, test=Split(corrupt(clean.test.inputs, corruption, severity), clean.test.labels))


def _corruption_of(name: str) -> tuple[str, int]:
    corruption, _, severity = name.removeprefix("cifar10-c-").rpartition("-")
    if severity not in map(str, range(1, SEVERITIES + 1)):
        raise ValueError(f"dataset must read cifar10-c-<corruption>-<severity 1 to {SEVERITIES}>. Got {name!r}.")
    if corruption not in CORRUPTIONS and published_file(corruption) is None:
        raise ValueError(f"corruption must be one of {', '.join(CORRUPTIONS)}. Got {corruption!r}.")
    return corruption, int(severity)
