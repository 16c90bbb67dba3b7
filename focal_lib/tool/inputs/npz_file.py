"""npz files of logits and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from focal_lib.calibration.logit_sets import FLAG, Given
from focal_lib.tool.inputs.archives import Npz, open_npz
from focal_lib.tool.inputs.column_names import in_words, is_it
from focal_lib.tool.inputs.parts import PER_SAMPLE, Column, Part

_SETS = ("validation", "test")
NAMES_OF_SCORES = {"logits": "logits", "probs": "probs", "log-probs": "log_probs"}  # names of scores, by what is given
_SAVED_AS = {  # by others: Hugging Face, scikit-learn's users
    "logits": "predictions preds logit scores outputs output x z y_score y_pred decision_function",
    "probs": "probabilities probas proba prob p y_prob y_proba predict_proba softmax",
    "log_probs": "log_probabilities logprobs log_prob log_softmax",
    "labels": "label label_ids targets target y y_true true truth gold classes ground_truth",
}
_MEANT = {name: own for own, names in _SAVED_AS.items() for name in names.split()}
_MEANT |= {own: own for own in _SAVED_AS}


def parts_of_npz(path: Path, columns: Mapping[Column, str | None], given: Given = "logits") -> dict[str, Part]:
    """The parts 'validation' and 'test', or the single part 'all'.

    Args:
        columns: names of the arrays of groups, slices, weights; None for an optional array of that name.
        given: kind of the scores, whose array is 'logits', or else 'probs' or 'log_probs'.

    Raises:
        ValueError: another file, missing or damaged arrays, one set and two in one file.
    """
    with open_npz(path) as file:
        names = file.names
        own = NAMES_OF_SCORES.get(given, "logits")
        scores = own if own in names or {f"{part}_{own}" for part in _SETS} <= names else "logits"
        wanted = [f"{part}_{what}" for part in _SETS for what in (scores, "labels")]
        if {scores, "labels"} <= names:
            if both := sorted(names & set(wanted)):
                raise ValueError(
                    f"{path.name} must hold one set of {scores} and labels, or two. Got {', '.join(both)}, too."
                )
            return {"all": _part(path, file, scores, "", columns)}
        if missing := [name for name in wanted if name not in names]:
            remedy = _renamed(names, own)
            raise ValueError(
                f"{path.name} must hold logits and labels, or {', '.join(wanted)}. "
                f"Got {in_words(sorted(names))}{remedy or f'; no {missing[0]}'}."
            )
        return {part: _part(path, file, scores, f"{part}_", columns) for part in _SETS}


def _renamed(names: Iterable[str], own: str) -> str:
    """Advice on arrays of other names; '' if their names are not informative."""
    meant = {name: _meant(name) for name in sorted(names)}
    parts = {part for part, _ in meant.values()}
    kinds = {kind for _, kind in meant.values()} - {""}
    scores = kinds - {"labels"}
    targets = [part + kind for part, kind in meant.values() if kind]
    if len(scores) != 1 or "labels" not in kinds or parts not in ({""}, {"validation_", "test_"}):
        return ""
    if len({*targets}) < len(targets):  # which of them is meant?
        return ""
    (kind,) = scores
    given = "probs" if kind == "probs" else "log-probs" if kind == "log_probs" else ""
    say = f"say {FLAG[given]}" if given and NAMES_OF_SCORES[given] != own else ""
    changes = [f"{name} -> {part}{kind}" for name, (part, kind) in meant.items() if kind and name != part + kind]
    renamed = f"if they are that, rename {', '.join(changes)}" if changes else ""
    return f": {' and '.join(filter(None, (renamed, say)))}" if renamed or say else ""


def _meant(name: str) -> tuple[str, str]:
    """Set and kind of an array, as its name says: ('validation_', 'labels') of val_y; of others the kind ''."""
    found = re.fullmatch(r"(?:(val|valid|validation|dev|test)_)?(.+)", name, re.IGNORECASE)
    part = (found[1] or "").lower() if found else ""
    return f"{'test' if part == 'test' else 'validation'}_" if part else "", _kind(found[2] if found else name)


def _kind(name: str) -> str:
    return _MEANT.get(name.lower(), "")


def _part(path: Path, file: Npz, scores: str, prefix: str, columns: Mapping[Column, str | None]) -> Part:
    found: dict[str, Any] = {}
    for own in PER_SAMPLE:
        asked = columns.get(own)
        name = prefix + (asked or own)
        if name in file.names:
            found[own] = file[name]
        elif asked:
            names = sorted(file.names)
            raise ValueError(f"{path.name} must hold {name}, for {own}. Got {in_words(names)}{is_it(name, names)}")
    if "class_names" in file.names:
        found["class_names"] = tuple(map(str, file["class_names"].ravel()))
    return Part(file[f"{prefix}{scores}"], file[f"{prefix}labels"], **found)
