"""Train networks: specifications, runs and their store."""

from focal_lib.training.grids import default_grid, read_grid
from focal_lib.training.locks import RunTaken
from focal_lib.training.recipes import RECIPES, Recipe
from focal_lib.training.run import TimeUp, run, trained
from focal_lib.training.spec import LOSSES, Spec
from focal_lib.training.store import (
    Logits,
    OtherSpecification,
    Result,
    RunDamaged,
    RunMissing,
    Status,
    default_runs,
    describe,
    load,
    load_runs,
    record_runs,
    status,
)
from focal_lib.training.version import VERSION

__all__ = [
    "LOSSES",
    "RECIPES",
    "VERSION",
    "Logits",
    "OtherSpecification",
    "Recipe",
    "Result",
    "RunDamaged",
    "RunMissing",
    "RunTaken",
    "Spec",
    "Status",
    "TimeUp",
    "default_grid",
    "default_runs",
    "describe",
    "load",
    "load_runs",
    "read_grid",
    "record_runs",
    "run",
    "status",
    "trained",
]
