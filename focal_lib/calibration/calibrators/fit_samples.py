"""Samples to fit on: logits, labels of any kind as numbers of columns, and what each sample counts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d
from torch import Tensor

from focal_lib.calibration.logit_sets import look_like_probs
from focal_lib.calibration.missing_options import MISSING, is_missing
from focal_lib.metrics.samples import Collected, Parts, Samples, to_add

Found = TypeVar("Found")
_LARGEST, _SMALLEST = 1e25, 1e-100  # of logits: far from MISSING; squares, and those of 1/T, are numbers too


class FitSamples(Samples):
    """Logits (n, K), labels (n,) and weights (n,), checked: `weighted_total` of a function of a chunk (z, y, w).

    Args:
        logits: array, DataFrame, memory map, anything sliced like one, tensor or Dask array (n, K), a column a class.
        labels: (n,), of a Dask array integers: numbers of columns in 0 ... K-1; or K different ones of any kind that
            can be sorted, in that order those of the columns.
        weights: (n,) what each sample counts, or None: 2 is the sample twice, 0 is none.

    Attributes:
        class_labels: (K,), the label of each column.
        weights: None where all count once.
        weight: the sum of the weights.
        like_probs: whether every sample is a distribution: numbers in [0, 1] that sum to 1, but for rounding.

    Raises:
        ValueError: other shapes, logits that are not finite, or beyond 1e25 or all within 1e-100, labels that are none
            of the above or of fewer than `least_classes`, weights that are negative or not finite.
    """

    def __init__(self, logits: Any, labels: Any, weights: Any = None, least_classes: int = 2) -> None:
        logits = plain_array(logits)
        if labels is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None: give the labels.")
        _check_columns(logits)
        known = _known_weights(weights, logits)
        if known is not None and isinstance(logits, np.ndarray) and not isinstance(logits, np.memmap):
            labels, used = _plain_labels(labels), known > 0
            if len(labels) == len(used) and not used.all():
                logits, labels, known = logits[used], labels[used], known[used]
        self.weights = None if known is None or (known == 1).all() else known
        number, self.class_labels = _column_numbers(labels, int(logits.shape[-1]))
        if self.weights is not None and hasattr(number, "compute"):
            number = number.compute()
        super().__init__(logits, number)
        if self.weights is not None:
            self.values = _join(self.values, self.weights)
        self.weight = float(len(self)) if self.weights is None else float(self.weights.sum())
        known_labels = isinstance(self.labels, np.ndarray)
        found = self.total(functools.partial(_sizes, not known_labels))
        self._check_sizes(*found[:4])
        self.like_probs = found[4] == 0
        counts = np.bincount(self.labels, self.weights, self.classes) if known_labels else found[5:]
        if np.count_nonzero(counts) < least_classes:
            only = self.class_labels[np.argmax(counts)]
            raise ValueError(f"labels to fit on must hold at least two classes. Got only class {only}: 1 class.")

    @property
    def classes(self) -> int:
        return len(self.class_labels)

    def map(self, function: Callable[[Tensor, Tensor], Found]) -> list[Found]:
        """The function of the logits and labels of each chunk, in order."""
        return super().map(function if self.weights is None else _without_weights(function))

    def collect(self, function: Callable[[Tensor, Tensor], Parts]) -> Collected:
        """What a function of the logits and labels gives of each sample, and its sums over all chunks."""
        return super().collect(function if self.weights is None else _without_weights(function))

    def weighted_total(self, function: Callable[..., np.ndarray | Tensor]) -> np.ndarray:
        """The sum over all chunks of the function of logits, labels and, where samples have them, weights (m,)."""
        added = functools.partial(to_add, function)
        return self.collect(added if self.weights is None else _OfChunk(added, True))[1][0]

    def weighted_mean(self, function: Callable[..., np.ndarray | Tensor]) -> np.ndarray:
        """`weighted_total` for each unit of weight."""
        return self.weighted_total(function) / self.weight

    def mean(self, values: np.ndarray) -> float:
        """Of a number for each sample, (n,)."""
        return float(values.mean() if self.weights is None else values @ self.weights / self.weight)

    def subsample(self, count: int) -> FitSamples:
        """That many samples drawn at random, always the same, in memory; itself where there are not twice as many."""
        used = len(self) if self.weights is None else np.flatnonzero(self.weights)
        if (len(self) if self.weights is None else np.size(used)) < 2 * count:
            return self
        index = np.sort(np.random.default_rng(0).choice(used, count, replace=False))
        part = object.__new__(FitSamples)  # of what has been checked
        Samples.__init__(part, np.asarray(self.values[index]), np.asarray(self.labels[index]))
        part.class_labels, part.weights = self.class_labels, None if self.weights is None else self.weights[index]
        part.weight = float(count) if part.weights is None else float(part.weights.sum())
        return part

    def _check_sizes(self, bad: float, large: float, within: float, not_zero: float) -> None:
        if bad:
            raise ValueError(f"logits must be finite. Got {bad:.0f} NaN or infinite of {len(self) * self.classes}.")
        if large or (not_zero and not within):
            largest = max(self.map(_largest))
            raise ValueError(
                f"logits must have a size between {_SMALLEST:g} and {_LARGEST:g}: scale them. Got {largest:g} as the "
                "largest."
            )


def weighted_sum(values: Tensor, weights: Tensor | None) -> Tensor:
    """Of values (m, ...), a number for each sample or several, all summed."""
    if weights is None:
        return values.sum()
    return (values if values.ndim == 1 else values.flatten(1).sum(-1)) @ weights


# --- what is given ---------------------------------------------------------------------


def is_sliced_as_it_is(values: Any) -> bool:
    """Whether values are read where they are sliced, or are a tensor: memory maps, Dask arrays and the like."""
    if isinstance(values, Tensor | np.memmap) or hasattr(values, "to_delayed"):
        return True
    known = isinstance(values, np.ndarray | np.generic) or issparse(values) or type(values).__module__[:6] == "pandas"
    return not known and all(hasattr(values, name) for name in ("shape", "dtype", "ndim", "__getitem__"))


def plain_array(values: Any, estimator: Any = None) -> Any:
    """Lists, DataFrames, objects as an array of numbers (n, K) or (..., K); what is sliced as it is stays.

    Raises:
        ValueError: one dimension, sparse, complex, text.
        TypeError: objects that are no numbers.
    """
    if is_sliced_as_it_is(values):
        return values
    return check_array(
        values,
        ensure_all_finite=False,  # looked at chunk by chunk
        allow_nd=True,
        ensure_min_samples=0,
        ensure_min_features=0,
        estimator=estimator,
        input_name="X",
    )


def _check_columns(logits: Any) -> None:
    shape = tuple(logits.shape)
    if len(shape) == 1:
        raise ValueError(
            f"logits must have shape (n, K). Got {shape}. Expected 2D array, got 1D array instead. Reshape your data: "
            "of binary decision values d make two columns, np.stack([-d, d], axis=1) / 2."
        )
    if len(shape) == 2 and shape[1] < 2:
        raise ValueError(
            f"logits must have shape (n, K) with K >= 2, a column for each class. Got {shape[1]} feature(s) "
            f"(shape={shape}) while a minimum of 2 is required."
        )


def _known_weights(weights: Any, logits: Any) -> np.ndarray | None:
    """In memory, float64."""
    if weights is None:
        return None
    if hasattr(weights, "compute"):
        weights = weights.compute()
    if isinstance(weights, Tensor):
        weights = weights.detach().cpu().numpy()
    return _check_sample_weight(weights, np.empty((len(logits), 0)), dtype=np.float64, ensure_non_negative=True)


def _plain_labels(labels: Any) -> np.ndarray:
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu().numpy()
    return column_or_1d(labels, warn=True)


def _column_numbers(labels: Any, classes: int) -> tuple[Any, np.ndarray]:
    """Labels as numbers of columns, (n,), and the label of each column, (K,)."""
    numbers = np.arange(classes)
    if hasattr(labels, "to_delayed"):
        return labels, numbers  # seen on the workers
    found = _plain_labels(labels)
    if found.dtype.kind not in "iu":
        check_classification_targets(found)
        if found.dtype.kind == "f":
            found = found.astype(np.int64)
    if found.dtype.kind in "iu" and (found.size == 0 or (found.min() >= 0 and found.max() < classes)):
        return found, numbers
    known, index = np.unique(found, return_inverse=True)
    if len(known) != classes:
        raise ValueError(
            f"labels must lie in 0 ... {classes - 1}, or be {classes} different ones, in sorted order those of the "
            f"{classes} columns. Got values from {known[0]} to {known[-1]}, {len(known)} different."
        )
    return index, known


# --- chunks ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _OfChunk:
    """A function of a chunk whose last column is the weights."""

    function: Callable[..., Any]
    weighted: bool

    def __call__(self, z: Tensor, y: Tensor) -> Any:
        return self.function(z[:, :-1], y, z[:, -1]) if self.weighted else self.function(z[:, :-1], y)


def _without_weights(function: Callable[..., Any]) -> _OfChunk:
    return function if isinstance(function, _OfChunk) else _OfChunk(function, False)


@dataclass(frozen=True)
class _Joined:
    """Values (n, K) and weights (n,) as (n, K + 1), joined where they are sliced."""

    values: Any
    weights: np.ndarray
    dtype = np.dtype(np.float64)
    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), self.values.shape[1] + 1

    def __getitem__(self, selected: slice | np.ndarray) -> np.ndarray:
        return np.column_stack([np.asarray(self.values[selected]), self.weights[selected]])


def _join(values: Any, weights: np.ndarray) -> Any:
    if not hasattr(values, "to_delayed"):
        return _Joined(values, weights)
    import dask.array

    column = dask.array.from_array(weights[:, None], chunks=(values.chunks[0], 1))
    return dask.array.concatenate([values, column], axis=1).rechunk({1: -1})


def _sizes(count: bool, z: Tensor, y: Tensor) -> np.ndarray:
    """Numbers that are not finite; whether there is one too large, one large enough, one that is not 0, a sample that
    is no distribution; with `count` the samples of each class, (5,) or (5 + K,)."""
    low, high = (float(end) for end in torch.aminmax(z))
    if 2 * MISSING < low <= MISSING / 2:
        low, high = (float(end) for end in torch.aminmax(z.masked_fill(is_missing(z), 0.0)))
    finite = math.isfinite(low) and math.isfinite(high)
    bad = 0 if finite else int((~torch.isfinite(z)).sum())
    largest = max(-low, high)
    like_probs = look_like_probs(low, high, 0.0)  # logits mostly are not, and need no sums
    like_probs = like_probs and look_like_probs(low, high, float((z.sum(-1) - 1).abs().max()))
    sizes = np.array([bad, largest > _LARGEST, largest >= _SMALLEST, largest > 0, not like_probs], dtype=np.float64)
    return np.r_[sizes, torch.bincount(y, minlength=z.shape[1]).numpy()] if count else sizes


def _largest(z: Tensor, _: Tensor) -> float:
    return float(z.abs().max())
