"""The runs kept in results/, each folder's of the grid of the same name."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast
from reproduction.engine.grids import read_contrasts, read_grid
from reproduction.engine.spec import Spec
from reproduction.engine.store import Result, RunMissing, load_runs
from reproduction.studies.shared.over_seeds import keep_whole_seeds

# those with logits whose valley `studies.calibrators.record` searches; not the ones asked for something else
SEARCHED = (
    "cifar10-record",
    "cifar100-record",
    "cifar10-resnet18",
    "cifar10-hessian",
    "fashion-mnist-architectures",
)


@functools.cache
def read_planned(name: str) -> tuple[Spec, ...]:
    """The runs that results/<name> has or will have: those of the grid workflow/grids/<name>.yaml.

    Raises:
        FileNotFoundError: there is no such grid, as in an installed package.
    """
    return tuple(read_grid(ROOT / "workflow" / "grids" / f"{name}.yaml"))


@functools.cache
def read_written(name: str) -> tuple[Contrast, ...]:
    """The contrasts in the grid file of results/<name>, written down before its runs; none in an older one.

    Raises:
        FileNotFoundError: there is no such grid, as in an installed package.
    """
    return tuple(read_contrasts(ROOT / "workflow" / "grids" / f"{name}.yaml"))


@functools.cache
def load_recorded(name: str, *, part: bool = False) -> tuple[Result, ...]:
    """The runs in results/<name>, of the grid workflow/grids/<name>.yaml.

    Args:
        part: those that are there, at least one, of a grid that takes days, or whose runs are not all kept.

    Raises:
        FileNotFoundError: there are no such runs, as in an installed package, or not all.
    """
    return tuple(load_runs(ROOT / "workflow" / "grids" / f"{name}.yaml", ROOT / "results" / name, part=part))


@functools.cache
def load_whole_seeds(name: str) -> tuple[Result, ...]:
    """The runs of `read_whole_seeds` that are kept, in the order of their grid. Raises as it does.

    All of them but of cifar10-resnet8, which keeps the logits of some of its losses and the table of all.
    """
    runs = read_whole_seeds(name)[["dataset", "model", "loss", "seed"]]
    kept = set(runs.itertuples(index=False, name=None))
    specs = ((run, run.spec) for run in load_recorded(name, part=True))
    return tuple(run for run, s in specs if (s.dataset, s.model, s.label, s.seed) in kept)


@functools.cache
def read_table(name: str) -> pd.DataFrame:
    """Test metrics of these runs, see `measure`: results/<name>/table.parquet, kept beside them.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / name / "table.parquet")


@functools.cache
def read_whole_seeds(name: str) -> pd.DataFrame:
    """`read_table` of a grid's runs, without seeds that some of the losses do not have yet: see `keep_whole_seeds`.

    What to read of a record that is not finished; of a finished one it is `read_table`.

    Raises:
        FileNotFoundError: there is no such table or grid, as in an installed package; RunMissing: no seed is whole.
    """
    table = keep_whole_seeds(read_table(name), read_planned(name))
    if table.empty:
        raise RunMissing(f"results/{name} must have a seed of all losses that are planned with it. It has none yet.")
    return table


@functools.cache
def read_searches() -> pd.DataFrame:
    """What `search_valley` gives of the recorded runs that keep logits: results/open-questions/searches.parquet.

    With columns `record`, the folder in results/, and `run`, the digest of the run's specification.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / "open-questions" / "searches.parquet")


@functools.cache
def read_small_comparison() -> pd.DataFrame:
    """What `compare_calibrators` gave of the small ResNets of cifar10-resnet8: results/open-questions/small.parquet.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / "open-questions" / "small.parquet")


@functools.cache
def read_unknown(grid: str, unknown: str) -> pd.DataFrame:
    """What the runs of a grid said of another data set, see `measure_detection`: results/unknown-inputs/<grid>.parquet.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
        ValueError: these runs were not shown that data set.
    """
    table = pd.read_parquet(ROOT / "results" / "unknown-inputs" / f"{grid}.parquet")
    shown = sorted(set(table["unknown"]))
    if unknown not in shown:
        raise ValueError(f"unknown must be one of {', '.join(shown)}. Got {unknown!r}.")
    return table[table["unknown"] == unknown].reset_index(drop=True)


@functools.cache
def read_shift(grid: str) -> pd.DataFrame:
    """What the runs of a grid said of corrupted images: results/unknown-inputs/<grid>-shift.parquet.

    See `measure_shift`; column `images`: of how many.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / "unknown-inputs" / f"{grid}-shift.parquet")
