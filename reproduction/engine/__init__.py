"""Train networks: specifications, runs and their store."""

from reproduction.engine.grids import read_contrasts, read_grid, read_notes
from reproduction.engine.papers import FCL_OF_L25, differences_from_papers
from reproduction.engine.recipes import RECIPES
from reproduction.engine.run import run, trained
from reproduction.engine.spec import LOSSES, Spec
from reproduction.engine.store import VERSION, Result, RunDamaged, RunMissing, describe, load, load_runs

__all__ = [
    "FCL_OF_L25",
    "LOSSES",
    "RECIPES",
    "VERSION",
    "Result",
    "RunDamaged",
    "RunMissing",
    "Spec",
    "describe",
    "differences_from_papers",
    "load",
    "load_runs",
    "read_contrasts",
    "read_grid",
    "read_notes",
    "run",
    "trained",
]
