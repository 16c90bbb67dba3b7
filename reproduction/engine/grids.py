"""Grids of specifications: YAML files."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast, parse_contrasts
from reproduction.engine.plugins import beside
from reproduction.engine.spec import Spec, chosen_fields
from reproduction.parameters import read_yaml

_MOST_RUNS, _MOST_LETTERS, _SHOWN = 100_000, 2**20 + 1, 10  # one letter more than may be
_NOTES = ("reproduces", "differs", "missing")


@dataclass(frozen=True)
class GridNotes:
    """What a grid stands for: the table or figure it reproduces; what it does otherwise than the paper, and lacks."""

    reproduces: str = ""
    differs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Lines, each with its end."""
        lines = [f"Reproduces: {self.reproduces}."] if self.reproduces else []
        for what, texts in (("Differs from the paper in:", self.differs), ("Missing:", self.missing)):
            lines += [what, *(f"  {text}" for text in texts)] if texts else []
        return "".join(f"{line}\n" for line in lines)


def read_grid(path: str | Path) -> list[Spec]:
    """The specifications of a YAML grid: every combination of the values listed, each once.

    A mapping in a list sets several fields at once, itself a grid:
    `loss: [{loss: focal, gamma: [1, 2]}, {loss: flsd-53}]`. No run has a field twice. The keys `contrasts`,
    `reproduces`, `differs` and `missing` are no fields: see `read_contrasts` and `read_notes`.

    Raises:
        ValueError: no mapping, a key that is no field of Spec, a field that is set twice for a run, a list without
            values, a value that a Spec refuses, more than 100,000 runs, or contrasts or notes that are none; the file
            is named.
    """
    return _read(path)[0]


def read_contrasts(path: str | Path) -> tuple[Contrast, ...]:
    """The contrasts written down in a grid file; none where it has no key `contrasts`. Raises as `read_grid`."""
    return _read(path)[1]


def read_notes(path: str | Path) -> GridNotes:
    """What a grid file reproduces, in what it differs from the paper, what of the paper is missing. As `read_grid`."""
    return _read(path)[2]


def _read(path: str | Path) -> tuple[list[Spec], tuple[Contrast, ...], GridNotes]:
    path = ROOT / path
    try:
        with path.open(encoding="utf-8") as file:
            content = read_yaml(file.read(_MOST_LETTERS))
        if not isinstance(content, dict):
            raise ValueError(f"must hold fields of a run, as in 'gamma: [0, 3]'. Got {reprlib.repr(content)}.")
        notes = _parse_notes({name: content.pop(name) for name in _NOTES if name in content})
        runs = {name: value for name, value in content.items() if name != "contrasts"}
        with beside(path.parent):
            specs = list(dict.fromkeys(Spec(**values) for values in _combinations(runs)))
        if "contrasts" not in content:
            return specs, (), notes
        losses: dict[tuple[str, str], dict[str, None]] = {}
        for spec in specs:
            losses.setdefault((spec.dataset, spec.model), {})[spec.label] = None
        return specs, parse_contrasts(content["contrasts"], losses), notes
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _parse_notes(given: Mapping[str, Any]) -> GridNotes:
    lists = {name: value for name, value in given.items() if name != "reproduces"}
    reproduces = given.get("reproduces", "")
    if not isinstance(reproduces, str):
        raise ValueError(f"reproduces must be a text, as in 'KK24 Table 1'. Got {reprlib.repr(reproduces)}.")
    for name, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(line, str) and line for line in value):
            raise ValueError(f"{name} must be a list of texts. Got {reprlib.repr(value)}.")
    return GridNotes(reproduces, **{name: tuple(value) for name, value in lists.items()})


def read_grid_from(path: str | Path, digest: str) -> list[Spec]:
    """The specifications of a grid, the one with that digest first.

    Raises:
        ValueError: none has it.
    """
    specs = sorted(read_grid(path), key=lambda spec: spec.digest != digest)  # the others stay in their order
    if specs[0].digest != digest:
        raise ValueError(f"digest must be that of a run in {Path(path).name}. Got {digest!r}.")
    return specs


def make_spec(values: Mapping[str, Any]) -> Spec:
    """The specification with these fields. Raises ValueError as Spec, and for a name that is none of its fields."""
    _check_names(values)
    return Spec(**values)


def _check_names(values: Mapping[str, Any]) -> None:
    known = [f.name for f in chosen_fields()]
    if unknown := sorted(map(str, set(values) - set(known))):
        raise ValueError(f"parameters must be among {', '.join(known)}. Got {', '.join(unknown[:_SHOWN])}.")


def _combinations(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    _check_names(content)
    found: list[dict[str, Any]] = [{}]
    for name, value in content.items():
        if isinstance(value, list) and not value:
            raise ValueError(f"{name} must have a value. Got [], which gives no runs.")
        options: list[dict[str, Any]] = []
        for item in value if isinstance(value, list) else [value]:
            options += _combinations(item) if isinstance(item, dict) else [{name: item}]
        if twice := sorted({key for values in found for option in options for key in values.keys() & option.keys()}):
            raise ValueError(f"a field must be set once. Got {', '.join(twice)} twice, the second time in {name}.")
        if (count := len(found) * len(options)) > _MOST_RUNS:
            raise ValueError(f"a grid must have at most {_MOST_RUNS:,} runs. Got {count:,} and more by {name}.")
        found = [values | option for values in found for option in options]
    return found
