"""Predictions with their outcomes, line by line: csv with a header, or an object of JSON on each line.

A line says one of: confidence and correct; confidence, predicted and label; the probabilities of every class and label.
A number is the same however it is written, 1 and 1.0. In csv a label may be the name of a column of probabilities.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np

from focal_lib.metrics.scores import top_label
from focal_lib.tool.inputs.column_names import is_index_name, what_goes_with_samples

_TRUTH = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)([.][0-9]*)?(e[+-]?[0-9]{1,4})?", re.IGNORECASE)  # 007 is a name
_ONE_COLUMN = (
    "must have the probabilities of both of two classes, a column each, 1 - p and p; or confidence, the larger of the "
    "two, and correct."
)
_WAYS = "confidence and correct; confidence, predicted and label; or the probabilities of every class and label"


def read_outcomes(lines: Iterable[str], name: str) -> Iterator[tuple[float, float]]:
    """Yield confidence and correctness of each line; empty lines are skipped.

    Args:
        lines: csv or JSON, decided by the first non-empty line; a byte-order mark is ignored.
        name: name of the file, for messages.

    Raises:
        ValueError: an invalid line; the message gives its number.
    """
    at = 0

    def filled() -> Iterator[str]:
        nonlocal at
        for at, line in enumerate(lines, 1):  # noqa: B007 - it says where an error is
            if line.strip():
                yield line

    rest = filled()
    try:
        first = next(rest, "").removeprefix("\ufeff")
        if first.strip():
            rows = _of_json if first.lstrip().startswith("{") else _of_csv
            for row in rows(chain([first], rest)):
                yield _outcome(row)
    except UnicodeDecodeError:
        where, remedy = f"{name}, after line {at}" if at else name, "" if at else _remedy(name)
        raise ValueError(f"{where}: must be text in UTF-8, csv or lines of JSON. It is not{remedy}.") from None
    except (ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"{name}, line {at}: {error}") from None


def _remedy(name: str) -> str:
    packed = name.lower().endswith((".gz", ".zip", ".bz2", ".xz", ".zst"))
    arrays = name.lower().endswith((".npz", ".npy", ".parquet"))
    return ": unpack it first" if packed else ": save it as csv" if arrays else ""


def _of_json(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            raise ValueError("must be an object of JSON, as the first line is. It is not.") from None
        if not isinstance(found, dict):
            raise ValueError(f"must be an object of JSON. Got {type(found).__name__}.")
        yield found


def _of_csv(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Rows as objects; with a label and no confidence the other columns are the probabilities, in their order."""
    table = csv.reader(lines, strict=True)
    head = [name.strip() for name in next(table)]
    if len(head) == 1 and (other := re.search("[;\t|]", head[0])):
        raise ValueError(f"must have commas between columns, and decimal points. Got {other[0]!r}.")
    if len(set(head)) < len(head):
        raise ValueError(f"columns must have names of their own. Got {', '.join(head)}.")
    whole = "label" in head and "confidence" not in head
    names = [name for name in head if name != "label"]
    if whole and (apart := [name for name in names if is_index_name(name) or what_goes_with_samples(name)]):
        raise ValueError(f"columns must be label and one for each class. Got {apart[0]!r}: leave it out.")
    if whole and len(names) == 1:
        raise ValueError(f"{_ONE_COLUMN} Got {names[0]} and label.")
    places = {_value(name): k for k, name in reversed(list(enumerate(names)))} if whole else {}
    for cells in table:
        if len(cells) != len(head):
            raise ValueError(f"must have {len(head)} cells, as the header has. Got {len(cells)}.")
        row = dict(zip(head, cells, strict=True))
        yield {"label": _place(row.pop("label"), places), "probs": list(row.values())} if whole else row


def _place(label: str, places: Mapping[Decimal | str, int]) -> int | str:
    """Of the column that the label names, else the label."""
    value = _value(label)
    found, number = places.get(value), isinstance(value, Decimal)
    if found is None and not number:
        shown = ", ".join(map(str, list(places)[::-1][:6])) + ", ..." * (len(places) > 6)
        raise ValueError(f"label must be a number or the name of a column, {shown}. Got {label[:40]!r}.")
    if found is not None and number and value != found and value in range(len(places)):
        raise ValueError(
            f"label may be the name of a column or its place from 0. Got {label[:40]!r}, the name of column {found}: "
            "name the columns otherwise, or in the order 0, 1, ..."
        )
    return label if found is None else found


def _same(one: Any, other: Any) -> bool:
    return _value(one) == _value(other)


def _value(value: Any) -> Decimal | str:
    """A number or truth value as number, else text."""
    text = str(value).strip()
    if not text or value is None or value != value:
        raise ValueError(f"predicted and label must be there. Got {text!r}.")
    if text.lower() in ("true", "false"):
        return Decimal(text.lower() == "true")
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def _outcome(row: Mapping[str, Any]) -> tuple[float, float]:
    if {"confidence", "correct"} <= row.keys():
        return _confidence(row["confidence"]), _truth(row["correct"])
    if {"confidence", "predicted", "label"} <= row.keys():
        return _confidence(row["confidence"]), float(_same(row["predicted"], row["label"]))
    if {"probs", "label"} <= row.keys() and isinstance(row["probs"], list):
        probs = np.array([[_number(value, "a probability") for value in row["probs"]]])
        if probs.shape == (1, 1):
            raise ValueError(f"{_ONE_COLUMN} Got one.")
        label = _number(row["label"], "label")
        if label != int(label):
            raise ValueError(f"label must be a whole number. Got {label:g}.")
        confidence, correct = top_label(probs, np.array([int(label)]))
        return float(confidence[0]), float(correct[0])
    raise ValueError(f"must have {_WAYS}. Got {', '.join(map(str, row)) or 'nothing'}.")


def _confidence(value: Any) -> float:
    found = _number(value, "confidence")
    if not 0 <= found <= 1:
        remedy = ": if these are percentages, divide by 100" if 1 < found <= 100 else ""
        raise ValueError(f"confidence must lie in [0, 1]. Got {found:g}{remedy}.")
    return found


def _number(value: Any, name: str) -> float:
    try:
        found = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = float("nan")
    if not np.isfinite(found):
        raise ValueError(f"{name} must be a number. Got {str(value)[:40]!r}.")
    return found


def _truth(value: Any) -> float:
    found = _TRUTH.get(str(value).strip().lower())
    if found is None:
        raise ValueError(f"correct must be 0, 1, true or false. Got {str(value)[:40]!r}.")
    return found
