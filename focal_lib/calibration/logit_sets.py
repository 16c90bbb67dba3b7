"""Somebody's logits with labels, checked, as what to fit on and what to test on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from focal_lib.calibration.rounded import rounding_of
from focal_lib.metrics.samples import Samples

Given = Literal["logits", "log-probs", "probs"]
Layout = Literal["classes", "binary", "multi-label", "segmentation", "tokens", "options"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
_LOOKED_AT = 10_000  # samples, for the cause of what is refused
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
        return convert(np.asarray(self.values[self.index[selected]]), self.given)


@dataclass(frozen=True)
class LogitSet:
    """Logits (n, K), an array or samples of a memory map, with labels int64 (n,).

    Attributes:
        groups: int64 (n,), of samples that are not independent and stay together in splits; None where all are.
        slices: int64 (n,), by which errors are reported one by one; None for the whole alone.
        weights: float64 (n,), what each sample counts; None where all count the same.
        score_columns: names in the table that the scores came from; None where they came from none.
        class_names, slice_names: for the columns of the logits, and for the numbers in slices.
        layout: in which the scores were given (focal_lib.tool.inputs.layouts).
        notes: what was done to bring them into this form, in sentences.
    """

    logits: np.ndarray | SelectedSamples
    labels: np.ndarray
    groups: np.ndarray | None = None
    slices: np.ndarray | None = None
    weights: np.ndarray | None = None
    score_columns: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    slice_names: tuple[str, ...] | None = None
    layout: Layout = "classes"
    notes: tuple[str, ...] = ()

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


def slices_of(sets: Sequence[LogitSet]) -> dict[str, np.ndarray]:
    """Name of each slice -> which samples, of the sets one after the other, are in it, (n,); {} if none are given."""
    codes = [data.slices for data in sets if data.slices is not None]
    if not codes or len(codes) < len(sets):
        return {}
    every, names = np.concatenate(codes), sets[0].slice_names
    return {str(names[code]) if names else str(code): every == code for code in np.unique(every)}


Sets = dict[str, LogitSet]  # 'validation' and 'test', or 'all'


def as_logits(values: np.ndarray, given: Given, name: str = "logits") -> np.ndarray:
    """Logits from what is given: log-probabilities as they are; of probabilities the logarithm, of 0 that of 1.2e-38.

    Raises:
        ValueError: the values are something else than given.
    """
    check_given(values, np.zeros(len(values), dtype=np.int64), given, name)
    return convert(values, given)


def convert(values: np.ndarray, given: Given) -> np.ndarray:
    """As as_logits, unseen."""
    if given != "probs":
        return values
    wide = values if values.dtype == np.float64 else values.astype(np.float32)
    return np.log(np.maximum(wide, np.finfo(np.float32).tiny))  # of 0 the same for every kind of number


def look_like_probs(low: float, high: float, off_one: float) -> bool:
    """Whether numbers from low to high, with sums of samples as far from 1 as that, may be rounded probabilities."""
    return low >= 0 and high <= 1 + 1e-3 and off_one < 1e-2


def check_given(values: np.ndarray, labels: np.ndarray, given: Given, name: str) -> None:
    """Read the values (n, K) once, in chunks, and compare with what they are said to be.

    Raises:
        ValueError: they are something else.
    """
    if given not in FLAG:
        raise ValueError(f"given must be one of {', '.join(FLAG)}. Got {given!r}.")
    bad, minus_low, high, off_one, log_total = np.max(Samples(values, labels, name).map(_extremes), axis=0)
    if bad:
        remedy = f"; for probabilities of 0 give the probabilities, {FLAG['probs']}" if given == "log-probs" else ""
        which = int(np.argmax(Samples(values, labels, name).gather(_not_finite)[0]))
        raise ValueError(f"{name} must be finite. Got NaN or infinite numbers, first in sample {which}{remedy}.")
    like_probs = look_like_probs(-minus_low, high, off_one)
    if given == "probs" and not like_probs:
        raise ValueError(
            f"{name} were given as probabilities: they must lie in [0, 1] and sum to 1. Got values from "
            f"{-minus_low:.4g} to {high:.4g}, a sample whose sum is off by {off_one:.3g}: "
            f"{_remedy(values, -minus_low, high, off_one)}"
        )
    if given != "probs" and like_probs:
        raise ValueError(f"{name} look like probabilities, which sum to 1: say so with {FLAG['probs']}.")
    if given == "log-probs" and log_total > 1e-2:
        raise ValueError(
            f"{name} were given as log-probabilities: the exponentials of a sample must sum to 1. Got one with "
            f"logsumexp {log_total:.3g}; for plain logits say {FLAG['logits']}."
        )


def _remedy(values: np.ndarray, low: float, high: float, off_one: float) -> str:
    """Where numbers given as probabilities are none, for messages."""
    if low < 0:
        return f"for logits say {FLAG['logits']}."
    if 1 < high <= 101:
        return "are they percentages? Then divide by 100."
    rounding = rounding_of(np.asarray(values[:_LOOKED_AT], dtype=np.float64))
    if rounding is not None and off_one <= 1.01 * rounding.unit * values.shape[1] / 2:
        return f"are they rounded, to {rounding.words}? Then give more digits, or the logits."
    return "is every column a class?"


def _not_finite(z: Tensor, _: Tensor) -> tuple[Tensor]:
    return (~torch.isfinite(z).all(-1),)


def _extremes(z: Tensor, _: Tensor) -> np.ndarray:
    """Whether any is not finite, -min, max, and the largest of abs(sum - 1) and of abs(logsumexp) of a sample."""
    if not bool(torch.isfinite(z).all()):
        return np.array([1.0, 0, 0, 0, 0])
    found = -z.min(), z.max(), (z.sum(-1) - 1).abs().max(), torch.logsumexp(z, -1).abs().max()
    return np.array([0.0, *map(float, found)])


def split(whole: LogitSet, share: float = 0.5, seed: int = 0) -> Sets:
    """Validation and test parts of one set, at random; where it has groups, each whole in one of them.

    Then the validation part has that share of the samples as nearly as the groups, in a random order, allow.

    Raises:
        ValueError: share not in (0, 1), a part without samples, or one group alone.
    """
    count = round(share * len(whole)) if 0 < share < 1 else 0
    if not 0 < count < len(whole):
        raise ValueError(
            f"share must lie in (0, 1) and leave samples on both sides. Got {share} of {len(whole)} samples."
        )
    random = np.random.default_rng(seed)
    if whole.groups is None:
        order = random.permutation(len(whole))
        return {"validation": whole.take(order[:count]), "test": whole.take(order[count:])}
    _, groups, sizes = np.unique(whole.groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError("groups must be at least two, to be on both sides of a split. Got one.")
    order = random.permutation(len(sizes))
    taken = 1 + int(np.abs(np.cumsum(sizes[order])[:-1] - count).argmin())
    fit = np.isin(groups, order[:taken])
    return {"validation": whole.take(np.flatnonzero(fit)), "test": whole.take(np.flatnonzero(~fit))}


def fit_and_test_sets(sets: Sets, share: float = 0.5, seed: int = 0) -> tuple[LogitSet, LogitSet]:
    """What to fit on and what to test on; one set alone is split.

    Raises:
        ValueError: as split; one class alone to fit on; validation and test sets of different classes, or layouts.
    """
    sets = split(sets["all"], share, seed) if "all" in sets else sets
    validation, test = sets["validation"], sets["test"]
    if len(known := np.unique(validation.labels)) < 2:
        raise ValueError(f"labels to fit on must hold at least two classes. Got only class {known[0]}.")
    if validation.layout != test.layout:
        raise ValueError(f"validation and test scores must have one layout. Got {validation.layout} and {test.layout}.")
    if validation.classes != test.classes:
        raise ValueError(
            f"validation and test logits must have the same classes. Got {validation.classes} and {test.classes}."
        )
    if validation.class_names and test.class_names and validation.class_names != test.class_names:
        one, two = next(pair for pair in zip(validation.class_names, test.class_names, strict=True) if len({*pair}) > 1)
        raise ValueError(
            "validation and test columns must be the same classes in the same order. "
            f"Got {one} in one where the other has {two}."
        )
    return validation, test
