"""Train networks: specifications, runs and their store."""

from focal_lib.training.contrasts import Contrast, Setting
from focal_lib.training.grids import default_grid, read_contrasts, read_grid
from focal_lib.training.locks import RunTaken
from focal_lib.training.recipes import RECIPES, Recipe
from focal_lib.training.recording import record_runs
from focal_lib.training.run import TimeUp, run, trained
from focal_lib.training.spec import LOSSES, Spec
from focal_lib.training.status import Status, status
from focal_lib.training.store import (
    Logits,
    OtherSpecification,
    Result,
    RunDamaged,
    RunMissing,
    SeveralVersions,
    default_runs,
    describe,
    load,
    load_runs,
)
from focal_lib.training.version import VERSION

__all__ = [
    "LOSSES",
    "RECIPES",
    "VERSION",
    "Contrast",
    "Logits",
    "OtherSpecification",
    "Recipe",
    "Result",
    "RunDamaged",
    "RunMissing",
    "RunTaken",
    "Setting",
    "SeveralVersions",
    "Spec",
    "Status",
    "TimeUp",
    "default_grid",
    "default_runs",
    "describe",
    "load",
    "load_runs",
    "read_contrasts",
    "read_grid",
    "record_runs",
    "run",
    "status",
    "trained",
]
