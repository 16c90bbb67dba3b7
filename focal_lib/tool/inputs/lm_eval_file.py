"""samples_*.jsonl of lm-evaluation-harness: log-likelihoods of each question's options.

A line is a question: `filtered_resps` holds [log-likelihood, is_greedy] of each option, as text or numbers; `target`
the index of the right one, or its text, which is compared with the continuations in `arguments`. The scores are the
summed log-likelihoods, as in the metric acc; for acc_norm divide them by the lengths first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from focal_lib.tool.inputs.parts import Column, Part, in_words
from focal_lib.tool.inputs.table_formats import objects_of

_AMISS = 0.01  # of the questions may be told otherwise by their own acc: ties


def part_of_samples(path: Path, columns: Mapping[Column, str | None]) -> Part:
    """Rows of log-likelihoods, of different lengths, and the indices of the right options.

    Args:
        columns: keys of groups, slices, weights, of a line or of its `doc`; None for none.

    Raises:
        ValueError: another file, questions without options or of several right answers, one question twice, a target
            that may be a place or a text, or that the file's own accuracy contradicts.
    """
    found: dict[str, list[Any]] = {own: [] for own, key in columns.items() if key is not None}
    scores, labels, told = [], [], []
    for line, row, what in _questions(path):
        labels.append(_target(line, len(row), what))
        scores.append(row)
        if line.get("acc") is not None:
            told.append((row.index(max(row)) == labels[-1]) == (_acc(line["acc"], what) == 1))
        for own, values in found.items():
            values.append(_value(line, str(columns[own]), what))  # type: ignore[index]
    if (wrong := told.count(False)) > max(1, _AMISS * len(told)):
        raise ValueError(
            f"{path.name} must have the targets that its own acc was computed with. Got {wrong} of {len(told)} "
            "questions whose acc says otherwise."
        )
    return Part(scores, labels, layout="options", **found)  # type: ignore[arg-type]


def scores_of_samples(path: Path) -> list[list[float]]:
    """Rows of log-likelihoods, of different lengths; the right options need not be known.

    Raises:
        ValueError: another file, questions without options, one question twice.
    """
    return [row for _, row, _ in _questions(path)]


def _questions(path: Path) -> Iterator[tuple[dict[str, Any], list[float], str]]:
    """Yield, for each line, the object, the log-likelihoods and a name for messages."""
    seen, what = set(), ""
    for number, line in objects_of(path):
        what = f"line {number} of {path.name}"
        question = line.get("doc_id")
        if isinstance(question, list | dict):
            raise ValueError(f"{what} must have a number or text as doc_id. Got {type(question).__name__}.")
        if question is not None and question in seen:
            raise ValueError(f"{what} must be a question of its own. Got doc_id {question} once more: one filter?")
        seen.add(question)
        yield line, _log_likelihoods(line, what), what
    if not what:
        raise ValueError(f"{path.name} must hold a question in each line. Got none.")


def _acc(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{what} must have a number as acc. Got {str(value)[:40]!r}.") from None


def _log_likelihoods(line: dict[str, Any], what: str) -> list[float]:
    try:
        pairs = line["filtered_resps"]
        if not isinstance(pairs, list) or not all(isinstance(pair, list) for pair in pairs):
            raise TypeError
        found = [float(value) for value, _ in pairs]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{what} must have [log-likelihood, is_greedy] of each option as filtered_resps, as tasks with options of "
            f"lm-evaluation-harness do. Got {in_words(line)}: of other predictions, save a table as csv or parquet."
        ) from None
    if len(found) < 2 or not all(map(math.isfinite, found)):
        raise ValueError(f"{what} must have finite log-likelihoods of at least two options. Got {found}.")
    texts = _continuations(line)
    if texts is not None and len(set(texts)) < len(texts):
        raise ValueError(f"{what} must have options that differ. Got one twice, as for acc_mutual_info.")
    return found


def _continuations(line: dict[str, Any]) -> list[str] | None:
    """The texts of the options, whichever way the version wrote them."""
    arguments = line.get("arguments")
    if isinstance(arguments, dict):
        rows = [arguments.get(f"gen_args_{index}") for index in range(len(arguments))]
        found = [row.get("arg_1") if isinstance(row, dict) else None for row in rows]
    elif isinstance(arguments, list):
        found = [row[1] if isinstance(row, list) and len(row) > 1 else None for row in arguments]
    else:
        return None
    return [text.strip() for text in found if isinstance(text, str)] if None not in found else None


def _target(line: dict[str, Any], count: int, what: str) -> int:
    target, texts = line.get("target"), _continuations(line)
    if isinstance(target, list) or (isinstance(target, str) and target.strip().startswith("[")):
        raise ValueError(f"{what} must have one right option. Got target {target!r}.")
    text = str(target).strip()
    place = int(text) if text.isdecimal() and int(text) < count else None
    named = texts.index(text) if texts is not None and len(texts) == count and text in texts else None
    if place is not None and named is not None and place != named:
        raise ValueError(f"{what} has target {target!r}, which is a place and the text of option {named}.")
    found = place if place is not None else named
    if found is None:
        raise ValueError(f"{what} must have the place of an option as target, or its text. Got {target!r}.")
    return found


def _value(line: dict[str, Any], key: str, what: str) -> Any:
    doc = line.get("doc")
    for place in (line, doc if isinstance(doc, dict) else {}):
        if key in place and isinstance(place[key], str | int | float):
            return place[key]
    raise ValueError(f"{what} must have a text or number {key!r}, or its doc.")
