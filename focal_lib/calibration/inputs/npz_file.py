"""npz files: arrays of numbers, and of names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from focal_lib.calibration.inputs.archives import Npz, open_npz
from focal_lib.calibration.inputs.parts import PER_SAMPLE, Column, Part

__all__ = ["parts_of_npz"]

_SETS = ("validation", "test")


def parts_of_npz(path: Path, columns: Mapping[Column, str | None]) -> dict[str, Part]:
    """Those named 'validation' and 'test', or the one, 'all'.

    Args:
        columns: names of the arrays that hold groups, slices, weights; None for one of that name, where there is.

    Raises:
        ValueError: another file, missing or damaged arrays, one set and two in one file.
    """
    with open_npz(path) as file:
        names = file.names
        pairs = {part: (f"{part}_logits", f"{part}_labels") for part in _SETS}
        wanted = sum(pairs.values(), ())
        if {"logits", "labels"} <= names:
            if both := sorted(names & set(wanted)):
                raise ValueError(
                    f"{path.name} must hold one set of logits and labels, or two. Got {', '.join(both)}, too."
                )
            return {"all": _part(path, file, "", columns)}
        if missing := [name for name in wanted if name not in names]:
            raise ValueError(
                f"{path.name} must hold logits and labels, or {', '.join(wanted)}. "
                f"Got {', '.join(sorted(names)) or 'nothing'}; no {missing[0]}."
            )
        return {part: _part(path, file, f"{part}_", columns) for part in _SETS}


def _part(path: Path, file: Npz, prefix: str, columns: Mapping[Column, str | None]) -> Part:
    found: dict[str, Any] = {}
    for own in PER_SAMPLE:
        asked = columns.get(own)
        name = prefix + (asked or own)
        if name in file.names:
            found[own] = file[name]
        elif asked:
            raise ValueError(f"{path.name} must hold {name}, for {own}. Got {', '.join(sorted(file.names))}.")
    if "class_names" in file.names:
        found["class_names"] = tuple(map(str, file["class_names"].ravel()))
    return Part(file[f"{prefix}logits"], file[f"{prefix}labels"], **found)
