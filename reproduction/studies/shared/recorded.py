"""The runs and tables kept in results/, each folder's of the grid of the same name.

What is not there, as in an installed package, raises FileNotFoundError.
"""

from __future__ import annotations

import functools

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast
from reproduction.engine.grids import read_contrasts, read_grid
from reproduction.engine.spec import Spec
from reproduction.engine.store import Result, RunMissing, load_runs
from reproduction.studies.shared.over_seeds import RUN, keep_whole_seeds, run_key

BOOK = "fashion-mnist"  # the book's grid
# those with logits whose valley `studies.calibrators.record` searches; not the ones asked for something else
SEARCHED = ("cifar10-record", "cifar100-record", "cifar10-resnet18", "cifar10-hessian", "fashion-mnist-architectures")


@functools.cache
def read_planned(name: str) -> tuple[Spec, ...]:
    """The runs that results/<name> has or will have: those of the grid workflow/grids/<name>.yaml."""
    return tuple(read_grid(ROOT / "workflow" / "grids" / f"{name}.yaml"))


@functools.cache
def read_written(name: str) -> tuple[Contrast, ...]:
    """The contrasts in the grid file of results/<name>, written down before its runs; none in an older one."""
    return tuple(read_contrasts(ROOT / "workflow" / "grids" / f"{name}.yaml"))


@functools.cache
def load_recorded(name: str, *, part: bool = False) -> tuple[Result, ...]:
    """The runs in results/<name>, of the grid workflow/grids/<name>.yaml.

    Args:
        part: those that are there, at least one, of a grid that takes days, or whose runs are not all kept.
    """
    return tuple(load_runs(ROOT / "workflow" / "grids" / f"{name}.yaml", ROOT / "results" / name, part=part))


@functools.cache
def load_whole_seeds(name: str) -> tuple[Result, ...]:
    """The runs of `read_whole_seeds` that are kept, in the order of their grid. Raises as it does.

    All of them but of cifar10-resnet8, which keeps the logits of some of its losses and the table of all.
    """
    kept = set(read_whole_seeds(name)[RUN].itertuples(index=False, name=None))
    return tuple(run for run in load_recorded(name, part=True) if run_key(run.spec) in kept)


@functools.cache
def read_table(name: str) -> pd.DataFrame:
    """Test metrics of these runs, see `measure`: results/<name>/table.parquet, kept beside them."""
    return _read(name, "table.parquet")


def _read(folder: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(ROOT / "results" / folder / name)


@functools.cache
def read_whole_seeds(name: str) -> pd.DataFrame:
    """`read_table` of a grid's runs, without seeds that some of the losses do not have yet: see `keep_whole_seeds`.

    What to read of a record that is not finished; of a finished one it is `read_table`.

    Raises:
        RunMissing: no seed is whole.
    """
    table = keep_whole_seeds(read_table(name), read_planned(name))
    if table.empty:
        raise RunMissing(f"results/{name} must have a seed of all losses that are planned with it. It has none yet.")
    return table


@functools.cache
def read_scalings() -> pd.DataFrame:
    """What `compare_scaling` gave of the runs of the book's grid: results/fashion-mnist/scalings.parquet."""
    return _read(BOOK, "scalings.parquet")


@functools.cache
def read_searches() -> pd.DataFrame:
    """What `search_valley` gives of the recorded runs that keep logits: results/open-questions/searches.parquet.

    With columns `record`, the folder in results/, and `run`, the digest of the run's specification.
    """
    return _read("open-questions", "searches.parquet")


@functools.cache
def read_small_comparison() -> pd.DataFrame:
    """What `compare_calibrators` gave of the small ResNets of cifar10-resnet8: results/open-questions/small.parquet."""
    return _read("open-questions", "small.parquet")


@functools.cache
def read_unknown(grid: str, unknown: str) -> pd.DataFrame:
    """What the runs of a grid said of another data set, see `measure_detection`: results/unknown-inputs/<grid>.parquet.

    Raises:
        ValueError: these runs were not shown that data set.
    """
    table = _read("unknown-inputs", f"{grid}.parquet")
    shown = sorted(set(table["unknown"]))
    if unknown not in shown:
        raise ValueError(f"unknown must be one of {', '.join(shown)}. Got {unknown!r}.")
    return table[table["unknown"] == unknown].reset_index(drop=True)


@functools.cache
def read_shift(grid: str) -> pd.DataFrame:
    """What the runs of a grid said of corrupted images, see `measure_shift`; column `images`: of how many."""
    return _read("unknown-inputs", f"{grid}-shift.parquet")
