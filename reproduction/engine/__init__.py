"""Train networks: specifications, runs and their store."""

from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.cost import Compute, total_compute
from reproduction.engine.differences import differences_from_papers
from reproduction.engine.grids import GridNotes, default_grid, read_contrasts, read_grid, read_notes
from reproduction.engine.locks import RunTaken, TimeUp
from reproduction.engine.papers import FCL_OF_L25
from reproduction.engine.recipes import RECIPES, Recipe
from reproduction.engine.recording import record_runs
from reproduction.engine.run import run, trained
from reproduction.engine.spec import LOSSES, Spec
from reproduction.engine.status import Status, status
from reproduction.engine.store import (
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
from reproduction.engine.version import VERSION

__all__ = [
    "FCL_OF_L25",
    "LOSSES",
    "RECIPES",
    "VERSION",
    "Compute",
    "Contrast",
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
    "Spec",
    "Status",
    "TimeUp",
    "default_grid",
    "default_runs",
    "describe",
    "differences_from_papers",
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
