"""Somebody's logits with labels, read from a file: what `focal calibrate` starts from.

npz: `logits` and `labels`; or both for `validation_` and `test_`. npy: logits, with the labels in another npy.
csv, parquet: a column `label`, and one column for each class, in order, and nothing else.
"""

from __future__ import annotations

import csv
import io
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
        ValueError: another format, missing or damaged arrays, more arrays or columns than can be meant; labels for
            another format than npy; and as logit_sets.checked_set.
    """
    path = Path(path)
    pairs = _arrays(path, None if labels is None else Path(labels))
    return {name: checked_set(name, *pair, given) for name, pair in pairs.items()}


def _arrays(path: Path, labels: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if labels is not None and path.suffix != ".npy":
        raise ValueError(f"--labels goes with an npy file, as others hold theirs. Got {labels.name} and {path.name}.")
    if path.suffix == ".npz":
        return _from_npz(path)
    if path.suffix == ".npy":
        if labels is None:
            raise ValueError(f"{path.name} holds logits alone: name the file of the labels with --labels.")
        if labels.suffix != ".npy":
            raise ValueError(f"the file of the labels must be .npy. Got {labels.name}.")
        return {"all": (_load(path, "r"), _load(labels))}
    if path.suffix in (".csv", ".parquet"):
        return {"all": _from_table(path)}
    raise ValueError(f"a file of logits must be .npz, .npy, .csv or .parquet. Got {path.name}.")


_NO_CLASS = {"id", "ids", "index", "idx", "sample", "sample_id", "row", "unnamed: 0", "__index_level_0__", ""}


def _from_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    frame = _table(path)
    names = [str(name) for name in frame.columns]
    if "label" not in names:
        raise ValueError(f"{path.name} must have a column 'label'. Got {', '.join(names[:6])}.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path.name} must have each column once. Got {', '.join(twice)} more than once.")
    for name, (_, column) in zip(names, frame.items(), strict=True):
        if column.dtype.kind not in "fiu":
            raise ValueError(f"{path.name} must hold numbers. Got {column.dtype} in column {name}, {column.iloc[0]!r}.")
        if column.isna().any():
            sample = int(column.isna().to_numpy().argmax())
            raise ValueError(f"{path.name} must have every number. Got none in column {name} of sample {sample}.")
        counts = len(column) > 2 and (column.diff().iloc[1:] == 1).all()
        if name != "label" and (name.strip().lower() in _NO_CLASS or counts):
            why = "it counts the samples" if counts else "its name is no class'"
            raise ValueError(f"{path.name} must have a column for each class, and label. Leave out {name!r}: {why}.")
    return frame.drop(columns="label").to_numpy(), frame["label"].to_numpy()


def _table(path: Path) -> pd.DataFrame:
    """The columns with the names that they have: pandas would number those that stand twice."""
    content = path.read_bytes()
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(io.BytesIO(content))
        names = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")), [])
        found = pd.read_csv(io.BytesIO(content), header=None, skiprows=1, encoding="utf-8-sig")
        return found.set_axis(names, axis=1)
    except (ValueError, OSError, csv.Error) as error:  # pandas' and Arrow's own are among them
        reason = " ".join(str(error).split())
        raise ValueError(f"{path.name} must be a table of numbers, {path.suffix[1:]}. It is not: {reason}") from None


def _load(path: Path, mmap_mode: Literal["r"] | None = None) -> Any:
    """np.load of numbers, never of pickles."""
    try:
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except (ValueError, EOFError, BadZipFile):  # NumPy's own message proposes to trust the file
        raise ValueError(f"{path.name} must be an {path.suffix[1:]} file of numbers. It is not.") from None


def _from_npz(path: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with _load(path) as file:
        names = set(file.files)
        wanted = {part: (f"{part}_logits", f"{part}_labels") for part in ("validation", "test")}
        if {"logits", "labels"} <= names:
            if both := sorted(names & set(sum(wanted.values(), ()))):
                raise ValueError(
                    f"{path.name} must hold one set of logits and labels, or two. Got {', '.join(both)}, too."
                )
            return {"all": (_member(path, file, "logits"), _member(path, file, "labels"))}
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
