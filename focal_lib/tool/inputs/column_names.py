"""Column names: those that are not of classes, suggestions for missing ones, and lists of names in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import get_args

from focal_lib.tool.inputs.parts import Column

_PER_SAMPLE: dict[str, Column] = {
    **dict.fromkeys(("w", "wt", "weight", "sample_weight", "sample_weights"), "weights"),
    **dict.fromkeys(("group", "group_id", "patient", "patient_id", "fold", "split"), "groups"),
    **dict.fromkeys(("slice", "site"), "slices"),
    **{own: own for own in get_args(Column)},
}
_INDEX = {"id", "ids", "index", "idx", "sample", "sample_id", "row", "unnamed: 0", "__index_level_0__", ""}
_LABELS = {"labels", "target", "targets", "y", "y_true", "truth", "true", "true_label", "gold", "class", "outcome"}
_LABELS |= {"label_ids", "ground_truth", "answer"}
_FIRST, _LAST = 4, 4  # shown of many names: columns that are not of classes are at the ends


def what_goes_with_samples(name: str) -> Column | None:
    """What a column of that name holds for each sample; None if it may be of a class."""
    return _PER_SAMPLE.get(name.strip().lower())


def is_index_name(name: str) -> bool:
    """Whether a column of that name is an index of the samples."""
    return name.strip().lower() in _INDEX


def in_words(names: Iterable[object]) -> str:
    """All names if few, else the first and the last ones with their number."""
    texts = [str(name) if len(str(name)) <= 40 else f"{str(name)[:40]}..." for name in names]
    if len(texts) <= _FIRST + _LAST:
        return ", ".join(texts) or "none"
    return f"{', '.join(texts[:_FIRST])}, ..., {', '.join(texts[-_LAST:])} ({len(texts):,})"


def is_it(wanted: str, names: Sequence[str]) -> str:
    """': is it 'target'?' where a name, in any case, is like the one wanted; else ''."""
    usual = _LABELS if wanted.lower() == "label" else set()
    known = {name.strip().lower(): name for name in reversed(names)}
    found = [name for low, name in known.items() if low in usual or low == wanted.lower()]
    found = found or [known[low] for low in get_close_matches(wanted.lower(), known, n=2, cutoff=0.7)]
    return f": is it {' or '.join(map(repr, found[:2]))}?" if found else "."


def look_like_numbers(names: Sequence[str]) -> bool:
    """Whether a header holds what a line of samples does: numbers, and not 0, 1, 2, which may name classes."""
    return any(_is_fraction(name) for name in names) and all(_is_number(name) for name in names)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _is_fraction(name: str) -> bool:
    return _is_number(name) and not float(name).is_integer()
