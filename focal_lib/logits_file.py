"""Somebody's logits with labels, read from a file: what `focal calibrate` starts from.

npz: `logits` and `labels`; or both for `validation_` and `test_`. npy: logits, with the labels in another npy.
csv, parquet: a column `label`, and one column a class in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from focal_lib.validation import check_labels, check_logits

__all__ = ["Given", "LogitSet", "as_logits", "read", "split"]

Given = Literal["logits", "log-probs", "probs"]
FLAG = {"logits": "--given logits", "log-probs": "--given log-probs", "probs": "--given probs"}


@dataclass(frozen=True)
class LogitSet:
    """Logits (n, K) with labels int64 (n,)."""

    logits: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> LogitSet:
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
        return {"all": (np.load(path, mmap_mode="r", allow_pickle=False), np.load(labels, allow_pickle=False))}
    if path.suffix in (".csv", ".parquet"):
        frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        if "label" not in frame:
            raise ValueError(f"{path.name} must have a column 'label'. Got {', '.join(map(str, frame.columns[:6]))}.")
        return {"all": (frame.drop(columns="label").to_numpy(), frame["label"].to_numpy())}
    raise ValueError(f"a file of logits must be .npz, .npy, .csv or .parquet. Got {path.name}.")


def _from_npz(path: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with np.load(path, allow_pickle=False) as file:
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
    check_logits(logits, name=f"{what}logits")
    labels = _plain_labels(labels, logits.shape[0], logits.shape[1], f"{what}labels")
    return LogitSet(as_logits(logits, given, f"{what}logits"), labels)


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
    """Logits from what is given: log-probabilities are logits; of probabilities the logarithm, 0 as the smallest float.

    Raises:
        ValueError: the values are something else than given.
    """
    sums = values.sum(-1, dtype=np.float64)
    like_probs = values.min() >= 0 and values.max() <= 1 + 1e-3 and bool(np.abs(sums - 1).max() < 1e-2)
    if given == "probs":
        if not like_probs:
            worst = float(np.abs(sums - 1).max())
            raise ValueError(
                f"{name} were given as probabilities: they must lie in [0, 1] and sum to 1. Got values from "
                f"{float(values.min()):.4g} to {float(values.max()):.4g}, a row off by {worst:.3g}."
            )
        floating = values if values.dtype.kind == "f" else values.astype(np.float64)
        return np.log(np.maximum(floating, np.finfo(floating.dtype).tiny))
    if like_probs:
        raise ValueError(f"{name} look like probabilities, rows that sum to 1: say so with {FLAG['probs']}.")
    if given == "log-probs":
        worst = float(np.abs(logsumexp(values.astype(np.float64), -1)).max())
        if worst > 1e-2:
            raise ValueError(
                f"{name} were given as log-probabilities: the exponentials of a row must sum to 1. Got a row with "
                f"logsumexp {worst:.3g}; for plain logits say {FLAG['logits']}."
            )
    return values


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
