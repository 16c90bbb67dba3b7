"""How runs were trained, own ones and imported ones, and in what they differ from those of a record."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from reproduction.engine.imported import IMPORTED, Imported, load_imported
from reproduction.engine.recipes import RECIPES
from reproduction.engine.spec import Spec
from reproduction.engine.store import LOGITS, SPEC, Logits, RunDamaged, load

NOT_TOLD = "not told"
SETTINGS = ("data set", "training samples", "validation samples", "recipe", "epochs")
IF_TOLD = ("precision", "threads", "training code", "data")  # not on record of every run: compared where both sides are


@dataclass(frozen=True)
class Trained:
    """A finished run: what names it in tables, its settings, '' where not told, its logits."""

    model: str
    loss: str
    seed: int
    settings: Mapping[str, str]
    validation: Logits
    test: Logits

    @property
    def dataset(self) -> str:
        return self.settings["data set"]


def load_folder(root: Path) -> list[Trained]:
    """The finished runs in a folder, imported ones, too; by loss and seed.

    Raises:
        FileNotFoundError: there is none.
        RunDamaged: one that is not whole.
    """
    found = [_load(path.parent) for path in root.glob(f"*/{SPEC}") if (path.parent / LOGITS).exists()]
    runs = sorted(filter(None, found), key=lambda run: (run.model, run.loss, run.seed))
    if not runs:
        raise FileNotFoundError(f"{root} must hold finished runs, of `focal run`, `focal grid` or `focal import`.")
    return runs


def _load(folder: Path) -> Trained | None:
    """None for one that was moved aside."""
    try:
        record = json.loads((folder / SPEC).read_text())
        is_imported, given = IMPORTED in record, dict(record.get("spec") or {})
        spec = None if is_imported else Spec(**{f.name: given[f.name] for f in fields(Spec) if f.name in given})
    except (ValueError, TypeError) as error:
        raise RunDamaged(f"{folder / SPEC} must be the record of a run. Got {error}.") from None
    if spec is None:
        told, validation, test = load_imported(folder, record)
        settings = settings_of_imported(told, len(validation.labels))
        return Trained(told.model, told.label, told.seed, settings, validation, test)
    if spec.digest != folder.name:
        return None
    result = load(spec, folder.parent.absolute())
    return Trained(spec.model, spec.label, spec.seed, settings_of(spec, record), result.validation, result.test)


def settings_of_imported(told: Imported, n_validation: int) -> dict[str, str]:
    """What its owner told."""
    training = {"training samples": f"{told.n_train:,}" if told.n_train else "", "epochs": f"{told.epochs or ''}"}
    training |= {"validation samples": f"{n_validation:,}", "recipe": told.recipe or ""}
    return {"data set": told.dataset, "precision": told.precision or "", "threads": f"{told.threads or ''}"} | training


def settings_of(spec: Spec, record: Mapping[str, Any]) -> dict[str, str]:
    """Those of a specification, and of the record of its run; {} where it is not kept."""
    own = [f"{name} {getattr(spec, name):g}" for name in ("batch_size", "learning_rate") if getattr(spec, name)]
    machines = record.get("machines") or []
    on_gpu = machines and not any(" cores, " in name for name in machines)  # where threads decide nothing
    return {
        "data set": spec.dataset,
        "training samples": f"{spec.n_train:,}",
        "validation samples": f"{spec.n_validation:,}",
        "recipe": ", ".join([spec.recipe, *own]),
        "epochs": str(spec.training.epochs),
        "precision": record.get("precision", ""),
        "threads": "a GPU's" if on_gpu else str(record.get("threads", "")),
        "training code": f"version {record['training_version']}" if "training_version" in record else "",
        "data": (record.get("data") or {}).get("sha256", "")[:12],
    }


def _as_one(recipe: str) -> str:
    """With the first name of those of recipes that do the same, which papers share."""
    name, *own = recipe.split(", ")
    if name in RECIPES:
        alike = replace(RECIPES[name], source="")
        name = next(first for first, other in RECIPES.items() if replace(other, source="") == alike)
    return ", ".join([name, *own])


def find_differences(
    own: Collection[tuple[str, Mapping[str, str]]], record: Collection[Mapping[str, str]]
) -> tuple[list[str], list[str]]:
    """'training samples 2,000 (focal 3) here, 45,000 there', by setting; and what else one side does not tell.

    Args:
        own: loss and settings of each run here.
        record: settings of the runs there.
    """
    differences, untold = [], []
    for name in (*SETTINGS, *IF_TOLD):
        there = {settings[name] for settings in record if settings.get(name)}
        here: dict[str, dict[str, None]] = {}
        for loss, settings in own:
            here.setdefault(settings.get(name, ""), {})[loss] = None
        if name in IF_TOLD and not (there and all(here)):
            untold += [name] if name in ("precision", "threads") else []
            here = {value: losses for value, losses in here.items() if value and there}
        same = _as_one if name == "recipe" else str
        others = {value: losses for value, losses in here.items() if {same(value)} != {*map(same, there)}}
        of = {value: f" ({', '.join(losses)})" if len(here) > 1 else "" for value, losses in others.items()}
        said = [f"{value or NOT_TOLD}{losses}" for value, losses in of.items()]
        if said:
            differences.append(f"{name} {', '.join(said)} here, {' and '.join(sorted(there))} there")
    return differences, untold
