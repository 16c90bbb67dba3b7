"""Sets of scores and labels as given, names of their columns, and labels, groups and slices of any kind as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from focal_lib.arrays import to_numpy
from focal_lib.calibration.logit_sets import Layout

Column = Literal["groups", "slices", "weights"]
PER_SAMPLE: tuple[Column, ...] = get_args(Column)
_HOLDS: dict[str, Column] = {
    **dict.fromkeys(("w", "wt", "weight", "sample_weight", "sample_weights"), "weights"),
    **dict.fromkeys(("group", "group_id", "patient", "patient_id", "fold", "split"), "groups"),
    **dict.fromkeys(("slice", "site"), "slices"),
    **{own: own for own in PER_SAMPLE},
}
_INDEX = {"id", "ids", "index", "idx", "sample", "sample_id", "row", "unnamed: 0", "__index_level_0__", ""}
_LABELS = {"labels", "target", "targets", "y", "y_true", "truth", "true", "true_label", "gold", "class", "outcome"}
_LABELS |= {"label_ids", "ground_truth", "answer"}
_ENDS = 4  # shown of many names, first and last ones: columns that are not of classes are at the ends


@dataclass(frozen=True)
class Part:
    """Scores and labels in any layout, with groups, slices and weights, before any check; see LogitSet."""

    scores: Any
    labels: Any
    groups: Any = None
    slices: Any = None
    weights: Any = None
    class_names: tuple[str, ...] | None = None
    score_columns: tuple[str, ...] | None = None  # of a table
    layout: Layout | None = None  # where the kind of file tells it


def as_array(values: Any) -> np.ndarray:
    """As a NumPy array; a memory map is not read."""
    values = to_numpy(values)
    return values if isinstance(values, np.ndarray) else np.asarray(values)


# --- names of columns -----------------------------------------------------------------------


def what_goes_with_samples(name: str) -> Column | None:
    """What a column of that name holds for each sample; None if it may be of a class."""
    return _HOLDS.get(name.strip().lower())


def is_index_name(name: str) -> bool:
    """Whether a column of that name is an index of the samples."""
    return name.strip().lower() in _INDEX


def in_words(names: Iterable[object]) -> str:
    """All names if few, else the first and the last ones with their number."""
    texts = [str(name) if len(str(name)) <= 40 else f"{str(name)[:40]}..." for name in names]
    if len(texts) <= 2 * _ENDS:
        return ", ".join(texts) or "none"
    return f"{', '.join(texts[:_ENDS])}, ..., {', '.join(texts[-_ENDS:])} ({len(texts):,})"


def is_it(wanted: str, names: Sequence[str]) -> str:
    """': is it 'target'?' where a name, in any case, is like the one wanted; else '.'."""
    usual = _LABELS if wanted.lower() == "label" else set()
    known = {name.strip().lower(): name for name in reversed(names)}
    found = [name for low, name in known.items() if low in usual or low == wanted.lower()]
    found = found or [known[low] for low in get_close_matches(wanted.lower(), known, n=2, cutoff=0.7)]
    return f": is it {' or '.join(map(repr, found[:2]))}?" if found else "."


def look_like_numbers(names: Sequence[str]) -> bool:
    """Whether a header holds what a line of samples does: numbers, and not 0, 1, 2, which may name classes."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return not all(number.is_integer() for number in numbers)


# --- values as numbers ----------------------------------------------------------------------


def numbers_of_classes(labels: np.ndarray, names: Sequence[str] | None, what: str) -> np.ndarray:
    """Labels as numbers of columns; numbers stay, unless they are names of columns.

    Args:
        labels: numbers, as text, too, truth values or names, of any shape.
        names: of the columns, in order.
        what: the name of the labels, for messages.

    Raises:
        ValueError: names without columns of that name, one that stands for two, numbers that may be names or not.
    """
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    if labels.dtype.kind == "f" and (gone := np.isnan(labels.astype(np.float64))).any():
        raise ValueError(
            f"{what} must be there for every sample. Got {int(gone.sum())} without (NaN), the first in place "
            f"{int(gone.ravel().argmax())}."
        )
    if labels.dtype.kind in "iufc":
        return _maybe_named_by_numbers(labels, names, what)
    flat = labels.ravel()
    if missing := int(pd.isna(flat).sum()):
        raise ValueError(f"{what} must be there for every sample. Got {missing} without.")
    if all(isinstance(value, bool | int | float | np.number | np.bool_) for value in flat):
        return _maybe_named_by_numbers(labels.astype(np.float64), names, what)
    codes, values = pd.factorize(_as_text(flat))  # an array of text would be as wide as its longest
    if names is None:
        numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(np.float64)
        if (numbers == np.round(numbers)).all():  # '0' and '1', as a file of text has them
            return numbers[codes].reshape(labels.shape)
        raise ValueError(
            f"{what} must be numbers where the columns have no names: 0 for the first class, 1 for the next; of one "
            f"column, 1 where it is the class, 0 where not. Got {flat[0]!s:.40}: or say their names with --class-names "
            "(class_names=...), in the order of the columns; of one column: negative, positive."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"class_names must differ. Got {in_words(names)}.")
    if unknown := sorted(set(values) - set(names)):
        raise ValueError(
            f"{what} must be names of columns, which are {in_words(names)}. Got {in_words(map(repr, unknown))}, "
            "which no column has."
        )
    return pd.Index(list(names)).get_indexer(pd.Index(values)).astype(np.int64)[codes].reshape(labels.shape)


def _as_text(values: np.ndarray) -> np.ndarray:
    return np.array([str(value) for value in values], dtype=object)


def _maybe_named_by_numbers(labels: np.ndarray, names: Sequence[str] | None, what: str) -> np.ndarray:
    """Labels as column indices, if columns are named by whole numbers: '3' and '8' for labels 3 and 8."""
    if not names or not all(name.strip().isdecimal() for name in names) or not labels.size:
        return labels
    places = {float(name): index for index, name in enumerate(names)}
    found = {float(value) for value in np.unique(labels)}
    if list(places) == list(range(len(names))) or not found <= places.keys():
        return labels
    if found <= set(map(float, range(len(names)))):
        raise ValueError(
            f"{what} may be names of columns, which are {in_words(names)}, or their places from 0: name the columns "
            "otherwise, or in the order 0, 1, ..."
        )
    return np.array([places[float(value)] for value in labels.ravel()], dtype=np.int64).reshape(labels.shape)


def numbers_of_values(parts: Sequence[Any], what: str) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """Numbers of the values, the same in all parts, int64 (n,) each; and the values as text, in order.

    Raises:
        ValueError: missing values, or not one value for each sample.
    """
    arrays = [as_array(part) for part in parts]
    for array in arrays:
        if array.ndim != 1:
            raise ValueError(f"{what} must have shape (n,). Got {array.shape}.")
        if missing := int(pd.isna(array).sum()):
            raise ValueError(f"{what} must be there for every sample. Got {missing} of {len(array)} without.")
    numeric = all(array.dtype.kind in "biuf" for array in arrays)
    plain = [array if numeric else _as_text(array) for array in arrays]
    codes, values = pd.factorize(np.concatenate(plain), sort=True)
    names = tuple(f"{value:.15g}" if values.dtype.kind == "f" else str(value) for value in values)
    cuts = np.cumsum([len(array) for array in arrays])[:-1]
    return [code.astype(np.int64) for code in np.split(codes, cuts)], names


def check_weights(values: Any, shapes: Sequence[tuple[int, ...]], what: str) -> np.ndarray:
    """Weights of one of the shapes, float64.

    Raises:
        ValueError: another shape, negative or not finite, or none above 0.
    """
    weights = as_array(values)
    if weights.dtype.kind not in "biuf" or weights.shape not in shapes:
        wanted = " or ".join(map(str, dict.fromkeys(shapes)))
        raise ValueError(f"{what} must be numbers of shape {wanted}. Got {weights.dtype} {weights.shape}.")
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() == 0:
        raise ValueError(
            f"{what} must be finite, at least 0, and some above. Got from {weights.min():g} to {weights.max():g}."
        )
    return weights
