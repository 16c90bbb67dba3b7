"""Evidence that comes from the papers' printed tables alone."""

from __future__ import annotations

from collections.abc import Sequence

from focal_lib.claims.evidence import Counterexample, Measurement
from focal_lib.results.printed import printed_tables, study
from focal_lib.theory.certificates.balls import exact

__all__ = ["rows_won", "rows_won_in_words", "worse_than"]


def worse_than(paper: str, table: str, dataset: str, network: str, stage: str, loss: str, other: str) -> Counterexample:
    """One row of a table in which `loss` has a larger value than `other`.

    Raises:
        ValueError: no such cells.
    """
    frame = printed_tables()
    row = frame.query("paper == @paper and table == @table and dataset == @dataset and network == @network")
    values = row[row["stage"] == stage].set_index("loss")["value"]
    if missing := {loss, other} - set(values.index):
        raise ValueError(
            f"{paper} {table} must have {dataset}, {network}, {stage}. Got no {', '.join(sorted(missing))}."
        )
    mine, its = f"{values[loss]:.2f}", f"{values[other]:.2f}"
    when = {"pre": "before", "post": "after"}[stage]
    text = f"{paper} {table}, {dataset}, {network}, {when} temperature scaling: {loss} {mine}, {other} {its}"
    return Counterexample(text, exact(mine) - exact(its), "as printed")


def rows_won(
    paper: str, table: str, stage: str, loss: str, expected: int, losses: Sequence[str] | None = None
) -> Measurement:
    """In how many rows of a table `loss` has the smallest value, ties included."""
    best, rows = _won(paper, table, stage, loss, losses)
    when = {"pre": "before", "post": "after"}[stage]
    quantity = f"rows of {paper} {table} won by {loss} {when} temperature scaling, of {rows}"
    return Measurement(quantity, str(expected), best, expected, said="claimed")


def rows_won_in_words(paper: str, table: str, loss: str) -> str:
    """'in 7 of 10 printed rows as trained, in 9 after temperature scaling'."""
    (before, rows), (after, _) = (_won(paper, table, stage, loss) for stage in ("pre", "post"))
    return f"in {before} of {rows} printed rows as trained, in {after} after temperature scaling"


def _won(paper: str, table: str, stage: str, loss: str, losses: Sequence[str] | None = None) -> tuple[int, int]:
    """Rows in which the loss has the smallest value, and rows."""
    counts = study.count_best(printed_tables(), paper, table, list(losses) if losses else None)
    row = counts[(counts["stage"] == stage) & (counts["loss"] == loss)].iloc[0]
    return int(row["best"]), int(row["rows"])
