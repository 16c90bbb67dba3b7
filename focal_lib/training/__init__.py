"""Train networks: specifications, runs and their store."""

from focal_lib.training.contrasts import Contrast, Setting
from focal_lib.training.cost import Compute, total_compute
from focal_lib.training.differences import differences_from_papers
from focal_lib.training.follow import Followed, Snapshot, follow
from focal_lib.training.grids import GridNotes, default_grid, read_contrasts, read_grid, read_notes
from focal_lib.training.locks import RunTaken, TimeUp
from focal_lib.training.papers import FCL_OF_L25
from focal_lib.training.recipes import RECIPES, Recipe
from focal_lib.training.recording import record_runs
from focal_lib.training.run import run, trained
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
    "FCL_OF_L25",
    "LOSSES",
    "RECIPES",
    "VERSION",
    "Compute",
    "Contrast",
    "Followed",
    "GridNotes",
    "Logits",
    "OtherSpecification",
    "Recipe",
    "Result",
    "RunDamaged",
    "RunMissing",
    "RunTaken",
    "Setting",
    "SeveralVersions",
    "Snapshot",
    "Spec",
    "Status",
    "TimeUp",
    "default_grid",
    "default_runs",
    "describe",
    "differences_from_papers",
    "follow",
    "load",
    "load_runs",
    "read_contrasts",
    "read_grid",
    "read_notes",
    "record_runs",
    "run",
    "status",
    "total_compute",
    "trained",
]
