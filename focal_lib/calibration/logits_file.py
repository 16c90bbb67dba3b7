"""Somebody's logits with labels, read from a file: what `focal calibrate` starts from.

npz: `logits` and `labels`; or both for `validation_` and `test_`. npy: logits, with the labels in another npy.
csv, parquet: a column `label`, and one column for each class, in order.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from focal_lib.calibration.logit_sets import Given, Sets, checked_set

__all__ = ["read_logits"]


def read_logits(path: str | Path, given: Given = "logits", labels: str | Path | None = None) -> Sets:
    """{'validation': ..., 'test': ...} where the file has both, else {'all': ...}.

    Args:
        given: what the numbers are. It is checked, not guessed.
        labels: file of the labels, for npy.

    Raises:
        ValueError: another format, missing or damaged arrays; and as logit_sets.checked_set.
    """
    path = Path(path)
    pairs = _arrays(path, None if labels is None else Path(labels))
    return {name: checked_set(name, *pair, given) for name, pair in pairs.items()}


def _arrays(path: Path, labels: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if path.suffix == ".npz":
        return _from_npz(path)
    if path.suffix == ".npy":
        if labels is None:
            raise ValueError(f"{path.name} holds logits alone: name the file of the labels with --labels.")
        if labels.suffix != ".npy":
            raise ValueError(f"the file of the labels must be .npy. Got {labels.name}.")
        return {"all": (_load(path, "r"), _load(labels))}
    if path.suffix in (".csv", ".parquet"):
        frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        if "label" not in frame:
            raise ValueError(f"{path.name} must have a column 'label'. Got {', '.join(map(str, frame.columns[:6]))}.")
        return {"all": (frame.drop(columns="label").to_numpy(), frame["label"].to_numpy())}
    raise ValueError(f"a file of logits must be .npz, .npy, .csv or .parquet. Got {path.name}.")


def _load(path: Path, mmap_mode: Literal["r"] | None = None) -> Any:
    """np.load of numbers, never of pickles."""
    try:
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except (ValueError, EOFError, BadZipFile):  # NumPy's own message proposes to trust the file
        raise ValueError(f"{path.name} must be an {path.suffix[1:]} file of numbers. It is not.") from None


def _from_npz(path: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with _load(path) as file:
        names = set(file.files)
        if {"logits", "labels"} <= names:
            return {"all": (_member(path, file, "logits"), _member(path, file, "labels"))}
        wanted = {part: (f"{part}_logits", f"{part}_labels") for part in ("validation", "test")}
        if missing := [name for pair in wanted.values() for name in pair if name not in names]:
            raise ValueError(
                f"{path.name} must hold logits and labels, or {', '.join(sum(wanted.values(), ()))}. "
                f"Got {', '.join(sorted(names)) or 'nothing'}; no {missing[0]}."
            )
        return {part: (_member(path, file, pair[0]), _member(path, file, pair[1])) for part, pair in wanted.items()}


def _member(path: Path, file: Any, name: str) -> np.ndarray:
    try:
        found = file[name]
    except (ValueError, EOFError, BadZipFile, zlib.error):  # objects, which NumPy would unpickle; or a damaged file
        found = None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name} in {path.name} must be an array of numbers. It holds objects, or is damaged.")
    return found
