"""The runs kept in results/, each folder's of the grid of the same name."""

from __future__ import annotations

import functools

import pandas as pd

from focal_lib.checkout import ROOT
from focal_lib.results.landscape import add_logs
from focal_lib.training.store import Result, load_runs

__all__ = ["SEARCHED", "load_recorded", "read_landscape", "read_searches", "read_shift", "read_table", "read_unknown"]

# those with logits, whose valley is searched by `workflow.open_questions`
SEARCHED = (
    "cifar10-resnet8",
    "cifar100-resnet8",
    "cifar10-record",
    "cifar10-hessian",
    "fashion-mnist-architectures",
)


@functools.cache
def load_recorded(name: str, *, part: bool = False) -> tuple[Result, ...]:
    """The runs in results/<name>, of the grid workflow/grids/<name>.yaml.

    Args:
        part: those that are there, at least one, of a grid that takes days.

    Raises:
        FileNotFoundError: there are no such runs, as in an installed package, or not all.
    """
    return tuple(load_runs(ROOT / "workflow" / "grids" / f"{name}.yaml", ROOT / "results" / name, part=part))


@functools.cache
def read_table(name: str) -> pd.DataFrame:
    """Test metrics of these runs, see `measure`: results/<name>/table.parquet, kept beside them.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / name / "table.parquet")


@functools.cache
def read_searches() -> pd.DataFrame:
    """What `search_valley` gives of the recorded runs that keep logits: results/open-questions/searches.parquet.

    With columns `record`, the folder in results/, and `run`, the digest of the run's specification.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return pd.read_parquet(ROOT / "results" / "open-questions" / "searches.parquet")


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


@functools.cache
def read_landscape() -> pd.DataFrame:
    """Curvature of the runs of workflow/grids/landscape.yaml, see `measure_landscape`, logarithms added.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return add_logs(read_table("landscape"))
