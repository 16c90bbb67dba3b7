"""Predictions with their outcomes, line by line: csv with a header, or an object of JSON on each line.

A line says one of: confidence and correct; confidence, predicted and label; the probabilities of every class and label;
the probability of the positive class and label, 0 or 1. A number is the same however it is written, 1 and 1.0.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import IO, Any, Literal

import numpy as np
import scipy

from focal_lib.tool.inputs.layouts import Reading, lay_out
from focal_lib.tool.inputs.parts import Part, in_words, is_it, what_goes_with_samples
from focal_lib.tool.inputs.table_file import listed

Of = Literal["confidence", "probability"]
Outcomes = tuple[np.ndarray, np.ndarray, list[str]]  # confidence or probability (m,), 0 or 1 (m,), ids
_LATE = ("", "nan", "na", "n/a", "null", "none", "<na>")  # no outcome yet
_TRUTH = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)([.][0-9]*)?(e[+-]?[0-9]{1,4})?", re.IGNORECASE)  # 007 is a name
_OF_SAMPLES = re.compile(r"(.*_)?(ids?|idx|index|ts|at|time|timestamp|date|datetime|day|hour)|", re.IGNORECASE)
_LONGEST, _AT_ONCE = 2**20, 2**16  # bytes of a line, and of what is read at a time
_WRONG = (ValueError, RecursionError, csv.Error)


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
    yield [rest] if rest else []


class OutcomeLines:
    """How lines are read; and after that, what they held.

    Args:
        name: of the file, for messages.
        scores: columns of probabilities; one is that of the positive class. None to go by the names of columns.
        given: what these columns hold: probs, log-probs or logits.
        label: column of labels.
        key: column of the ids of samples; '' for none.
        class_names: of labels that are names, if not those of the columns.

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
        self.name, self.scores, self.reading, self.label, self.key = name, scores, Reading(given), label, key
        self.class_names, self.late = class_names, 0
        self.of: Of = "confidence"
        self.unused: list[str] = []
        self._head: list[str] | None = None  # none of JSON
        self._kind: Of | None = None
        self._columns: list[str] = []
        self._find: Callable[..., tuple[np.ndarray, np.ndarray]] = _stated

    def read(self, chunks: Iterable[Sequence[bytes]]) -> Iterator[Outcomes]:
        """Yield what each chunk of lines holds; where a line is wrong, what came before it.

        Raises:
            ValueError: an invalid line; the message gives its number.
        """
        at = 0
        for lines in chunks:
            before = self._head, self.late
            try:
                yield self._outcomes(lines)
                at += len(lines)
            except _WRONG:  # in which line?
                self._head, self.late = before
                for line in lines:
                    at += 1
                    try:
                        yield self._outcomes([line])
                    except _WRONG as error:
                        no_text = f"must be text in UTF-8, csv or lines of JSON. It is not{_remedy(self.name.lower())}."
                        reason = no_text if isinstance(error, UnicodeDecodeError) else error
                        raise ValueError(f"{self.name}, line {at}: {reason}") from None

    def _outcomes(self, lines: Sequence[bytes]) -> Outcomes:
        rows = [row for line in lines if (row := self._row(line.decode()))]
        if rows and not self._columns:
            self._choose(list(rows[0]))
        needed = {*self._columns, self.key} - {""}
        if rows and (short := next((row for row in rows if not needed <= row.keys()), None)) is not None:
            raise ValueError(f"must have {in_words(self._columns)}. Got {in_words(short)}.")
        told = [row for row in rows if _text(row[self._columns[0]]) not in _LATE]
        self.late += len(rows) - len(told)
        if not told:
            return np.zeros(0), np.zeros(0), []
        confidence, correct = self._find(*([row[name] for row in told] for name in self._columns))
        return confidence, correct, [str(row.get(self.key, "")) for row in told]

    def _row(self, line: str) -> Mapping[str, Any]:
        """Values by name; none of blank lines and of the header."""
        line = line.removeprefix("\ufeff").strip()
        if not line:
            return {}
        if self._head is None:
            if line.startswith("{"):
                self._head = []
            else:
                self._head = [name.strip() for name in _cells(line)]
                if len(self._head) == 1 and (other := re.search("[;\t|]", line)):
                    raise ValueError(f"must have commas between columns, and decimal points. Got {other[0]!r}.")
                if len(set(self._head)) < len(self._head):
                    raise ValueError(f"columns must have names of their own. Got {in_words(self._head)}.")
                return {}
        if not self._head:
            try:
                found = json.loads(line)
            except ValueError:
                raise ValueError("must be an object of JSON, as the first line is. It is not.") from None
            if not isinstance(found, dict) or not found:
                raise ValueError(f"must be an object of JSON. Got {type(found).__name__ if found else 'nothing'}.")
            return found
        cells = _cells(line)
        if len(cells) != len(self._head):
            raise ValueError(f"must have {len(self._head)} cells, as the header has. Got {len(cells)}.")
        return dict(zip(self._head, cells, strict=True))

    def _choose(self, names: list[str]) -> None:
        """The columns that count, that of outcomes first, and how they are read."""
        asked, label = listed(self.scores or (), names), self.label
        if missing := [name for name in [*asked, self.key] if name and name not in names]:
            raise ValueError(f"must have {missing[0]}. Got {in_words(names)}{is_it(missing[0], names)}")
        rest = [name for name in names if name not in (label, self.key)]
        if not asked and {"confidence", "correct"} <= {*names}:
            self._find, self._columns = _stated, ["correct", "confidence"]
        elif not asked and {"confidence", "predicted", label} <= {*names}:
            self._find, self._columns = _predicted, [label, "confidence", "predicted"]
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
            self._find, self.unused = self._of_classes, [name for name in rest if name not in self._columns]

    def _of_classes(self, labels: list[Any], *columns: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        names: Sequence[str] | None = self._columns[1:]
        if len(columns) == 1 and any(isinstance(row, list) for row in columns[0]):  # of JSON
            if any(not isinstance(row, list) or not row or len(row) != len(columns[0][0]) for row in columns[0]):
                raise ValueError("probs must be lists of as many numbers.")
            names, columns = None, tuple(zip(*columns[0], strict=True))
        scores = np.stack([_numbers(column, "a probability") for column in columns], axis=-1)
        one, values = scores.shape[1] == 1, np.array([_value(label) for label in labels], dtype=object)
        if all(isinstance(value, Decimal) for value in values):
            values = values.astype(np.float64)
        names = self.class_names or (None if one else names)
        part = Part(scores[:, 0] if one else scores, values, class_names=None if names is None else tuple(names))
        found = lay_out("all", part, replace(self.reading, layout="binary" if one else "classes"))
        probs = scipy.special.softmax(np.asarray(found.logits[:], dtype=np.float64), axis=-1)
        of: Of = "probability" if found.classes == 2 else "confidence"
        if self._kind not in (None, of):
            raise ValueError(f"must have {'two classes' if of == 'confidence' else 'more classes'}, as lines before.")
        self.of = self._kind = of
        if of == "probability":
            return probs[:, 1], found.labels.astype(np.float64)
        return probs.max(-1), (scores.argmax(-1) == found.labels).astype(np.float64)


def checked_outcomes(confidence: np.ndarray, correct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as float64, (m,).

    Raises:
        ValueError: confidences that are no numbers in [0, 1], outcomes other than 0 and 1.
    """
    p, y = confidence, correct
    if p.dtype.kind not in "fiu":
        raise ValueError(f"confidence must be numbers in [0, 1]. Got {p.dtype}.")
    if not (inside := (p >= 0) & (p <= 1)).all():
        remedy = ": if these are percentages, divide by 100" if p.min() >= 0 and 2 < p.max() <= 100 else ""
        raise ValueError(f"confidence must be numbers in [0, 1]. Got {p[~inside][0]:g}{remedy}.")
    if y.dtype.kind not in "fiub" or not (truth := np.isin(y, (0, 1))).all():
        wrong = f"{y[~truth][0]:g}" if y.dtype.kind in "fiub" else f"{y.dtype}"
        raise ValueError(f"correct must be 0 or 1, or truth values. Got {wrong}.")
    return p.astype(np.float64), y.astype(np.float64)


def _stated(correct: list[Any], confidence: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    for value in correct:
        if _text(value) not in _TRUTH:
            raise ValueError(f"correct must be 0, 1, true or false. Got {str(value)[:40]!r}.")
    return checked_outcomes(_numbers(confidence, "confidence"), np.array([_TRUTH[_text(value)] for value in correct]))


def _predicted(labels: list[Any], confidence: list[Any], predicted: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    same = [_value(one) == _value(other) for one, other in zip(predicted, labels, strict=True)]
    return checked_outcomes(_numbers(confidence, "confidence"), np.array(same))


def _cells(line: str) -> list[str]:
    return next(csv.reader([line], strict=True))


def _remedy(name: str) -> str:
    if name.endswith((".gz", ".zip", ".bz2", ".xz", ".zst")):
        return ": unpack it first"
    return ": save it as csv" if name.endswith((".npz", ".npy", ".parquet")) else ""


def _text(value: Any) -> str:
    return str(value).strip().lower()


def _value(value: Any) -> Decimal | str:
    """A number or truth value as number, else text."""
    text = str(value).strip()
    if value is None or text.lower() in ("", "nan"):
        raise ValueError(f"predicted and label must be there. Got {text!r}.")
    if text.lower() in ("true", "false"):
        return Decimal(text.lower() == "true")
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def _numbers(values: Sequence[Any], name: str) -> np.ndarray:
    found = []
    for value in values:
        try:
            found.append(math.nan if isinstance(value, bool) else float(value))
        except (TypeError, ValueError, OverflowError):
            found.append(math.nan)
        if not math.isfinite(found[-1]):
            remedy = ": say with --scores which columns are probabilities" if name == "a probability" else ""
            raise ValueError(f"{name} must be a number. Got {str(value)[:40]!r}{remedy}.")
    return np.array(found)
