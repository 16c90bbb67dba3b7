"""Predictions with their outcomes as they come: csv with a header, or an object of JSON on each line.

A line says one of: confidence and correct; confidence, predicted and label; the probabilities of every class and label;
the probability of the positive class and label, 0 or 1. A number is the same however it is written, 1 and 1.0.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd
import scipy

from focal_lib.tool.inputs.layouts import Reading, lay_out
from focal_lib.tool.inputs.parts import Part, in_words, is_it, what_goes_with_samples
from focal_lib.tool.inputs.table_file import check_once, listed
from focal_lib.tool.inputs.table_formats import Table, open_table

Of = Literal["confidence", "probability"]
Outcomes = tuple[np.ndarray, np.ndarray, np.ndarray]  # confidence or probability, 0 or 1, ids as text: (m,) each
_LATE = ("", "nan", "na", "n/a", "null", "none", "<na>")  # no outcome yet
_TRUTH = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)([.][0-9]*)?(e[+-]?[0-9]{1,4})?", re.IGNORECASE)  # 007 is a name
_OF_SAMPLES = re.compile(r"(.*_)?(ids?|idx|index|ts|at|time|timestamp|date|datetime|day|hour)|", re.IGNORECASE)
_LONGEST, _AT_ONCE = 2**20, 2**16  # bytes of a line, and of what is read at a time


def lines_of(stream: IO[bytes], read: Callable[[bytes], Any] = len) -> Iterator[list[bytes]]:
    """The lines of a file or pipe, as many as come at a time; `read` is called with all bytes.

    Raises:
        ValueError: a line of more than 1 MB, as of a device, which has none.
    """
    rest = b""
    while chunk := stream.read1(_AT_ONCE):  # type: ignore[attr-defined]
        read(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        yield whole
        if len(rest) > _LONGEST:
            raise ValueError("a line must end within 1 MB. It does not: is this csv, or lines of JSON?")
    yield [rest]


class OutcomeLines:
    """How lines of a file of that name are read, by the options of `focal watch`; and after that, what they held.

    Attributes:
        of: 'confidence' of the predicted class, or 'probability' of the positive or second one of two classes.
        late: number of samples without an outcome so far, which are left out.
        unused: columns that were taken for no class.
    """

    def __init__(
        self,
        name: str,
        scores: str | Sequence[str] | None = None,
        given: Any = "probs",
        label: str = "label",
        key: str = "",
        class_names: Sequence[str] | None = None,
    ) -> None:
        self.name, self.reading, self.label, self.key = name, Reading(given), label, key
        self.asked = [scores] if isinstance(scores, str) else list(scores or ())
        self.class_names, self.late = class_names, 0
        self.unused: list[str] = []
        self.of: Of = "confidence"
        self._line, self._head = 0, b""  # lines read so far; the header, '{' of JSON
        self._columns: list[str] = []
        self._width = 0  # of lists of JSON

    def read(self, chunks: Iterable[Sequence[bytes]]) -> Iterator[Outcomes]:
        """Yield what each chunk of lines holds; where a line is wrong, what came before it.

        Raises:
            ValueError: an invalid line; the message gives its number.
        """
        for lines in chunks:
            before = self._head, self.late
            try:
                found = self._outcomes(lines)
            except ValueError as error:  # in which line?
                self._head, self.late = before
                if len(lines) == 1:
                    reason = str(error).removeprefix(f"{self.name} ")
                    raise ValueError(f"{self.name}, line {self._line + 1}: {reason}") from None
                half = len(lines) // 2
                yield from self.read([lines[:half], lines[half:]])
            else:
                self._line += len(lines)
                yield found

    def _outcomes(self, lines: Sequence[bytes]) -> Outcomes:
        content = b"\n".join(lines).removeprefix(codecs.BOM_UTF8).lstrip()
        nothing = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, object)
        if not content:
            return nothing
        table = self._table(content)
        if not self._columns:
            self._choose(list(table.names))
        wanted = [name for name in (*self._columns, self.key) if name]
        if missing := [name for name in wanted if name not in table.names]:
            raise ValueError(f"must have {in_words(missing)}. Got {in_words(table.names)}.")
        check_once(self.name, wanted, table.names)
        frame = table.read(wanted, {self._columns[0], "predicted", self.key})
        outcomes = frame[self._columns[0]].fillna("").astype(str).str.strip()
        late = outcomes.str.lower().isin(_LATE)
        self.late += int(late.sum())
        frame, outcomes = frame[~late], outcomes[~late]
        if not len(frame):
            return nothing
        ids = frame[self.key].fillna("").to_numpy(object) if self.key else np.full(len(frame), "", object)
        if self._columns[1] != "confidence" or self.asked:
            return *self._of_classes(outcomes, _numbers(frame[self._columns[1:]])), ids
        confidence = _numbers(frame[["confidence"]])[:, 0]
        if not (inside := (confidence >= 0) & (confidence <= 1)).all():
            percent = ": if these are percentages, divide by 100" if 2 < confidence.max() <= 100 else ""
            raise ValueError(f"confidence must lie in [0, 1]. Got {confidence[~inside][0]:g}{percent}.")
        return confidence, _compared(outcomes, frame["predicted"]) if "predicted" in frame else _truth(outcomes), ids

    def _table(self, content: bytes) -> Table:
        path = Path(self.name)
        if not self._head:
            self._head, _, content = (b"{", b"", content) if content[:1] == b"{" else content.partition(b"\n")
        if self._head == b"{":
            return open_table(path, b"\n".join(map(self._flat, content.split(b"\n"))), ".jsonl")
        table = open_table(path, self._head + b"\n" + content, ".csv")
        table.names = [name.strip() for name in table.names]
        return table

    def _flat(self, line: bytes) -> bytes:
        """An object of JSON whose list of probabilities is a column for each class, named by its place."""
        try:
            row = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise ValueError("must be an object of JSON. It is not.")
        name = self.asked[0] if self.asked else "probs"
        if not isinstance(values := row.get(name), list):
            return line
        self._width = self._width or len(values)
        if not len(values) == self._width > 0:
            raise ValueError(f"{name} must be lists of as many numbers, {self._width}. Got {len(values)}.")
        del row[name]
        return json.dumps(row | {str(place): value for place, value in enumerate(values)}).encode()

    def _choose(self, names: list[str]) -> None:
        """The columns that count: that of outcomes, then those of scores, or confidence and predicted."""
        label, asked = self.label, list(map(str, range(self._width))) or listed(self.asked, names)
        if missing := [name for name in [*asked, self.key] if name and name not in names]:
            raise ValueError(f"must have {missing[0]}. Got {in_words(names)}{is_it(missing[0], names)}")
        rest = [name for name in names if name not in (label, self.key)]
        if not asked and {"confidence", "correct"} <= {*names}:
            self._columns = ["correct", "confidence"]
        elif not asked and {"confidence", "predicted", label} <= {*names}:
            self._columns = [label, "confidence", "predicted"]
        elif label not in names or not rest or ("confidence" in names and not asked):
            raise ValueError(
                "must have confidence and correct; confidence, predicted and label; or label and the probabilities of "
                f"every class or, one alone, of the positive class. Got {in_words(names)}."
            )
        else:
            classes = [name for name in rest if not (_OF_SAMPLES.fullmatch(name) or what_goes_with_samples(name))]
            numbers = [str(k) for k in range(len(classes)) if str(k) in classes]
            whole = len(numbers) > 1 and numbers[-1] == str(len(numbers) - 1)
            if not (asked or classes):
                raise ValueError(f"must have a column of probabilities. Got {in_words(names)}: say --scores NAME.")
            self._columns = [label, *(asked or (numbers if whole else classes))]
            self.unused = [name for name in rest if name not in self._columns]
            self.of = "probability" if len(self._columns) <= 3 else "confidence"

    def _of_classes(self, labels: pd.Series, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        one, values = scores.shape[1] == 1, labels.map(_value).to_numpy(object)
        if all(isinstance(value, Decimal) for value in values):
            values = values.astype(np.float64)
        names = self.class_names or (None if one else self._columns[1:])
        part = Part(scores[:, 0] if one else scores, values, class_names=None if names is None else tuple(names))
        found = lay_out("all", part, replace(self.reading, layout="binary" if one else "classes"))
        probs = scipy.special.softmax(np.asarray(found.logits[:], dtype=np.float64), axis=-1)
        if self.of == "probability":
            return probs[:, 1], found.labels
        return probs.max(-1), (scores.argmax(-1) == found.labels).astype(np.int64)


def _truth(outcomes: pd.Series) -> np.ndarray:
    truth = outcomes.str.lower().map(_TRUTH)
    if (wrong := outcomes[truth.isna()]).size:
        raise ValueError(f"correct must be 0, 1, true or false. Got {wrong.iloc[0][:40]!r}.")
    return truth.to_numpy(np.int64)


def _compared(labels: pd.Series, predicted: pd.Series) -> np.ndarray:
    if predicted.isna().any():
        raise ValueError("predicted must be there where label is. Got none.")
    return np.array([_value(one) == _value(other) for one, other in zip(labels, predicted, strict=True)], np.int64)


def _value(text: str) -> Decimal | str:
    """A number or truth value as number, else text."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return Decimal(text.lower() == "true")
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def _numbers(frame: pd.DataFrame) -> np.ndarray:
    """Finite numbers, (m, columns), float64."""
    for name, column in frame.items():
        wrong = ~np.isfinite(pd.to_numeric(column, errors="coerce").to_numpy(np.float64))
        wrong |= column.map(lambda value: isinstance(value, bool)).to_numpy()
        if wrong.any():
            remedy = "" if name == "confidence" else ": say with --scores which columns are probabilities"
            raise ValueError(f"{name} must be a number. Got {str(column.iloc[int(wrong.argmax())])[:40]!r}{remedy}.")
    return frame.to_numpy(np.float64)
