"""Evidence that is measured on training runs: the default grid and the recorded ones, or a reason why not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import pandas as pd

from focal_lib.checkout import ROOT
from focal_lib.claims.evidence import Evidence, Measurement, Unchecked
from focal_lib.metrics.intervals import Interval, paired_t_interval
from focal_lib.results import by_run
from focal_lib.training.store import Result, load_runs

__all__ = [
    "comparison",
    "gaps",
    "on_recorded",
    "on_runs",
    "recorded",
    "recorded_table",
    "results",
    "seeds_apart",
    "temperatures",
]


@functools.cache
def results() -> tuple[Result, ...]:
    return tuple(load_runs())


@functools.cache
def gaps() -> pd.DataFrame:
    """Confidence gaps of the default grid."""
    return by_run.confidence_gaps(results())


@functools.cache
def temperatures() -> pd.DataFrame:
    """Validation temperatures of the default grid."""
    return by_run.validation_temperatures(results())


@functools.cache
def comparison() -> pd.DataFrame:
    """Temperature against focal temperature scaling on the default grid."""
    return by_run.compare_scaling(results())


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


@functools.cache
def recorded(name: str) -> tuple[Result, ...]:
    """The runs kept in results/<name>, of the grid workflow/grids/<name>.yaml."""
    return tuple(load_runs(ROOT / "workflow" / "grids" / f"{name}.yaml", ROOT / "results" / name))


@functools.cache
def recorded_table(name: str) -> pd.DataFrame:
    """Test metrics of the recorded runs, see table.measure: results/<name>/table.parquet, kept beside them."""
    return pd.read_parquet(ROOT / "results" / name / "table.parquet")


def on_recorded(name: str) -> Callable[[Callable[[], Evidence]], Callable[[], Evidence]]:
    """Without the recorded runs, which an installed package lacks, the claim is unchecked."""

    def decorate(check: Callable[[], Evidence]) -> Callable[[], Evidence]:
        @functools.wraps(check)
        def checked() -> Evidence:
            try:
                recorded(name)
            except FileNotFoundError as missing:
                return Unchecked(f"needs the runs recorded in results/{name} of the project: {missing}")
            return check()

        return checked

    return decorate


def seeds_apart(
    name: str, metric: str, ours: tuple[str, str], theirs: tuple[str, str], printed: str, sign: int
) -> Measurement:
    """A metric of recorded runs, (loss, stage) minus (loss, stage), paired over seeds, against the sign claimed."""
    frame = recorded_table(name)
    frame = frame[frame["metric"] == metric]

    def values(which: tuple[str, str]) -> Sequence[float]:
        part = frame[(frame["loss"] == which[0]) & (frame["stage"] == which[1])]
        return part.sort_values("seed")["value"].to_numpy()  # type: ignore[return-value]

    gap: Interval = paired_t_interval(values(ours), values(theirs))
    spec = recorded(name)[0].spec
    where = f"({spec.dataset}, {spec.model}, {spec.n_train:,} images, {frame['seed'].nunique()} seeds)"
    what = " minus ".join(f"{loss}, {stage}" for loss, stage in (ours, theirs))
    return Measurement.signed(f"{metric} of {what} {where}", printed, gap, sign)
