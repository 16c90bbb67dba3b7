"""Evidence that comes from the papers' printed tables alone."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from focal_lib.claims.evidence import Measurement
from focal_lib.results.printed import printed_tables, study

__all__ = ["lower_mean", "most_rows_among_lowest", "most_rows_won", "rows_won", "rows_won_in_words"]

_WHEN = {"pre": "before", "post": "after"}


def rows_won(
    paper: str, table: str, stage: str, loss: str, expected: int, losses: Sequence[str] | None = None
) -> Measurement:
    """In how many rows of a table `loss` has the smallest value, ties included; a remark names the others."""
    best, rows = _won(paper, table, stage, loss, losses)
    ranks = _ranks(paper, table, stage, losses)[loss]
    others = "; ".join(", ".join(row) for row in ranks[ranks > 1].index)
    quantity = f"rows of {paper} {table} won by {loss} {_WHEN[stage]} temperature scaling, of {rows}"
    return Measurement(
        quantity, str(expected), best, expected, said="claimed", remark=f"Not in: {others}" if others else ""
    )


def most_rows_won(paper: str, table: str, stage: str, loss: str, losses: Sequence[str] | None = None) -> Measurement:
    """Whether `loss` has the smallest value, ties included, in more than half of the rows of a table."""
    return _most(paper, table, stage, loss, 1, losses)


def most_rows_among_lowest(paper: str, table: str, stage: str, loss: str, among: int) -> Measurement:
    """Whether the value of `loss` is among the `among` smallest ones in more than half of the rows of a table."""
    return _most(paper, table, stage, loss, among, None)


def _most(paper: str, table: str, stage: str, loss: str, among: int, losses: Sequence[str] | None) -> Measurement:
    ranks = _ranks(paper, table, stage, losses)[loss]
    count, rows = int((ranks <= among).sum()), len(ranks)
    which = "lowest" if among == 1 else f"among the {among} lowest"
    quantity = f"rows of {paper} {table} where {loss} is {which} {_WHEN[stage]} temperature scaling, of {rows}"
    return Measurement(quantity, "most", count, holds=2 * count > rows, said="claimed")


def lower_mean(paper: str, table: str, stage: str, loss: str, other: str) -> Measurement:
    """Whether the mean over the rows of a table is lower for `loss` than for `other`."""
    means = _wide(paper, table, stage, [loss, other]).mean()
    quantity = f"mean over {paper} {table} {_WHEN[stage]} temperature scaling, {loss} minus {other}"
    difference = float(means[loss] - means[other])
    return Measurement(quantity, "negative", difference, holds=difference < 0, said="claimed")


def rows_won_in_words(paper: str, table: str, loss: str) -> str:
    """'in 7 of 10 printed rows as trained, in 9 after temperature scaling'."""
    (before, rows), (after, _) = (_won(paper, table, stage, loss) for stage in ("pre", "post"))
    return f"in {before} of {rows} printed rows as trained, in {after} after temperature scaling"


def _won(paper: str, table: str, stage: str, loss: str, losses: Sequence[str] | None = None) -> tuple[int, int]:
    """Rows in which the loss has the smallest value, and rows."""
    counts = study.count_best(printed_tables(), paper, table, list(losses) if losses else None)
    row = counts[(counts["stage"] == stage) & (counts["loss"] == loss)].iloc[0]
    return int(row["best"]), int(row["rows"])


def _wide(paper: str, table: str, stage: str, losses: Sequence[str] | None) -> pd.DataFrame:
    """A stage of a printed table: a row a data set and network, a column a loss."""
    cells = printed_tables().query("paper == @paper and table == @table and stage == @stage")
    wide = cells.pivot(index=["dataset", "network"], columns="loss", values="value")
    return wide if losses is None else wide[list(losses)]


def _ranks(paper: str, table: str, stage: str, losses: Sequence[str] | None) -> pd.DataFrame:
    """1 for the smallest value of a row; equal ones share the better rank."""
    return _wide(paper, table, stage, losses).rank(axis="columns", method="min")
