"""ChestX-ray14 of Wang et al. (2017), where its files are given: they are not fetched.

In FOCAL_DATA/chest-xray14, as the NIH publishes them: Data_Entry_2017.csv (or Data_Entry_2017_v2020.csv),
train_val_list.txt and test_list.txt, the PNG files in any folders below, and BBox_List_2017.csv where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from focal_lib.validation import check_number
from reproduction.engine.data import places
from reproduction.studies.localisation.canvases import LocatedImages

NAME = "chest-xray14"
SIDE = 96  # pixels a side, here
FINDINGS = (  # in the order of L25 Table 9
    *("Atelectasis", "Cardiomegaly", "Effusion", "Infiltration", "Mass", "Nodule", "Pneumonia", "Pneumothorax"),
    *("Consolidation", "Edema", "Emphysema", "Fibrosis", "Pleural_Thickening", "Hernia"),
)
_NONE = "No Finding"
_ENTRIES = ("Data_Entry_2017.csv", "Data_Entry_2017_v2020.csv")
_LISTS = ("train_val_list.txt", "test_list.txt")
_BOXES = "BBox_List_2017.csv"
_IMAGE, _FINDING = "Image Index", "Finding Labels"
_SPELLED = {"Infiltrate": "Infiltration"}  # in the list of boxes
_FULL = 1024  # pixels a side as published, in which boxes are given


def chest_xrays(n_train: int, n_test: int, seed: int, side: int = SIDE) -> tuple[LocatedImages, LocatedImages]:
    """So many images of the official training and test list of FOCAL_DATA/chest-xray14, drawn by the seed.

    Test images with boxes come first, as there are few.

    Raises:
        FileNotFoundError: no such folder, or a file of it is not there; the message says which.
        ValueError: files with the wrong content; fewer images than asked for.
    """
    folder = places.own_folder(NAME)
    if folder is None:
        raise FileNotFoundError(
            f"{NAME} is not fetched: set FOCAL_DATA to a folder that holds {NAME} with {_ENTRIES[0]}, "
            f"{', '.join(_LISTS)}, the PNG files and, for boxes, {_BOXES} (nihcc.app.box.com/v/ChestXray-NIHCC)."
        )
    entries, lists, boxes = _read_entries(folder), _read_lists(folder), _read_boxes(folder)
    rng, parts = np.random.default_rng(seed), []
    for name, listed, n in zip(_LISTS, lists, (n_train, n_test), strict=True):
        if n > len(listed):
            raise ValueError(f"{name} of {NAME} must have the {n} images asked for. Got {len(listed)}.")
        order = rng.permutation(listed)
        if name == _LISTS[1]:
            order = order[np.argsort(~np.isin(order, [image for image, _ in boxes]), kind="stable")]
        parts.append(_located(folder, order[:n].tolist(), entries, boxes, side))
    return parts[0], parts[1]


def _read_entries(folder: Path) -> pd.Series:
    """Image -> its findings, with '|' between."""
    path = next((folder / name for name in _ENTRIES if (folder / name).is_file()), None)
    if path is None:
        raise FileNotFoundError(f"{folder} must hold {' or '.join(_ENTRIES)}. Got neither.")
    table = _read_csv(path, (_IMAGE, _FINDING))
    if table[_IMAGE].duplicated().any():
        raise ValueError(f"{path.name} must have a line for each image. Got {_first_twice(table[_IMAGE])} twice.")
    known = {*FINDINGS, _NONE}
    found = {finding for line in table[_FINDING].unique() for finding in str(line).split("|")}
    if found - known:
        raise ValueError(
            f"{_FINDING} of {path.name} must be among {', '.join(sorted(known))}. Got {min(found - known)!r}."
        )
    return table.set_index(_IMAGE)[_FINDING]


def _read_lists(folder: Path) -> list[list[str]]:
    found = []
    for name in _LISTS:
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} must hold {name}, the official split. Got none.")
        found.append((folder / name).read_text().split())
    if both := sorted(set(found[0]) & set(found[1])):
        raise ValueError(f"{' and '.join(_LISTS)} must have no image in common. Got {both[0]} in both.")
    return found


def _read_boxes(folder: Path) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """(image, finding) -> x, y, width, height in pixels of 1024; none where there is no list.

    Of several boxes of one finding the first counts.
    """
    path = folder / _BOXES
    if not path.is_file():
        return {}
    table = _read_csv(path, (_IMAGE, "Finding Label"))
    if table.shape[1] < 6:
        raise ValueError(f"{_BOXES} must have image, finding, x, y, w and h as its first columns. Got {list(table)}.")
    found: dict[tuple[str, str], tuple[float, float, float, float]] = {}
    for image, finding, x, y, width, height in table.iloc[:, :6].itertuples(index=False, name=None):
        found.setdefault((image, _SPELLED.get(finding, finding)), (x, y, width, height))
    if unknown := sorted({finding for _, finding in found} - set(FINDINGS)):
        raise ValueError(f"findings of {_BOXES} must be among {', '.join(FINDINGS)}. Got {unknown[0]!r}.")
    return found


def _read_csv(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    table = pd.read_csv(path)
    if missing := [name for name in columns if name not in table]:
        raise ValueError(f"{path.name} must have the columns {', '.join(columns)}. Got no {missing[0]!r}.")
    return table


def _first_twice(names: pd.Series) -> str:
    return str(names[names.duplicated()].iloc[0])


def _located(
    folder: Path,
    images: Sequence[str],
    entries: pd.Series,
    boxes: dict[tuple[str, str], tuple[float, float, float, float]],
    side: int,
) -> LocatedImages:
    from PIL import Image

    check_number(side, "side", minimum=8)
    files = {path.name: path for path in folder.rglob("*.png")}
    pixels = np.zeros((len(images), side, side, 1), np.uint8)
    labels, located = np.zeros((len(images), len(FINDINGS)), np.int64), np.full((len(images), len(FINDINGS), 4), -1)
    for row, name in enumerate(images):
        if name not in entries:
            raise ValueError(f"{_ENTRIES[0]} must have a line for each listed image. Got none for {name}.")
        if name not in files:
            raise FileNotFoundError(f"{folder} must hold {name}, itself or in a folder below. Got {len(files)} others.")
        picture = Image.open(files[name]).convert("L")  # a few have four channels
        pixels[row, ..., 0] = np.asarray(picture.resize((side, side), Image.Resampling.BOX))
        for finding in set(entries[name].split("|")) - {_NONE}:
            k = FINDINGS.index(finding)
            labels[row, k] = 1
            if (name, finding) in boxes:
                located[row, k] = _scaled(boxes[name, finding], side)
    return LocatedImages(pixels, labels, located, FINDINGS)


def _scaled(box: tuple[float, float, float, float], side: int) -> tuple[int, int, int, int]:
    """x, y, width, height of 1024 pixels -> top, left, bottom, right of `side`, at least a pixel, within the image."""
    x, y, width, height = (value * side / _FULL for value in box)
    top, left = min(int(y), side - 1), min(int(x), side - 1)
    bottom, right = (
        min(max(int(np.ceil(end)), start + 1), side) for end, start in ((y + height, top), (x + width, left))
    )
    return top, left, bottom, right
