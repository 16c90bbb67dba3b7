"""Images of your own that are no arrays: a folder a class, or a data set saved by Hugging Face's `datasets`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Split

SIDES = ("train", "test")
SAVED = "dataset_dict.json"  # of `DatasetDict.save_to_disk`
_EIGHT_BITS = ("1", "L", "P", "RGB", "RGBA")  # modes of Pillow
_IMAGES, _LABELS = ("image", "img"), ("label", "labels", "fine_label")


def read_image_folder(folder: Path) -> tuple[Split, Split]:
    """`train/<class>/<image>` and `test/<class>/<image>`; classes are numbered in the order of their names.

    Grey where all images are, else RGB.

    Raises:
        ValueError: a missing or empty folder, a file that is no image, images of two sizes or of more than 8 bits.
    """
    classes: list[str] = []
    parts = []
    for side in SIDES:
        found = sorted(path for path in (folder / side).glob("*") if path.is_dir() and not path.name.startswith("."))
        classes = classes or [path.name for path in found]
        if not found or not {path.name for path in found} <= set(classes):
            got = ", ".join(path.name for path in found) or "none"
            wanted = f"of {', '.join(classes)}" if classes else "a class"
            raise ValueError(f"{folder / side} must hold folders, one {wanted}. Got {got}.")
        files = []
        for own in found:
            inside = [path for path in sorted(own.iterdir()) if not path.name.startswith(".")]
            if not inside:
                raise ValueError(f"{own} must hold images of its class. Got none.")
            files += [(path, classes.index(own.name)) for path in inside]
        parts.append(_stack(((path, _open(path)) for path, _ in files), [label for _, label in files], folder / side))
    return parts[0], parts[1]


def read_saved(folder: Path) -> tuple[Split, Split]:
    """What `DatasetDict.save_to_disk` wrote: splits train and test, with a column of images and one of labels.

    Raises:
        ValueError: `datasets` is not installed, a missing split or column, images as for `read_image_folder`.
    """
    try:
        from datasets import load_from_disk
    except ModuleNotFoundError:
        raise ValueError(f"{folder} was saved by Hugging Face's datasets: pip install datasets.") from None
    saved, parts = load_from_disk(str(folder)), []
    if missing := [side for side in SIDES if side not in saved]:
        raise ValueError(f"{folder} must have splits train and test. Got no {missing[0]}.")
    for side in SIDES:
        columns = [next((n for n in names if n in saved[side].column_names), "") for names in (_IMAGES, _LABELS)]
        if not all(columns):
            raise ValueError(
                f"{folder} {side} must have a column image or img, and label, labels or fine_label. "
                f"Got {', '.join(saved[side].column_names)}."
            )
        rows = list(saved[side])
        named = ((f"{folder} {side} {number}", row[columns[0]]) for number, row in enumerate(rows))
        parts.append(_stack(named, [row[columns[1]] for row in rows], folder / side))
    return parts[0], parts[1]


def _open(path: Path) -> Any:
    from PIL import Image

    with places.reading(path, "an image"), Image.open(path) as image:
        image.load()
        return image


def _stack(pictures: Iterable[tuple[Path | str, Any]], labels: list[int], where: Path) -> Split:
    found = list(pictures)
    if not found:
        raise ValueError(f"{where} must hold images. Got none.")
    size = found[0][1].size
    for name, image in found:
        if image.mode not in _EIGHT_BITS:
            raise ValueError(f"{name} must have 8 bits a channel. Got Pillow's mode {image.mode}.")
        if image.size != size:
            sizes = f"(height, width) = {size[::-1]}. Got {image.size[::-1]}"
            raise ValueError(f"{name} must be as large as {found[0][0]}, {sizes}: resize them first.")
    mode = "L" if all(image.mode in ("1", "L") for _, image in found) else "RGB"
    return Split(np.stack([np.asarray(image.convert(mode)) for _, image in found]), np.asarray(labels))
