"""In which regime a paper's claims on networks live, by its tables and set-up, and whether recorded runs are in it.

Focal loss is claimed to mend the overconfidence of cross-entropy. So cross-entropy's networks here must be as
overconfident as the paper's, by the temperature that its criterion gives them and, where printed, by the ECE as
trained, and must not err much more often. Networks on other data, or on a part of it, must have been trained on enough.

A claim is about a paper's networks if its source is a table, a figure or an experiment. What a paper says of networks
in general has no regime. Whether the runs bear a claim out or contradict it is never a reason for or against one.
"""

from __future__ import annotations

import math

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.ledger.judgement import Evidence
from reproduction.ledger.regime import Condition, InRegime
from reproduction.studies.printed_tables import kk24_table1, printed_tables
from reproduction.studies.shared.printed_effects import NAMES
from reproduction.studies.shared.recorded import read_planned, read_whole_seeds

ERRORS = 2.0  # times the highest error printed
SAMPLES = 0.5  # times the fewest training samples of the paper
CE = "cross-entropy"
_TABLES = {"M20": ("Table 1", "Table 3"), "L25": ("Table 4", "error")}  # of ECE and temperature; of errors


def like_m20_or_l25(paper: str, runs: str, found: Evidence) -> InRegime:
    """Evidence on the runs in results/<runs> for a claim on the calibration of networks on CIFAR."""
    calibration, errors = _TABLES[paper]
    cells = printed_tables()
    cells = cells[(cells["paper"] == paper) & (cells["loss"] == CE) & (cells["dataset"] == _dataset(runs))]
    eces, wrong = (cells[cells["table"] == table] for table in (calibration, errors))
    overconfident = eces.loc[eces["stage"] == "pre", "value"].min()
    conditions = (
        _temperature(runs, CE, "ece", eces["temperature"].min(), f"{paper} {calibration}"),
        Condition(f"ECE of {CE} in %", _mean(runs, CE, "ece"), (overconfident, math.inf), f"{paper} {calibration}"),
        _error(runs, CE, wrong["value"].max(), f"what {paper} prints"),
    )
    return InRegime(conditions, found)


def like_kk24(runs: str, found: Evidence) -> InRegime:
    """The same of KK24: by the row of Table 1 of cross-entropy, where it is not legible by another one."""
    rows = kk24_table1()
    rows = rows[(rows["dataset"] == _dataset(runs)) & (rows["stage"] == "ts")].set_index("loss")
    loss = CE if CE in rows.index else str(rows.index[0])
    conditions = (
        _temperature(runs, loss, "adaptive-ece", float(rows["adaptive_ece_temperature"][loss]), "KK24 Table 1"),
        _error(runs, loss, float(rows["error"][loss]), "KK24 Table 1"),
    )
    return InRegime(conditions, found)


def trained_as(grid: str, n_train: int, found: Evidence) -> InRegime:
    """Evidence on networks trained on so many samples for a claim on those of workflow/grids/<grid>.yaml, a paper's."""
    fewest = min(spec.n_train for spec in read_grid(ROOT / "workflow" / "grids" / f"{grid}.yaml"))
    condition = Condition(
        "training samples",
        n_train,
        (SAMPLES * fewest, math.inf),
        f"half of the {fewest:,} of our grid at the paper's size",
    )
    return InRegime((condition,), found)


def recorded_as(grid: str, runs: str, found: Evidence) -> InRegime:
    """`trained_as` of the runs in results/<runs>."""
    return trained_as(grid, max(spec.n_train for spec in read_planned(runs)), found)


def _dataset(runs: str) -> str:
    return NAMES[read_planned(runs)[0].dataset]


def _mean(runs: str, loss: str, metric: str, column: str = "value", method: str = "none", objective: str = "") -> float:
    """Over the seeds of a loss."""
    table = read_whole_seeds(runs)
    asked = {"loss": loss, "metric": metric, "method": method, "objective": objective}
    return float(table.loc[(table[list(asked)] == list(asked.values())).all(axis="columns"), column].mean())


def _temperature(runs: str, loss: str, by: str, printed: float, source: str) -> Condition:
    found = _mean(runs, loss, by, "temperature", "temperature", by)
    return Condition(f"temperature of {loss}", found, (float(printed), math.inf), source)


def _error(runs: str, loss: str, printed: float, source: str) -> Condition:
    most = ERRORS * float(printed)
    return Condition(
        f"error of {loss} in %", _mean(runs, loss, "error"), (-math.inf, most), f"{ERRORS:g} times {source}"
    )
