"""Grids of specifications: YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from focal_lib.checkout import ROOT
from focal_lib.parameters import read_yaml
from focal_lib.training.contrasts import Contrast, parse_contrasts
from focal_lib.training.spec import Spec

__all__ = ["default_grid", "make_spec", "read_contrasts", "read_grid", "read_grid_from"]


def default_grid() -> Path:
    """The grid that the book reports."""
    return ROOT / "workflow" / "grids" / "fashion-mnist.yaml"


def read_grid(path: str | Path) -> list[Spec]:
    """The specifications of a YAML grid: every combination of the values listed, each once.

    A mapping in a list sets several fields at once, itself a grid:
    `loss: [{loss: focal, gamma: [1, 2]}, {loss: flsd-53}]`. The key `contrasts` is no field: see `read_contrasts`.

    Raises:
        ValueError: no mapping, a key that is no field of Spec, a value that a Spec refuses, or contrasts that are none;
            the file is named.
    """
    return _read(path)[0]


def read_contrasts(path: str | Path) -> tuple[Contrast, ...]:
    """The contrasts written down in a grid file; none where it has no key `contrasts`. Raises as `read_grid`."""
    return _read(path)[1]


def _read(path: str | Path) -> tuple[list[Spec], tuple[Contrast, ...]]:
    path = ROOT / path
    try:
        content = read_yaml(path.read_text())
        if not isinstance(content, dict):
            raise ValueError(f"must hold fields of a run, as in 'gamma: [0, 3]'. Got {content!r}.")
        runs = {name: value for name, value in content.items() if name != "contrasts"}
        specs = list(dict.fromkeys(Spec(**values) for values in _combinations(runs)))
        if "contrasts" not in content:
            return specs, ()
        networks = {(spec.dataset, spec.model) for spec in specs}
        if len(networks) > 1:  # else a primary contrast would be several
            raise ValueError(f"must have one data set and network for contrasts. Got {len(networks)} pairs.")
        return specs, parse_contrasts(content["contrasts"], list(dict.fromkeys(spec.label for spec in specs)))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def read_grid_from(path: str | Path, digest: str) -> list[Spec]:
    """The specifications of a grid, the one of that digest first.

    Raises:
        ValueError: none has it.
    """
    specs = read_grid(path)
    if digest not in {spec.digest for spec in specs}:
        raise ValueError(f"digest must be that of a run in {Path(path).name}. Got {digest!r}.")
    return sorted(specs, key=lambda spec: spec.digest != digest)


def make_spec(values: Mapping[str, Any]) -> Spec:
    """The specification with these fields. Raises ValueError as Spec, and for a name that is none of its fields."""
    _check_names(values)
    return Spec(**values)


def _check_names(values: Mapping[str, Any]) -> None:
    known = [f.name for f in fields(Spec)]
    if unknown := sorted(map(str, set(values) - set(known))):
        raise ValueError(f"parameters must be among {', '.join(known)}. Got {', '.join(unknown)}.")


def _combinations(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    _check_names(content)
    found: list[dict[str, Any]] = [{}]
    for name, value in content.items():
        options: list[dict[str, Any]] = []
        for item in value if isinstance(value, list) else [value]:
            options += _combinations(item) if isinstance(item, dict) else [{name: item}]
        found = [values | option for values in found for option in options]
    return found
