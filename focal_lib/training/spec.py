"""What a run is: its frozen specification, and grids of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from focal_lib.training.recipes import RECIPES, Recipe

if TYPE_CHECKING:
    pass
from focal_lib.checkout import ROOT

__all__ = ["LOSSES", "Spec", "default_grid", "read_grid"]


# loss -> the parameters it uses, of gamma and lam (the weight of the added term, or the smoothing)
LOSSES: dict[str, tuple[str, ...]] = {
    "focal": ("gamma",),
    "proper-focal": ("gamma",),
    "brier": (),
    "label-smoothing": ("lam",),
    "mmce": ("lam",),
    "focal-scheduled-532": (),
    "focal-scheduled-531": (),
    "flsd-53": (),
    "flsd-532": (),
    "adafocal": (),
    "dual-focal": ("gamma",),
    "hessian-trace": ("lam",),
    "fcl": ("gamma", "lam"),
    "fcl-l1": ("gamma", "lam"),
}


@dataclass(frozen=True)
class Spec:
    """All that decides the numbers of a run. A field of the recipe can be overridden; 0 leaves it as it is."""

    dataset: str = "fashion-mnist"
    model: str = "small-cnn"
    loss: str = "focal"  # gamma = 0 is cross-entropy
    gamma: float = 0.0
    lam: float = 0.0  # weight of the added term: FCL, MMCE; the smoothing of label smoothing
    seed: int = 0  # of the split, the weights and the order of the batches
    recipe: str = "book-fast"
    n_train: int = 2000
    n_validation: int = 5000
    epochs: int = 0
    batch_size: int = 0
    learning_rate: float = 0.0
    evaluate_every: int = 5  # epochs

    def __post_init__(self) -> None:
        if self.loss == "cross-entropy":  # one run, one name
            object.__setattr__(self, "loss", "focal")
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of cross-entropy, {', '.join(LOSSES)}. Got {self.loss!r}.")
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}. Got {self.recipe!r}.")
        for name in ("n_train", "n_validation", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1. Got {getattr(self, name)}.")
        for name in ("gamma", "lam", "epochs", "batch_size", "learning_rate"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be >= 0. Got {getattr(self, name)}.")
        for name in ("gamma", "lam"):
            if getattr(self, name) and name not in LOSSES[self.loss]:
                raise ValueError(f"{self.loss} has no {name}: leave it out. Got {getattr(self, name)}.")
        for name in ("gamma", "lam", "learning_rate"):  # 3 and 3.0 are one run
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def training(self) -> Recipe:
        """The recipe with this run's own epochs, batch size and learning rate."""
        recipe = RECIPES[self.recipe]
        own = {n: getattr(self, n) for n in ("epochs", "batch_size", "learning_rate") if getattr(self, n)}
        if "epochs" in own:  # the drops keep their place in the run
            own["drops"] = tuple(round(drop * self.epochs / recipe.epochs) for drop in recipe.drops)
        return replace(recipe, **own)

    @property
    def as_dict(self) -> dict[str, Any]:
        """The specification with its recipe spelled out, as JSON holds it. The recipe's source decides no number."""
        recipe = {name: value for name, value in asdict(self.training).items() if name != "source"}
        recipe["drops"] = list(recipe["drops"])
        return asdict(self) | {"training": recipe}

    @property
    def digest(self) -> str:
        """Hash of the record: the name of its folder."""
        return hashlib.sha256(json.dumps(self.as_dict, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """For tables and legends: 'cross-entropy', 'focal 3', 'fcl 2 0.5'."""
        if self.loss == "focal":
            return "cross-entropy" if self.gamma == 0 else f"focal {self.gamma:g}"
        return " ".join([self.loss, *(f"{getattr(self, name):g}" for name in LOSSES[self.loss])])


def default_grid() -> Path:
    """The grid that the book reports."""
    return ROOT / "workflow" / "grids" / "fashion-mnist.yaml"


def read_grid(path: str | Path) -> list[Spec]:
    """The specifications of a YAML grid: every combination of the values listed.

    A mapping in a list sets several fields at once, itself a grid:
    `loss: [{loss: focal, gamma: [1, 2]}, {loss: flsd-53}]`.

    Raises:
        ValueError: a key that is no field of Spec; the message lists the fields.
    """
    return [Spec(**row) for row in _combinations(yaml.safe_load((ROOT / path).read_text()))]


def _combinations(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = [f.name for f in fields(Spec)]
    if unknown := sorted(set(content) - set(known)):
        raise ValueError(f"keys of a grid must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    rows: list[dict[str, Any]] = [{}]
    for name, value in content.items():
        options: list[dict[str, Any]] = []
        for item in value if isinstance(value, list) else [value]:
            options += _combinations(item) if isinstance(item, dict) else [{name: item}]
        rows = [row | option for row in rows for option in options]
    return rows
