"""csv and parquet files: a column for each class, one of labels, and those named for groups, slices and weights.

Sizes are checked before memory is allocated.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from focal_lib.calibration.memory import require_memory
from focal_lib.tool.inputs.archives import check_not_inflated, require_file
from focal_lib.tool.inputs.parts import (
    Column,
    Part,
    in_words,
    is_index_name,
    is_it,
    look_like_numbers,
    what_goes_with_samples,
)
from focal_lib.validation import check_package

LABEL = "label"
_NO_NUMBER = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"]
_WIDTH = 8  # bytes of a number in a table
_MOST_COLUMNS = 100_000  # pandas takes a millisecond for each
_RAGGED = 4, 1_000_000  # cells of the table for each that is there, and how many are no matter


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
    for what, wanted in [("label", name) for name in labels] + list(named.items()):
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
    values, one = numbers_of_columns(path, scores), scores.shape[1] == 1
    return Part(
        values[:, 0] if one else values,
        frame[labels[0] if len(labels) == 1 else labels].to_numpy(),
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
    word = f"{wanted!r}, or one that --label-column names" if wanted == LABEL else f"{wanted!r}, of the {what}"
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
    kinds = []
    for name, column in scores.items():
        kind = column.dtype
        if kind.kind not in "fiu":
            raise ValueError(f"{path.name} must hold numbers. Got {kind} in column {name}, {column.iloc[0]!r}.")
        _check_filled(path, str(name), column)
        # pandas' own types can hold missing values
        kinds.append(kind if isinstance(kind, np.dtype) else f"{kind.kind}{kind.itemsize}")  # type: ignore[attr-defined]
    return scores.to_numpy(dtype=np.result_type(*kinds))


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
        counts = column.dtype.kind in "fiu" and len(column) > 2 and (column.diff().iloc[1:] == 1).all()
        if (is_index_name(str(name)) and name not in named) or counts:
            why = "it counts the samples" if counts else "its name is no class'"
            raise ValueError(f"{path.name} must have a column for each class, and label. Leave out {name!r}: {why}.")


def _check_filled(path: Path, name: str, column: pd.Series) -> None:
    if column.isna().any():
        sample = int(column.isna().to_numpy().argmax())
        raise ValueError(f"{path.name} must have every number. Got none in column {name} of sample {sample}.")


# --- files ----------------------------------------------------------------------------------


def read_table(path: Path, as_text: Callable[[list[str]], list[str]], label_column: str = LABEL) -> pd.DataFrame:
    """The table with its column names unchanged (pandas would number duplicates); it may have no rows.

    Args:
        as_text: maps the names of a csv's columns to those whose values stay text: 001 is not 1.
        label_column: a column of labels, which may be text.

    Raises:
        ValueError: another file, damage, implausibly many columns or cells, or more than fits into memory.
        OSError: it cannot be read.
        ImportError: of parquet, pyarrow is not installed.
    """
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    content, names = _read_csv_content(path)
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


def _read_csv_content(path: Path) -> tuple[bytes, list[str]]:
    """The bytes of a csv file whose table fits into memory, estimated from its first two lines; and its header."""
    size = require_file(path)
    require_memory(3 * size, f"{path.name} ({size / 1e6:,.0f} MB)")
    content = path.read_bytes()
    if b"\0" in content:
        encoding = ": save it as UTF-8" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise ValueError(f"{path.name} must be text. Got a NUL byte at {content.index(0):,}{encoding}.")
    try:
        rows = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""))
        first, second = next(rows, []), next(rows, [])
    except (ValueError, csv.Error) as error:
        raise _no_table(path, error) from None
    if len(first) == 1 and (other := re.search("[;\t|]", first[0])):
        raise ValueError(f"{path.name} must have commas between columns, and decimal points. Got {other[0]!r}.")
    lines, columns = content.count(b"\n") + content.count(b"\r") + 1, max(len(first), len(second))
    if columns > _MOST_COLUMNS:
        raise ValueError(f"{path.name} must have at most {_MOST_COLUMNS:,} columns: else save npz. Got {columns:,}.")
    there, factor, free = content.count(b",") + lines, *_RAGGED
    if lines * columns > max(free, factor * there):
        raise ValueError(
            f"{path.name} must have every number. Got {columns:,} columns, about {lines:,} lines and {there:,} values."
        )
    require_memory(2 * _WIDTH * lines * columns, f"{path.name}, {lines:,} lines of {columns:,} columns,")
    return content, first


def _read_parquet(path: Path) -> pd.DataFrame:
    """The table of a parquet file that fits into memory, its columns named by text."""
    check_package("pyarrow", f"reading {path.name}", "parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    size, what = require_file(path), f"{path.name} must be a table of numbers, parquet"
    try:
        with pq.ParquetFile(path) as file:
            found = file.metadata
            cells = found.num_rows * found.num_columns
            if found.num_rows < 0 or found.num_columns > _MOST_COLUMNS:
                raise ValueError(f"its header says {found.num_rows:,} rows of {found.num_columns:,} columns")
            check_not_inflated(_WIDTH * cells, size, what)
            require_memory(2 * _WIDTH * cells, f"{path.name}, {found.num_rows:,} rows of {found.num_columns} columns,")
            frame = file.read(use_pandas_metadata=True).to_pandas()
    except (pa.ArrowException, ValueError, OSError, MemoryError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, ValueError) and str(error).startswith(path.name):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{what}. It is not: {reason}") from None
    return frame.set_axis([str(name) for name in frame.columns], axis=1)
