"""npz files of logits and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from focal_lib.calibration.logit_sets import FLAG, Given
from focal_lib.tool.inputs.archives import Npz, open_npz
from focal_lib.tool.inputs.parts import PER_SAMPLE, Column, Part, in_words, is_it

_SETS = ("validation", "test")
NAMES_OF_SCORES: dict[Given, str] = {"logits": "logits", "probs": "probs", "log-probs": "log_probs"}  # by what is given
_SAVED_AS = {  # by others: Hugging Face, scikit-learn's users
    "logits": "predictions preds logit scores outputs output x z y_score y_pred decision_function",
    "probs": "probabilities probas proba prob p y_prob y_proba predict_proba softmax",
    "log_probs": "log_probabilities logprobs log_prob log_softmax",
    "labels": "label label_ids targets target y y_true true truth gold classes ground_truth",
}
_MEANT = {name: own for own, names in _SAVED_AS.items() for name in (own, *names.split())}


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
            return {"all": _part(file, scores, "", columns)}
        if missing := [name for name in wanted if name not in names]:
            remedy = _remedy(sorted(names), own) or f"; no {missing[0]}"
            raise ValueError(
                f"{path.name} must hold logits and labels, or {', '.join(wanted)}. Got {in_words(sorted(names))}"
                f"{remedy}."
            )
        return {part: _part(file, scores, f"{part}_", columns) for part in _SETS}


def _remedy(names: Iterable[str], own: str) -> str:
    """Advice on arrays of other names; '' if their names are not informative."""
    meant = {name: _meant(name) for name in names}
    parts, kinds = {part for part, _ in meant.values()}, {kind for _, kind in meant.values()} - {""}
    scores, targets = kinds - {"labels"}, [part + kind for part, kind in meant.values() if kind]
    if len(scores) != 1 or "labels" not in kinds or parts not in ({""}, {"validation_", "test_"}):
        return ""
    if len({*targets}) < len(targets):  # which of them is meant?
        return ""
    (kind,) = scores
    changes = [f"{name} -> {part}{kind}" for name, (part, kind) in meant.items() if kind and name != part + kind]
    found = [f"if they are that, rename {', '.join(changes)}"] if changes else []
    if kind not in ("logits", own):
        found.append(f"say {FLAG[kind.replace('_', '-')]}")
    return f": {' and '.join(found)}" if found else ""


def _meant(name: str) -> tuple[str, str]:
    """Set and kind of an array, as its name says: ('validation_', 'labels') of val_y; of others the kind ''."""
    part, rest = re.fullmatch(r"(?:(val|valid|validation|dev|test)_)?(.*)", name.lower(), re.DOTALL).groups()  # type: ignore[union-attr]
    return "" if part is None else "test_" if part == "test" else "validation_", _MEANT.get(rest, "")


def _part(file: Npz, scores: str, prefix: str, columns: Mapping[Column, str | None]) -> Part:
    found: dict[str, Any] = {}
    for own in PER_SAMPLE:
        asked = columns.get(own)
        name = prefix + (asked or own)
        if name in file.names:
            found[own] = file[name]
        elif asked:
            names = sorted(file.names)
            raise ValueError(f"{file.path.name} must hold {name}, for {own}. Got {in_words(names)}{is_it(name, names)}")
    if "class_names" in file.names:
        found["class_names"] = tuple(map(str, file["class_names"].ravel()))
    return Part(file[f"{prefix}{scores}"], file[f"{prefix}labels"], **found)
