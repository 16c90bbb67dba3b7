"""Evidence that is measured on training runs: the default grid, or a reason why not."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pandas as pd

from focal_lib import report
from focal_lib.claims.evidence import Evidence, Unchecked
from focal_lib.experiment import Result, load_grid

__all__ = ["comparison", "gaps", "on_runs", "results", "temperatures"]


@functools.cache
def results() -> tuple[Result, ...]:
    return tuple(load_grid())


@functools.cache
def gaps() -> pd.DataFrame:
    """Confidence gaps of the default grid."""
    return report.confidence_gaps(results())


@functools.cache
def temperatures() -> pd.DataFrame:
    """Validation temperatures of the default grid."""
    return report.validation_temperatures(results())


@functools.cache
def comparison() -> pd.DataFrame:
    """Temperature against focal temperature scaling on the default grid."""
    return report.compare_scaling(results())


def on_runs(check: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """Without the runs the claim is unchecked, and says what makes them."""

    @functools.wraps(check)
    def checked() -> Evidence:
        try:
            results()
        except FileNotFoundError as missing:
            return Unchecked(f"needs the training runs of the default grid, which `make book` makes: {missing}")
        return check()

    return checked
