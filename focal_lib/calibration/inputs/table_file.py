"""csv and parquet files: a column for each class, one of labels, and those named for groups, slices and weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from focal_lib.calibration.inputs.bounded_tables import read_csv_content, read_parquet
from focal_lib.calibration.inputs.column_names import is_index_name, what_goes_with_samples
from focal_lib.calibration.inputs.parts import Column, Part

__all__ = ["LABEL", "part_of_table"]

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
    frame = _table(path, label_column, as_text)
    names = list(frame.columns)
    labels = [label_column] if label_column in names else [part.strip() for part in label_column.split(",")]
    for what, wanted in [("the label", name) for name in labels] + [(f"the {o}", n) for o, n in named.items()]:
        if wanted not in names:
            word = "'label'; or say --label-column" if wanted == LABEL else repr(wanted)
            raise ValueError(f"{path.name} must have a column {word}, of {what}. Got {', '.join(names[:6])}.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path.name} must have each column once. Got {', '.join(twice)} more than once.")
    apart = [*labels, *named.values()]
    if shared := sorted({name for name in apart if apart.count(name) > 1} & set(labels)):
        raise ValueError(f"the label must be a column of its own. Got {shared[0]!r} for another purpose, too.")
    scores = frame.drop(columns=list(dict.fromkeys(apart)))
    _check_scores(path, scores, {str(value) for name in labels for value in frame[name].unique()})
    if len(labels) > 1 and len(labels) != scores.shape[1]:
        raise ValueError(f"{len(labels)} label columns need as many columns of scores. Got {scores.shape[1]}.")
    for name in apart:
        _check_filled(path, name, frame[name])
    values = scores.to_numpy(dtype=np.result_type(*(_numpy_type(scores[name]) for name in scores.columns)))
    truth = frame[labels[0]].to_numpy() if len(labels) == 1 else frame[labels].to_numpy()
    one = scores.shape[1] == 1
    return Part(
        values[:, 0] if one else values,
        truth,
        class_names=None if one else tuple(scores.columns),
        **{own: frame[name].to_numpy() for own, name in named.items()},  # type: ignore[arg-type]
    )


def _check_scores(path: Path, scores: pd.DataFrame, named: set[str]) -> None:
    """`named`: labels, which may be names of columns; those are classes whatever their names."""
    if not scores.shape[1]:
        raise ValueError(f"{path.name} must have a column of scores for each class. Got none.")
    for name, column in scores.items():
        holds = what_goes_with_samples(str(name))
        if holds and name not in named:
            raise ValueError(
                f"column {name!r} of {path.name} is no class': leave it out, or say --{holds} {name}. If it is one, "
                "name it otherwise."
            )
        if column.dtype.kind not in "fiu":
            raise ValueError(f"{path.name} must hold numbers. Got {column.dtype} in column {name}, {column.iloc[0]!r}.")
        _check_filled(path, str(name), column)
        counts = len(column) > 2 and (column.diff().iloc[1:] == 1).all()
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


def _table(path: Path, label_column: str, as_text: list[str]) -> pd.DataFrame:
    """The columns with the names that they have: pandas would number those that stand twice."""
    if path.suffix.lower() == ".parquet":
        return read_parquet(path)
    content = read_csv_content(path)
    try:
        names = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")), [])
        text = {*as_text, label_column}
        found = pd.read_csv(
            io.BytesIO(content),
            header=None,
            skiprows=1,
            encoding="utf-8-sig",
            keep_default_na=False,  # a class may be called None
            dtype={i: str for i, name in enumerate(names) if name in as_text},  # 001 is not 1
            na_values={i: [""] if name in text else _NO_NUMBER for i, name in enumerate(names)},  # type: ignore[misc]
        )
        return found.set_axis(names, axis=1)
    except (ValueError, OSError, csv.Error) as error:  # pandas' own are among them
        reason = " ".join(str(error).split())
        raise ValueError(f"{path.name} must be a table of numbers, csv. It is not: {reason}") from None
