"""Train networks: specifications, runs and their store."""

from focal_lib.training.recipes import RECIPES, Recipe
from focal_lib.training.run import run, run_many, trained
from focal_lib.training.spec import LOSSES, Spec, default_grid, read_grid
from focal_lib.training.store import (
    FILES,
    Logits,
    Result,
    Status,
    default_runs,
    describe,
    forget_older,
    load,
    load_runs,
    record_runs,
    status,
)

__all__ = [
    "FILES",
    "LOSSES",
    "RECIPES",
    "Logits",
    "Recipe",
    "Result",
    "Spec",
    "Status",
    "default_grid",
    "default_runs",
    "describe",
    "forget_older",
    "load",
    "load_runs",
    "read_grid",
    "record_runs",
    "run",
    "run_many",
    "status",
    "trained",
]
