"""Predictions with their outcomes, line by line: csv with a header, or an object of JSON on each line.

A line says one of: confidence and correct; confidence, predicted and label; the probabilities of every class and label.
A number is the same however it is written, 1 and 1.0. In csv a label may be the name of a column of probabilities.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np

from focal_lib.metrics.scores import top_label
from focal_lib.tool.inputs.parts import is_index_name, what_goes_with_samples

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
            yield from map(_outcome, rows(chain([first], rest)))
    except UnicodeDecodeError:
        where, remedy = (f"{name}, after line {at}", "") if at else (name, _remedy(name.lower()))
        raise ValueError(f"{where}: must be text in UTF-8, csv or lines of JSON. It is not{remedy}.") from None
    except (ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"{name}, line {at}: {error}") from None


def _remedy(name: str) -> str:
    if name.endswith((".gz", ".zip", ".bz2", ".xz", ".zst")):
        return ": unpack it first"
    return ": save it as csv" if name.endswith((".npz", ".npy", ".parquet")) else ""


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
    names = [name for name in head if name != "label"]
    whole, places = "label" in head and "confidence" not in head, {}
    if whole:
        if apart := [name for name in names if is_index_name(name) or what_goes_with_samples(name)]:
            raise ValueError(f"columns must be label and one for each class. Got {apart[0]!r}: leave it out.")
        if len(names) == 1:
            raise ValueError(f"{_ONE_COLUMN} Got {names[0]} and label.")
        places = {_value(name): k for k, name in reversed(list(enumerate(names)))}
    for cells in table:
        if len(cells) != len(head):
            raise ValueError(f"must have {len(head)} cells, as the header has. Got {len(cells)}.")
        row = dict(zip(head, cells, strict=True))
        yield {"label": _place(row.pop("label"), places), "probs": list(row.values())} if whole else row


def _place(label: str, places: Mapping[Decimal | str, int]) -> int | str:
    """Of the column that the label names, else the label."""
    value = _value(label)
    found = places.get(value)
    if found is None and isinstance(value, str):
        shown = ", ".join(map(str, list(places)[::-1][:6])) + ", ..." * (len(places) > 6)
        raise ValueError(f"label must be a number or the name of a column, {shown}. Got {label[:40]!r}.")
    if found is not None and value != found and value in range(len(places)):
        raise ValueError(
            f"label may be the name of a column or its place from 0. Got {label[:40]!r}, the name of column {found}: "
            "name the columns otherwise, or in the order 0, 1, ..."
        )
    return label if found is None else found


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
        confidence, correct = _confidence(row["confidence"]), str(row["correct"])
        if (truth := _TRUTH.get(correct.strip().lower())) is None:
            raise ValueError(f"correct must be 0, 1, true or false. Got {correct[:40]!r}.")
        return confidence, truth
    if {"confidence", "predicted", "label"} <= row.keys():
        return _confidence(row["confidence"]), float(_value(row["predicted"]) == _value(row["label"]))
    if {"probs", "label"} <= row.keys() and isinstance(row["probs"], list):
        probs = np.array([[_number(value, "a probability") for value in row["probs"]]])
        if probs.size == 1:
            raise ValueError(f"{_ONE_COLUMN} Got one.")
        label = _number(row["label"], "label")
        if not label.is_integer():
            raise ValueError(f"label must be a whole number. Got {label:g}.")
        top, right = top_label(probs, np.array([int(label)]))
        return float(top[0]), float(right[0])
    raise ValueError(f"must have {_WAYS}. Got {', '.join(map(str, row)) or 'nothing'}.")


def _confidence(value: Any) -> float:
    found = _number(value, "confidence")
    if not 0 <= found <= 1:
        remedy = ": if these are percentages, divide by 100" if 1 < found <= 100 else ""
        raise ValueError(f"confidence must lie in [0, 1]. Got {found:g}{remedy}.")
    return found


def _number(value: Any, name: str) -> float:
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name} must be a number. Got {str(value)[:40]!r}.")
    return found
