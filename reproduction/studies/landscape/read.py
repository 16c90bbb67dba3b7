"""The recorded curvature of chapter 20's networks."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction.studies.landscape.landscape import add_logs
from reproduction.studies.shared.recorded import read_table


@functools.cache
def read_landscape() -> pd.DataFrame:
    """Curvature of the runs of workflow/grids/landscape.yaml, see `measure_landscape`, logarithms added.

    Raises:
        FileNotFoundError: there is no such table, as in an installed package.
    """
    return add_logs(read_table("landscape"))
