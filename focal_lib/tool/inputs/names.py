"""Convert labels, groups and slices of any kind to numbers; check weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.tool.inputs.column_names import in_words
from focal_lib.tool.inputs.parts import as_array


def numbers_of_classes(labels: np.ndarray, names: Sequence[str] | None, what: str) -> np.ndarray:
    """Labels as numbers of columns; numbers stay, unless they are names of columns.

    Args:
        labels: numbers, truth values or text, of any shape.
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
    wanted = np.array([str(value) for value in flat])
    if names is None:
        raise ValueError(
            f"{what} must be numbers where the columns have no names: 0 for the first class, 1 for the next; of one "
            f"column, 1 where it is the class, 0 where not. Got {flat[0]!s:.40}: or say their names with --class-names "
            "(class_names=...), in the order of the columns; of one column: negative, positive."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"class_names must differ. Got {in_words(names)}.")
    if unknown := sorted(set(wanted.tolist()) - set(names)):
        raise ValueError(
            f"{what} must be names of columns, which are {in_words(names)}. Got {in_words(map(repr, unknown))}, "
            "which no column has."
        )
    return pd.Index(list(names)).get_indexer(pd.Index(wanted)).astype(np.int64).reshape(labels.shape)


def _maybe_named_by_numbers(labels: np.ndarray, names: Sequence[str] | None, what: str) -> np.ndarray:
    """Labels as column indices, if columns are named by whole numbers: '3' and '8' for labels 3 and 8."""
    k = 0 if names is None else len(names)
    if not names or not all(name.strip().isdecimal() for name in names) or not labels.size:
        return labels
    numbers = [int(name) for name in names]
    found = {float(value) for value in np.unique(labels)}
    if numbers == list(range(k)) or not found <= set(map(float, numbers)):
        return labels
    if found <= set(map(float, range(k))):
        raise ValueError(
            f"{what} may be names of columns, which are {in_words(names)}, or their places from 0: name the columns "
            "otherwise, or in the order 0, 1, ..."
        )
    place = {float(number): index for index, number in enumerate(numbers)}
    return np.array([place[float(value)] for value in labels.ravel()], dtype=np.int64).reshape(labels.shape)


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
    plain = [array if numeric else np.array([str(value) for value in array]) for array in arrays]
    values, codes = np.unique(np.concatenate(plain), return_inverse=True)
    names = tuple(f"{value:g}" if values.dtype.kind == "f" else str(value) for value in values)
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
