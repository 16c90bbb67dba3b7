"""Samples to fit on: logits, labels as column indices, and sample weights."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy

from focal_lib.arrays import SHORT, array_namespace, is_torch_array, to_numpy, total
from focal_lib.calibration.logit_sets import MISSING, is_missing, look_like_probs
from focal_lib.metrics.samples import Numbers, Samples

Found = TypeVar("Found")
np.empty(31 << 20, np.uint8)  # freed at once: after that glibc keeps the memory of chunks, whose pages it fetched anew
_LARGEST, _SMALLEST = 1e25, 1e-100  # of logits: far from MISSING; squares, and those of 1/T, are numbers too


class FitSamples(Samples):
    """Logits (n, K), labels (n,) and weights (n,), checked: `weighted_mean` of a function of a chunk (z, y, w).

    Args:
        logits: (n, K), one column for each class: array, DataFrame, memory map, array-like, tensor or Dask array; or
            scores (n,) of class 1 of two, see `two_columns`.
        labels: (n,), column indices 0 ... K-1, as of a Dask array; or K distinct labels of any sortable kind, which
            name the columns in sorted order.
        weights: (n,), >= 0, or None; weight 2 counts a sample twice, weight 0 leaves it out.

    Attributes:
        class_labels: (K,), the label of each column.
        weights: None where all are 1.
        weight: the sum of the weights.
        like_probs: whether every sample is a distribution up to rounding: numbers in [0, 1] that sum to 1.

    Raises:
        ValueError: other shapes; logits that are not finite, exceed 1e25 or are all below 1e-100 in size; other labels,
            or of fewer than `least_classes` classes; weights that are negative or not finite.
    """

    def __init__(self, logits: Any, labels: Any, weights: Any = None, least_classes: int = 2) -> None:
        given, logits = logits, two_columns(logits)
        one_score = logits is not given
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
        self.weight = float(len(self)) if self.weights is None else float(self.weights.sum())
        known_labels = isinstance(self.labels, np.ndarray)
        bad, large, within, not_zero, unlike_probs, *seen = self.total(functools.partial(_sizes, not known_labels))
        if bad:
            raise ValueError(f"logits must be finite. Got {bad:.0f} NaN or infinite of {len(self) * self.classes}.")
        if large or (not_zero and not within):
            raise ValueError(
                f"logits must have a size between {_SMALLEST:g} and {_LARGEST:g}: scale them. Got "
                f"{max(self.map(lambda z, _: np.abs(z).max())):g} as the largest."
            )
        self.like_probs = unlike_probs == 0
        if one_score:
            self.like_probs = all(self.map(lambda z, _: bool(z.min() >= 0 and z.max() <= 1)))
        counts = np.bincount(self.labels, self.weights, self.classes) if known_labels else seen
        if np.count_nonzero(counts) < least_classes:
            only = self.class_labels[np.argmax(counts)]
            raise ValueError(f"labels to fit on must hold at least two classes. Got only class {only}: 1 class.")

    def weighted_mean(self, function: Callable[..., Numbers]) -> np.ndarray:
        """Sum of the function of logits, labels and, where samples have them, weights (m,), over the total weight."""
        return self.total(function, self.weights) / self.weight

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean of one number for each sample, (n,)."""
        return float(values.mean() if self.weights is None else values @ self.weights / self.weight)

    def subsample(self, count: int) -> FitSamples:
        """A random subsample of that size, with a fixed seed; self if there are fewer than twice as many samples."""
        used = len(self) if self.weights is None else np.flatnonzero(self.weights)
        if (len(self) if self.weights is None else np.size(used)) < 2 * count:
            return self
        index = np.sort(np.random.default_rng(0).choice(used, count, replace=False))
        part = object.__new__(FitSamples)  # of what has been checked
        Samples.__init__(part, np.asarray(self.values[index]), np.asarray(self.labels[index]))
        part.class_labels, part.weights = self.class_labels, None if self.weights is None else self.weights[index]
        part.weight = float(count) if part.weights is None else float(part.weights.sum())
        return part


def weighted_sum(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Weighted sum of values (m, ...) over samples and all other axes."""
    return float((values if weights is None else weights @ values).sum())


def by_class(values: np.ndarray) -> np.ndarray:
    """Values (m, K), in column-major order for few classes: NumPy is slow along short rows."""
    return np.asfortranarray(values) if values.shape[1] <= SHORT else values


# --- what is given ---------------------------------------------------------------------


def is_sliced_as_it_is(values: Any) -> bool:
    """Whether values are read on slicing (memory map, Dask array, ...), or are a tensor."""
    if is_torch_array(values) or isinstance(values, np.memmap) or hasattr(values, "to_delayed"):
        return True
    known = isinstance(values, np.ndarray | np.generic) or type(values).__module__[:6] == "pandas"
    known = known or scipy.sparse.issparse(values)
    return not known and all(hasattr(values, name) for name in ("shape", "dtype", "ndim", "__getitem__"))


def two_columns(scores: Any) -> Any:
    """Logits (n, 2), 0 and the score, of log-odds (n,) of class 1; anything else as it is.

    Args:
        scores: array, memory map, list, Series, tensor or Dask array.
    """
    if is_torch_array(scores):
        xp = array_namespace(scores)
        return scores if scores.ndim != 1 else xp.stack([xp.zeros_like(scores), scores], axis=-1)
    if hasattr(scores, "to_delayed"):
        if scores.ndim != 1:
            return scores
        import dask.array

        return dask.array.stack([dask.array.zeros_like(scores), scores], axis=1).rechunk({1: 2})
    if len(getattr(scores, "shape", ())) != 1 and not isinstance(scores, list | tuple):
        return scores
    values = np.asarray(scores) if np.ndim(scores) == 1 else np.empty((0, 0))
    if values.ndim != 1 or values.dtype.kind not in "fiu":
        return scores
    kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.stack([np.zeros(len(values), kind), values.astype(kind, copy=False)], axis=1)


def plain_array(values: Any, estimator: Any = None) -> Any:
    """Convert lists, DataFrames and objects to an array of numbers (n, K) or (..., K); see is_sliced_as_it_is.

    Raises:
        ValueError: one dimension, sparse, complex, text.
        TypeError: objects that are not numbers.
    """
    if is_sliced_as_it_is(values):
        return values
    if type(values) is np.ndarray and values.ndim > 1 and values.dtype.kind in "fiu":
        return values  # and scikit-learn, which takes long to import, is not asked
    from sklearn.utils.validation import check_array

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
            f"logits must have shape (n, K), or be real scores (n,) of class 1 of two. Got {shape}. Expected 2D array, "
            "got 1D array instead. Reshape your data."
        )
    if len(shape) == 3:
        raise ValueError(
            f"logits must have shape (n, K). Got {shape}: of an ensemble's members, (M, n, K), give as_logits(logits), "
            "the logarithm of their mean probabilities."
        )
    if len(shape) == 2 and shape[1] < 2:
        raise ValueError(
            f"logits must have shape (n, K) with K >= 2, a column for each class. Got {shape[1]} feature(s) "
            f"(shape={shape}) while a minimum of 2 is required."
        )


def _known_weights(weights: Any, logits: Any) -> np.ndarray | None:
    """The weights in memory, float64."""
    if weights is None:
        return None
    from sklearn.utils.validation import _check_sample_weight

    if hasattr(weights, "compute"):
        weights = weights.compute()
    weights = to_numpy(weights)
    return _check_sample_weight(weights, np.empty((len(logits), 0)), dtype=np.float64, ensure_non_negative=True)


def _plain_labels(labels: Any) -> np.ndarray:
    from sklearn.utils.validation import column_or_1d

    return column_or_1d(to_numpy(labels), warn=True)


def _column_numbers(labels: Any, classes: int) -> tuple[Any, np.ndarray]:
    """Labels as column indices, (n,), and the label of each column, (K,)."""
    numbers = np.arange(classes)
    if hasattr(labels, "to_delayed"):
        return labels, numbers  # seen on the workers
    found = _plain_labels(labels)
    if found.dtype.kind not in "iu":
        from sklearn.utils.multiclass import check_classification_targets

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


def _sizes(count: bool, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Numbers that are not finite; whether there is one too large, one large enough, one that is not 0, a sample that
    is no distribution; with `count` the samples of each class, (5,) or (5 + K,)."""
    low, high = float(z.min()), float(z.max())
    if 2 * MISSING < low <= MISSING / 2:
        there = np.where(is_missing(z), 0.0, z)
        low, high = float(there.min()), float(there.max())
    finite = math.isfinite(low) and math.isfinite(high)
    bad = 0 if finite else int((~np.isfinite(z)).sum())
    largest = max(-low, high)
    like_probs = look_like_probs(low, high, 0.0)  # logits mostly are not, and need no sums
    like_probs = like_probs and look_like_probs(low, high, float(np.abs(total(z) - 1).max()))
    sizes = np.array([bad, largest > _LARGEST, largest >= _SMALLEST, largest > 0, not like_probs], dtype=np.float64)
    return np.r_[sizes, np.bincount(y, minlength=z.shape[1])] if count else sizes
