"""Tables of scores: a column for each class, one of labels, and those named for groups, slices and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from focal_lib.tool.inputs.parts import (
    Column,
    Part,
    in_words,
    is_index_name,
    is_it,
    look_like_numbers,
    what_goes_with_samples,
)
from focal_lib.tool.inputs.table_formats import Table, open_table

LABEL = "label"


def part_of_table(
    path: Path,
    label_column: str | None,
    columns: Mapping[Column, str | None],
    scores: str | Sequence[str] | None = None,
) -> Part:
    """Scores (n, K), or (n,) of one column, and labels: (n,), or (n, L) of several label columns.

    Args:
        label_column: 'label' where None; several with commas between for multi-label, in the order of the scores.
        columns: names of the columns of groups, slices, weights; None for none.
        scores: names of the columns of scores; others are then left alone. None for all that have no other purpose.

    Raises:
        ValueError: another file; columns that are missing, stand twice, are no class', hold no numbers, or not all.
    """
    table, named = open_table(path), {own: name for own, name in columns.items() if name}
    names = list(table.names)
    labels, asked = listed(LABEL if label_column is None else label_column, names), listed(scores or (), names)
    wanted = [("label", name) for name in labels] + [("scores", name) for name in asked] + list(named.items())
    for what, name in wanted:
        if name not in names:
            raise _no_column(path, name, what, names)
    apart = [*labels, *named.values()]
    if shared := {name for name in apart if apart.count(name) > 1} & {*labels} or {*apart} & {*asked}:
        what = "label" if shared & {*labels} else "scores"
        raise ValueError(f"the {what} must be a column of its own. Got {min(shared)!r} for another purpose, too.")
    check_once(path.name, [*dict.fromkeys(apart), *asked] if asked else names, names)
    taken = asked or [name for name in names if name not in apart and name not in table.index]
    frame = table.read(
        [*dict.fromkeys(apart), *taken], {name for own, name in named.items() if own != "weights"}, labels
    )
    if frame.empty:
        raise ValueError(f"{path.name} must have a line for each sample after the names of its columns. Got none.")
    if not asked:
        check_classes(path, frame[taken], {str(value) for name in labels for value in frame[name].unique()})
    if len(labels) > 1 and len(labels) != len(taken):
        raise ValueError(f"{len(labels)} label columns need as many columns of scores. Got {len(taken)}.")
    for name in apart:
        _check_filled(table, name, frame[name])
    for name in labels:
        _check_names(table, frame[name], taken)
    if "weights" in named:
        numbers_of_columns(table, frame[[named["weights"]]])
    values, one = numbers_of_columns(table, frame[taken]), len(taken) == 1
    return Part(
        values[:, 0] if one else values,
        frame[labels[0] if len(labels) == 1 else labels].to_numpy(),
        class_names=None if one else tuple(taken),
        score_columns=tuple(taken),
        **{own: frame[name].to_numpy() for own, name in named.items()},  # type: ignore[arg-type]
    )


def listed(given: str | Sequence[str], names: Container[str]) -> list[str]:
    """Names of columns, of which some may be given as one text with commas between, if no column is named so."""
    found: list[str] = []
    for text in [given] if isinstance(given, str) else given:
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return found


def check_once(file: str, wanted: Sequence[str], names: Sequence[str]) -> None:
    """ValueError unless each of the wanted columns is among the names once, and wanted once."""
    there, asked = Counter(names), Counter(wanted)
    if twice := sorted(name for name in asked if max(there[name], asked[name]) > 1):
        raise ValueError(f"{file} must have each column once. Got {', '.join(map(repr, twice))} more than once.")


def _no_column(path: Path, wanted: str, what: str, names: list[str]) -> ValueError:
    if look_like_numbers(names):
        return ValueError(
            f"{path.name} must have names of columns in its first line. Got numbers, {in_words(names)}: is the header "
            "missing?"
        )
    word = f"{wanted!r}, or one that --label-column names" if wanted == LABEL else f"{wanted!r}, of the {what}"
    return ValueError(f"{path.name} must have a column {word}. Got {in_words(names)}{is_it(wanted, names)}")


def numbers_of_columns(table: Table, scores: pd.DataFrame) -> np.ndarray:
    """Of all columns, in the least type that holds them: (n, K).

    Raises:
        ValueError: no columns, or some that hold other than numbers, or not all.
    """
    if not scores.shape[1]:
        raise ValueError(f"{table.path.name} must have a column of scores for each class. Got none.")
    if not len(scores):
        return np.zeros(scores.shape)
    kinds = []
    for name, column in scores.items():
        kind = column.dtype
        if kind.kind not in "fiu":
            wrong = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
            at = int(wrong.argmax())
            remedy = ": say with --scores which columns are scores" if wrong.sum() > len(wrong) / 2 else ""
            raise ValueError(
                f"{table.path.name} must hold numbers. Got {kind} in column {name}, {str(column.iloc[at])[:40]!r}, "
                f"{table.place(at)}{remedy}."
            )
        _check_filled(table, str(name), column)
        if kind.kind == "f" and np.isposinf(wide := column.to_numpy(np.float64)).any():
            where = table.place(int(np.isposinf(wide).argmax()))
            raise ValueError(f"{table.path.name} must hold finite numbers. Got inf in column {name}, {where}.")
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
                "name it otherwise, or say with --scores which columns are scores."
            )
        counts = column.dtype.kind in "fiu" and len(column) > 2 and bool((np.diff(column.to_numpy()) == 1).all())
        if (is_index_name(str(name)) and name not in named) or counts:
            why = "it counts the samples" if counts else "its name is no class'"
            raise ValueError(
                f"{path.name} must have a column for each class, and label. Leave out {name!r}: {why}; or say "
                "with --scores which columns are scores."
            )


def _check_names(table: Table, labels: pd.Series, columns: Sequence[str]) -> None:
    """Among labels that are numbers or names of columns, one that is neither is a slip; all may be other names."""
    if labels.dtype.kind in "fiub":
        return
    known = (pd.to_numeric(labels, errors="coerce").notna() | labels.isin(columns)).to_numpy()
    if known.any() and not known.all():
        at = int(known.argmin())
        raise ValueError(
            f"labels must be names of columns, which are {in_words(columns)}, or numbers. Got "
            f"{str(labels.iloc[at])[:40]!r} in column {labels.name}, {table.place(at)}, of {table.path.name}."
        )


def _check_filled(table: Table, name: str, column: pd.Series) -> None:
    if column.isna().any():
        where = table.place(int(column.isna().to_numpy().argmax()))
        raise ValueError(f"{table.path.name} must have every number. Got none in column {name} of {where}.")
