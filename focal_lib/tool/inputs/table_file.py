"""csv and parquet files: a column for each class, one of labels, and those named for groups, slices and weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Container, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from focal_lib.tool.inputs.bounded_tables import read_csv_content, read_parquet
from focal_lib.tool.inputs.column_names import (
    in_words,
    is_index_name,
    is_it,
    look_like_numbers,
    what_goes_with_samples,
)
from focal_lib.tool.inputs.parts import Column, Part

LABEL = "label"
_NO_NUMBER = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"]


def part_of_table(path: Path, label_column: str | None, columns: Mapping[Column, str | None]) -> Part:
    """Scores (n, K), or (n,) of one column, and labels: (n,), or (n, L) of several label columns.

    Args:
        label_column: 'label' where None; several with commas between for multi-label, in the order of the scores.
        columns: names of the columns of groups, slices, weights; None for none.

    Raises:
        ValueError: another file; columns that are missing, stand twice, are no class', hold no numbers, or not all.
    """
    label_column = LABEL if label_column is None else label_column
    named = {own: name for own, name in columns.items() if name}
    as_text = [name for own, name in named.items() if own != "weights"]
    frame = read_table(path, lambda _: as_text, label_column)
    if frame.empty:
        raise ValueError(f"{path.name} must have a line for each sample after the names of its columns. Got none.")
    names = list(frame.columns)
    labels = [label_column] if label_column in names else [part.strip() for part in label_column.split(",")]
    for what, wanted in [("the label", name) for name in labels] + [(f"the {o}", n) for o, n in named.items()]:
        if wanted not in names:
            raise _no_column(path, wanted, what, names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path.name} must have each column once. Got {', '.join(twice)} more than once.")
    apart = [*labels, *named.values()]
    if shared := sorted({name for name in apart if apart.count(name) > 1} & set(labels)):
        raise ValueError(f"the label must be a column of its own. Got {shared[0]!r} for another purpose, too.")
    scores = frame.drop(columns=list(dict.fromkeys(apart)))
    check_classes(path, scores, {str(value) for name in labels for value in frame[name].unique()})
    if len(labels) > 1 and len(labels) != scores.shape[1]:
        raise ValueError(f"{len(labels)} label columns need as many columns of scores. Got {scores.shape[1]}.")
    for name in apart:
        _check_filled(path, name, frame[name])
    values = numbers_of_columns(path, scores)
    truth = frame[labels[0]].to_numpy() if len(labels) == 1 else frame[labels].to_numpy()
    one = scores.shape[1] == 1
    return Part(
        values[:, 0] if one else values,
        truth,
        class_names=None if one else tuple(scores.columns),
        score_columns=tuple(scores.columns),
        **{own: frame[name].to_numpy() for own, name in named.items()},  # type: ignore[arg-type]
    )


def _no_column(path: Path, wanted: str, what: str, names: list[str]) -> ValueError:
    if look_like_numbers(names):
        return ValueError(
            f"{path.name} must have names of columns in its first line. Got numbers, {in_words(names)}: is the header "
            "missing?"
        )
    word = f"{wanted!r}, or one that --label-column names" if wanted == LABEL else f"{wanted!r}, of {what}"
    return ValueError(f"{path.name} must have a column {word}. Got {in_words(names)}{is_it(wanted, names)}")


def numbers_of_columns(path: Path, scores: pd.DataFrame) -> np.ndarray:
    """Of all columns, in the least type that holds them: (n, K).

    Raises:
        ValueError: no columns, or some that hold other than numbers, or not all.
    """
    if not scores.shape[1]:
        raise ValueError(f"{path.name} must have a column of scores for each class. Got none.")
    if not len(scores):
        return np.zeros(scores.shape)
    for name, column in scores.items():
        if column.dtype.kind not in "fiu":
            raise ValueError(f"{path.name} must hold numbers. Got {column.dtype} in column {name}, {column.iloc[0]!r}.")
        _check_filled(path, str(name), column)
    return scores.to_numpy(dtype=np.result_type(*(_numpy_type(scores[name]) for name in scores.columns)))


def check_classes(path: Path, scores: pd.DataFrame, named: Container[str] = ()) -> None:
    """Whether each column of scores may be a class'.

    Args:
        named: labels, which may be names of columns; those are classes whatever their names.

    Raises:
        ValueError: a column that by its name goes with the samples, or that counts them.
    """
    for name, column in scores.items():
        holds = what_goes_with_samples(str(name))
        if holds and name not in named:
            raise ValueError(
                f"column {name!r} of {path.name} is no class': leave it out, or say --{holds} {name}. If it is one, "
                "name it otherwise."
            )
        numbers = column.dtype.kind in "fiu"
        counts = numbers and len(column) > 2 and (column.diff().iloc[1:] == 1).all()
        if (is_index_name(str(name)) and name not in named) or counts:
            why = "it counts the samples" if counts else "its name is no class'"
            raise ValueError(f"{path.name} must have a column for each class, and label. Leave out {name!r}: {why}.")


def _check_filled(path: Path, name: str, column: pd.Series) -> None:
    if column.isna().any():
        sample = int(column.isna().to_numpy().argmax())
        raise ValueError(f"{path.name} must have every number. Got none in column {name} of sample {sample}.")


def _numpy_type(column: pd.Series) -> np.dtype:
    """Also of pandas' own types, which can hold missing values."""
    kind = column.dtype
    return kind if isinstance(kind, np.dtype) else np.dtype(f"{kind.kind}{kind.itemsize}")  # type: ignore[attr-defined]


def read_table(path: Path, as_text: Callable[[list[str]], list[str]], label_column: str = LABEL) -> pd.DataFrame:
    """The table with its column names unchanged (pandas would number duplicates); it may have no rows.

    Args:
        as_text: maps the names of a csv's columns to those whose values stay text: 001 is not 1.
        label_column: a column of labels, which may be text.

    Raises:
        ValueError: another file.
    """
    if path.suffix.lower() == ".parquet":
        return read_parquet(path)
    content = read_csv_content(path)
    try:
        names = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")), [])
    except (ValueError, csv.Error) as error:
        raise _no_table(path, error) from None
    written = as_text(names)
    text = {*written, label_column}
    try:
        found = pd.read_csv(
            io.BytesIO(content),
            header=None,
            skiprows=1,
            encoding="utf-8-sig",
            keep_default_na=False,  # a class may be called None
            dtype={i: str for i, name in enumerate(names) if name in written},
            na_values={i: [""] if name in text else _NO_NUMBER for i, name in enumerate(names)},  # type: ignore[misc]
        )
        return found.set_axis(names, axis=1)
    except pd.errors.EmptyDataError:
        if names:
            return pd.DataFrame(columns=names)
        raise ValueError(f"{path.name} must have a header and lines. Got none.") from None
    except (ValueError, OSError, csv.Error) as error:  # pandas' own are among them
        raise _no_table(path, error) from None


def _no_table(path: Path, error: Exception) -> ValueError:
    return ValueError(f"{path.name} must be a table of numbers, csv. It is not: {' '.join(str(error).split())}")
