"""Somebody's logits with labels, checked, as what to fit on and what to test on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_labels

__all__ = [
    "Given",
    "LogitSet",
    "SelectedSamples",
    "Sets",
    "as_logits",
    "checked_set",
    "fit_and_test_sets",
    "sets_of",
    "split",
]

Given = Literal["logits", "log-probs", "probs"]
FLAG = {"logits": "--given logits", "log-probs": "--given log-probs", "probs": "--given probs"}


@dataclass(frozen=True)
class SelectedSamples:
    """Logits of some samples of a memory map, which stays on disk; sliced like an array."""

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

    def __getitem__(self, selected: slice | np.ndarray) -> np.ndarray:
        return _convert(np.asarray(self.values[self.index[selected]]), self.given)


@dataclass(frozen=True)
class LogitSet:
    """Logits (n, K), an array or samples of a memory map, with labels int64 (n,).

    Attributes:
        groups: int64 (n,), of samples that are not independent and stay together in splits; None where all are.
        slices: int64 (n,), by which errors are reported one by one; None for the whole alone.
        weights: float64 (n,), what each sample counts; None where all count the same.
        class_names, slice_names: for the columns of the logits, and for the numbers in slices.
    """

    logits: np.ndarray | SelectedSamples
    labels: np.ndarray
    groups: np.ndarray | None = None
    slices: np.ndarray | None = None
    weights: np.ndarray | None = None
    class_names: tuple[str, ...] | None = None
    slice_names: tuple[str, ...] | None = None

    @property
    def classes(self) -> int:
        return int(self.logits.shape[1])

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> LogitSet:
        """The samples of the index, in rising order."""
        index = np.sort(index)
        of_samples = {name: getattr(self, name) for name in ("labels", "groups", "slices", "weights")}
        taken = {name: values[index] for name, values in of_samples.items() if values is not None}
        if isinstance(self.logits, SelectedSamples):
            return replace(self, logits=replace(self.logits, index=self.logits.index[index]), **taken)
        return replace(self, logits=self.logits[index], **taken)


Sets = dict[str, LogitSet]  # 'validation' and 'test', or 'all'


def sets_of(data: Any, given: Given = "logits") -> Sets:
    """{'validation': ..., 'test': ...} of two pairs, {'all': ...} of one; what has been read stays as it is.

    Args:
        data: (logits, labels), arrays or tensors (n, K) and (n,); two such pairs, for validation and test; a LogitSet;
            or what read_logits gave.

    Raises:
        ValueError: as checked_set.
        TypeError: anything else.
    """
    if isinstance(data, LogitSet):
        return {"all": data}
    if isinstance(data, dict) and set(data) in ({"all"}, {"validation", "test"}):
        return {
            name: part if isinstance(part, LogitSet) else _of_pair(name, part, given) for name, part in data.items()
        }
    if isinstance(data, tuple | list) and len(data) == 2:
        if all(isinstance(part, tuple) and len(part) == 2 for part in data):
            return {name: _of_pair(name, part, given) for name, part in zip(("validation", "test"), data, strict=True)}
        return {"all": _of_pair("all", data, given)}
    raise TypeError(
        "data must be the path of a file, (logits, labels), two such pairs, or what read_logits gave. "
        f"Got {type(data).__name__}."
    )


def _of_pair(name: str, pair: Any, given: Given) -> LogitSet:
    logits, labels = pair
    return checked_set(name, _as_array(logits), _as_array(labels), given)


def _as_array(values: Any) -> np.ndarray:
    """On the CPU; a memory map stays one."""
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        return (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    return values if isinstance(values, np.ndarray) else np.asarray(values)


def checked_set(name: str, logits: np.ndarray, labels: np.ndarray, given: Given) -> LogitSet:
    """A set, seen to be what it is said to be.

    Args:
        name: of the set, 'all' where there is one.

    Raises:
        ValueError: numbers that are not what they are said to be, labels that are one-hot or count from 1, shapes that
            do not fit; the message says which flag or change helps.
    """
    what = "" if name == "all" else f"{name} "
    if logits.ndim != 2 or logits.dtype.kind not in "fiu":
        raise ValueError(f"{what}logits must be numbers of shape (n, K). Got {logits.dtype} {logits.shape}.")
    if 0 in logits.shape or logits.shape[1] < 2:
        raise ValueError(f"{what}logits must have samples, and K >= 2 columns. Got {logits.shape}.")
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
    if given not in FLAG:
        raise ValueError(f"given must be one of {', '.join(FLAG)}. Got {given!r}.")
    bad, minus_low, high, off_one, log_total = np.max(Samples(values, labels, name).map(_extremes), axis=0)
    if bad:
        remedy = f"; for probabilities of 0 give the probabilities, {FLAG['probs']}" if given == "log-probs" else ""
        raise ValueError(f"{name} must be finite. Got NaN or infinite numbers{remedy}.")
    like_probs = minus_low <= 0 and high <= 1 + 1e-3 and off_one < 1e-2
    if given == "probs" and not like_probs:
        raise ValueError(
            f"{name} were given as probabilities: they must lie in [0, 1] and sum to 1. Got values from "
            f"{-minus_low:.4g} to {high:.4g}, a sample whose sum is off by {off_one:.3g}."
        )
    if given != "probs" and like_probs:
        raise ValueError(f"{name} look like probabilities, which sum to 1: say so with {FLAG['probs']}.")
    if given == "log-probs" and log_total > 1e-2:
        raise ValueError(
            f"{name} were given as log-probabilities: the exponentials of a sample must sum to 1. Got one with "
            f"logsumexp {log_total:.3g}; for plain logits say {FLAG['logits']}."
        )


def _extremes(z: Tensor, _: Tensor) -> np.ndarray:
    """Whether any is not finite, -min, max, and the largest of abs(sum - 1) and of abs(logsumexp) of a sample."""
    if not bool(torch.isfinite(z).all()):
        return np.array([1.0, 0, 0, 0, 0])
    found = -z.min(), z.max(), (z.sum(-1) - 1).abs().max(), torch.logsumexp(z, -1).abs().max()
    return np.array([0.0, *map(float, found)])


def split(whole: LogitSet, share: float = 0.5, seed: int = 0) -> Sets:
    """Validation and test parts of one set, at random.

    Raises:
        ValueError: share not in (0, 1), or a part without samples.
    """
    count = round(share * len(whole)) if 0 < share < 1 else 0
    if not 0 < count < len(whole):
        raise ValueError(
            f"share must lie in (0, 1) and leave samples on both sides. Got {share} of {len(whole)} samples."
        )
    order = np.random.default_rng(seed).permutation(len(whole))
    return {"validation": whole.take(order[:count]), "test": whole.take(order[count:])}


def fit_and_test_sets(sets: Sets, share: float = 0.5, seed: int = 0) -> tuple[LogitSet, LogitSet]:
    """What to fit on and what to test on; one set alone is split.

    Raises:
        ValueError: as split; one class alone to fit on; validation and test sets of different classes.
    """
    sets = split(sets["all"], share, seed) if "all" in sets else sets
    validation, test = sets["validation"], sets["test"]
    if len(known := np.unique(validation.labels)) < 2:
        raise ValueError(f"labels to fit on must hold at least two classes. Got only class {known[0]}.")
    if validation.classes != test.classes:
        raise ValueError(
            f"validation and test logits must have the same classes. Got {validation.classes} and {test.classes}."
        )
    return validation, test
