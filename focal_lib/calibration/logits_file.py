"""Somebody's logits with labels, read from a file: what `focal calibrate` starts from.

npz: `logits` and `labels`; or both for `validation_` and `test_`. npy: logits, with the labels in another npy.
csv, parquet: a column `label`, and one column a class in order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_labels

__all__ = ["Given", "LogitSet", "SelectedSamples", "arrange", "as_logits", "read", "split"]

Given = Literal["logits", "log-probs", "probs"]
FLAG = {"logits": "--given logits", "log-probs": "--given log-probs", "probs": "--given probs"}


@dataclass(frozen=True)
class SelectedSamples:
    """Logits from some rows of a memory map, which stays on disk; sliced like an array."""

    values: np.ndarray
    index: np.ndarray  # rising
    given: Given = "logits"

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.index), *self.values.shape[1:]

    @property
    def ndim(self) -> int:
        return self.values.ndim

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return _convert(np.asarray(self.values[self.index[rows]]), self.given)


@dataclass(frozen=True)
class LogitSet:
    """Logits (n, K), an array or rows of a memory map, with labels int64 (n,)."""

    logits: np.ndarray | SelectedSamples
    labels: np.ndarray

    @property
    def classes(self) -> int:
        return int(self.logits.shape[1])

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> LogitSet:
        """The rows of the index, in rising order."""
        index = np.sort(index)
        if isinstance(self.logits, SelectedSamples):
            return LogitSet(replace(self.logits, index=self.logits.index[index]), self.labels[index])
        return LogitSet(self.logits[index], self.labels[index])


def read(path: str | Path, given: Given = "logits", labels: str | Path | None = None) -> dict[str, LogitSet]:
    """{'validation': ..., 'test': ...} where the file has both, else {'all': ...}.

    Args:
        given: what the numbers are. It is checked, not guessed.
        labels: file of the labels, for npy.

    Raises:
        ValueError: another format, missing arrays, numbers that are not what they are said to be, labels that are
            one-hot or count from 1; the message says which flag or change helps.
    """
    path = Path(path)
    parts = _arrays(path, None if labels is None else Path(labels))
    return {name: _checked(name, *part, given) for name, part in parts.items()}


def _arrays(path: Path, labels: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if path.suffix == ".npz":
        return _from_npz(path)
    if path.suffix == ".npy":
        if labels is None:
            raise ValueError(f"{path.name} holds logits alone: name the file of the labels with --labels.")
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
        try:
            return _named_arrays(path, file)
        except ValueError as error:
            if "Object arrays" in str(error):
                raise ValueError(f"{path.name} must hold numbers. It holds objects.") from None
            raise


def _named_arrays(path: Path, file: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    names = set(file.files)
    if {"logits", "labels"} <= names:
        return {"all": (file["logits"], file["labels"])}
    wanted = [f"{part}_{kind}" for part in ("validation", "test") for kind in ("logits", "labels")]
    if missing := [name for name in wanted if name not in names]:
        raise ValueError(
            f"{path.name} must hold logits and labels, or {', '.join(wanted)}. "
            f"Got {', '.join(sorted(names)) or 'nothing'}; no {missing[0]}."
        )
    return {part: (file[f"{part}_logits"], file[f"{part}_labels"]) for part in ("validation", "test")}


def _checked(name: str, logits: np.ndarray, labels: np.ndarray, given: Given) -> LogitSet:
    what = "" if name == "all" else f"{name} "
    if logits.ndim != 2 or logits.dtype.kind not in "fiu":
        raise ValueError(f"{what}logits must be numbers of shape (n, K). Got {logits.dtype} {logits.shape}.")
    if 0 in logits.shape or logits.shape[1] < 2:
        raise ValueError(f"{what}logits must have rows, and K >= 2 columns. Got {logits.shape}.")
    labels = _plain_labels(labels, logits.shape[0], logits.shape[1], f"{what}labels")
    _check_given(logits, labels, given, f"{what}logits")
    on_disk = isinstance(logits, np.memmap)
    return LogitSet(
        SelectedSamples(logits, np.arange(len(labels)), given) if on_disk else _convert(logits, given), labels
    )


def _plain_labels(labels: np.ndarray, n: int, classes: int, name: str) -> np.ndarray:
    if labels.shape == (n, classes) and np.isin(labels, (0, 1)).all() and (labels.sum(-1) == 1).all():
        raise ValueError(f"{name} are one-hot: give the class numbers, labels.argmax(-1).")
    if labels.ndim == 2 and labels.shape == (n, 1):
        raise ValueError(f"{name} must have shape (n,): give labels[:, 0]. Got {labels.shape}.")
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)  # what csv files make of integers
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 1 and labels.max() == classes:
        raise ValueError(f"{name} count from 1 to {classes}: give labels - 1, as classes count from 0.")
    check_labels(labels, n, classes, name=name)
    return labels.astype(np.int64)


def as_logits(values: np.ndarray, given: Given, name: str = "logits") -> np.ndarray:
    """Logits from what is given: log-probabilities as they are; of probabilities the logarithm, of 0 that of 1.2e-38.

    Raises:
        ValueError: the values are something else than given.
    """
    _check_given(values, np.zeros(len(values), dtype=np.int64), given, name)
    return _convert(values, given)


def _convert(values: np.ndarray, given: Given) -> np.ndarray:
    if given != "probs":
        return values
    wide = values if values.dtype == np.float64 else values.astype(np.float32)
    return np.log(np.maximum(wide, np.finfo(np.float32).tiny))  # of 0 the same for every kind of number


def _check_given(values: np.ndarray, labels: np.ndarray, given: Given, name: str) -> None:
    """Read the values once, in chunks, and compare with what they are said to be."""
    bad, minus_low, high, off_one, log_total = np.max(Samples(values, labels, name).map(_look), axis=0)
    if bad:
        remedy = f"; for probabilities of 0 give the probabilities, {FLAG['probs']}" if given == "log-probs" else ""
        raise ValueError(f"{name} must be finite. Got NaN or infinite numbers{remedy}.")
    like_probs = minus_low <= 0 and high <= 1 + 1e-3 and off_one < 1e-2
    if given == "probs" and not like_probs:
        raise ValueError(
            f"{name} were given as probabilities: they must lie in [0, 1] and sum to 1. Got values from "
            f"{-minus_low:.4g} to {high:.4g}, a row off by {off_one:.3g}."
        )
    if given != "probs" and like_probs:
        raise ValueError(f"{name} look like probabilities, rows that sum to 1: say so with {FLAG['probs']}.")
    if given == "log-probs" and log_total > 1e-2:
        raise ValueError(
            f"{name} were given as log-probabilities: the exponentials of a row must sum to 1. Got a row with "
            f"logsumexp {log_total:.3g}; for plain logits say {FLAG['logits']}."
        )


def _look(z: Tensor, _: Tensor) -> np.ndarray:
    """Whether any is not finite, -min, max, and the largest of abs(sum - 1) and of abs(logsumexp) of a row."""
    if not bool(torch.isfinite(z).all()):
        return np.array([1.0, 0, 0, 0, 0])
    found = -z.min(), z.max(), (z.sum(-1) - 1).abs().max(), torch.logsumexp(z, -1).abs().max()
    return np.array([0.0, *map(float, found)])


def split(whole: LogitSet, share: float = 0.5, seed: int = 0) -> dict[str, LogitSet]:
    """Validation and test parts of one set, at random.

    Raises:
        ValueError: share not in (0, 1), or a part without rows.
    """
    count = round(share * len(whole))
    if not 0 < share < 1 or not 0 < count < len(whole):
        raise ValueError(f"the share for validation must leave rows on both sides. Got {share} of {len(whole)} rows.")
    order = np.random.default_rng(seed).permutation(len(whole))
    return {"validation": whole.take(order[:count]), "test": whole.take(order[count:])}


def arrange(parts: dict[str, LogitSet], share: float = 0.5, folds: int = 0, seed: int = 0) -> dict[str, LogitSet]:
    """What `read` gives, as {'validation', 'test'}, split where the file has one set; or as {'all'} for folds.

    Raises:
        ValueError: as split; one class alone to fit on; folds of a file that has both sets, or 1.
    """
    if folds == 0:
        parts = split(parts["all"], share, seed) if "all" in parts else parts
        if len(known := np.unique(parts["validation"].labels)) < 2:
            raise ValueError(f"labels to fit on must hold at least two classes. Got only class {known[0]}.")
        return parts
    if "all" not in parts:
        raise ValueError(f"folds are for a file of one set. Got {folds} folds, and validation and test in the file.")
    if not 2 <= folds <= len(parts["all"]):
        raise ValueError(f"folds must be from 2 to the number of rows, {len(parts['all'])}. Got {folds}.")
    return parts
