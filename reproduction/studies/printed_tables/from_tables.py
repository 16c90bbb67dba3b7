"""Evidence that comes from the papers' printed tables alone."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.printed_tables.in_form import NAMES

# Its networks, for statements; it prints 'Focal Loss', which the text before it makes FLSD-53.
M20_TABLE_6 = "ResNet-50 and ResNet-110 on CIFAR-10 with focal loss, FLSD-53 by the context"
_WHEN = {"pre": " before temperature scaling", "post": " after temperature scaling"}
_HIGHER_IS_BETTER = ("AUROC table",)
_SINGLE_RUNS = {"L25": " (single runs as printed, without uncertainty)"}  # L25 section 5: 'random seeds set to 1'


def rows_where(
    quantity: str, holds: pd.Series, expected: int | None = None, *, name_others: bool = True
) -> Measurement:
    """In how many rows, or cells, something holds: `expected`, else more than half.

    Args:
        quantity: what holds: 'rows where ...'; how many there are is added.
        holds: of booleans, indexed by row.
        name_others: in a remark.
    """
    others = "; ".join(", ".join(map(str, row)) for row in holds[~holds].index) if name_others else ""
    remark = f"Not in: {others}" if others else ""
    return Measurement.counted(quantity, int(holds.sum()), len(holds), expected, remark)


def _named(paper: str, table: str) -> str:
    """'M20 Table 1', 'L25, table of errors (single runs as printed, without uncertainty)'."""
    name = f"{paper}, {NAMES[table]}" if table in NAMES else f"{paper} {table}"
    return name + _SINGLE_RUNS.get(paper, "")


def _when(table: str, stage: str) -> str:
    return "" if table == "error" else _WHEN[stage]  # which one temperature leaves as it is


def _best(table: str) -> str:
    return "highest" if table in _HIGHER_IS_BETTER else "lowest"


def rows_won(
    paper: str,
    table: str,
    stage: str,
    loss: str,
    expected: int,
    losses: Sequence[str] | None = None,
    dataset: str | None = None,
) -> Measurement:
    """In how many rows of a table `loss` has the best value, ties included; a remark names the others.

    Best is smallest, of AUROC largest. Of `dataset`'s rows alone, where one is named.
    """
    ranks = _of_dataset(_ranks(paper, table, stage, losses)[loss], dataset)
    quantity = f"rows of {_named(paper, table)}{_on(dataset)} won by {loss}{_when(table, stage)}"
    return rows_where(quantity, ranks == 1, expected)


def most_rows_won(
    paper: str, table: str, stage: str, loss: str, losses: Sequence[str] | None = None, dataset: str | None = None
) -> Measurement:
    """Whether `loss` has the best value, ties included, in most rows of a table, or of one data set of it."""
    return _most(paper, table, stage, loss, 1, losses, dataset)


def most_rows_among_lowest(paper: str, table: str, stage: str, loss: str, among: int) -> Measurement:
    """Whether the value of `loss` is among the `among` smallest ones in more than half of the rows of a table."""
    return _most(paper, table, stage, loss, among, None)


def _most(
    paper: str,
    table: str,
    stage: str,
    loss: str,
    among: int,
    losses: Sequence[str] | None,
    dataset: str | None = None,
) -> Measurement:
    ranks = _of_dataset(_ranks(paper, table, stage, losses)[loss], dataset)
    which = _best(table) if among == 1 else f"among the {among} {_best(table)}"
    quantity = f"rows of {_named(paper, table)}{_on(dataset)} where {loss} is {which}{_when(table, stage)}"
    return rows_where(quantity, ranks <= among, name_others=False)


def _of_dataset(values: pd.Series, dataset: str | None) -> pd.Series:
    """The rows of a data set, of all without one."""
    return values if dataset is None else values[values.index.get_level_values("dataset") == dataset]


def _on(dataset: str | None) -> str:
    return "" if dataset is None else f" on {dataset}"


def lower_mean(paper: str, table: str, stage: str, loss: str, other: str) -> Measurement:
    """Whether the mean over the rows of a table is lower for `loss` than for `other`."""
    means = _wide(paper, table, stage, [loss, other]).mean()
    quantity = f"mean over {_named(paper, table)}{_when(table, stage)}, {loss} minus {other}"
    return Measurement.of_sign(quantity, float(means[loss] - means[other]), -1)


def rows_lower(paper: str, table: str, metric: str, loss: str, other: str, expected: int) -> Measurement:
    """In how many rows, as trained, a metric is lower for `loss` than for `other`; a remark names the others."""
    wide = _wide(paper, table, "pre", [loss, other], metric)
    quantity = f"rows of {_named(paper, table)} where the {metric} of {loss} is below that of {other}"
    return rows_where(quantity, wide[loss] < wide[other], expected)


def rows_higher(
    paper: str, table: str, stage: str, loss: str, other: str, expected: int, dataset: str | None = None
) -> Measurement:
    """In how many rows a table's values of `loss` are above those of `other`; a remark names the others."""
    wide = _wide(paper, table, stage, [loss, other])
    holds = _of_dataset(wide[loss] > wide[other], dataset)
    quantity = f"rows of {_named(paper, table)}{_on(dataset)} where {loss} is above {other}{_when(table, stage)}"
    return rows_where(quantity, holds, expected)


def rows_changed_no_more(
    paper: str, table: str, loss: str, other: str, expected: int | None = None, dataset: str | None = None
) -> Measurement:
    """In how many rows temperature scaling changes `loss` by no more than `other`; without `expected`, whether in most.

    A remark names the rows where it changes more, with the values before and after.
    """
    before, after = (_wide(paper, table, stage, [loss, other]) for stage in ("pre", "post"))
    change = _change(paper, table, [loss, other]).abs()
    more = _of_dataset(change[loss] > change[other], dataset)
    values = [f"{', '.join(row)} ({before.loc[row, loss]:g} to {after.loc[row, loss]:g})" for row in more[more].index]
    rows = f"rows of {_named(paper, table)}{_on(dataset)}"
    where = f"{rows} that temperature scaling changes for {loss} by no more than for {other}"
    remark = f"More in: {'; '.join(values)}" if values else ""
    return Measurement.counted(where, int((~more).sum()), len(more), expected, remark)


def _change(paper: str, table: str, losses: Sequence[str]) -> pd.DataFrame:
    """After temperature scaling minus before, of numbers with two digits."""
    before, after = (_wide(paper, table, stage, losses) for stage in ("pre", "post"))
    return (after - before).round(6)


def most_rows_lowered(paper: str, table: str, loss: str) -> Measurement:
    """Whether temperature scaling lowers the value of `loss` in more than half of the rows of a table."""
    change = _change(paper, table, [loss])[loss]
    quantity = f"rows of {_named(paper, table)} that temperature scaling lowers for {loss}"
    return rows_where(quantity, change < 0, name_others=False)


def size_of_change(paper: str, table: str, loss: str, average: str, expected: float) -> Measurement:
    """The 'mean' or 'median' over the rows by how much temperature scaling changes `loss`, up or down, in points."""
    size = float(_change(paper, table, [loss])[loss].abs().agg(average))
    quantity = f"{average} change by temperature scaling over {_named(paper, table)}, {loss}"
    return Measurement(quantity, f"{expected:g}", size, expected, 0.005, said="claimed")


def rows_near_temperature(
    paper: str, table: str, loss: str, low: float, high: float, expected: int | None = None
) -> Measurement:
    """In how many rows the temperature printed for `loss` is from `low` to `high`: `expected`, else in most."""
    quantity = f"rows of {_named(paper, table)} with T from {low:g} to {high:g} for {loss}"
    return rows_where(quantity, _temperatures(paper, table, loss).between(low, high), expected, name_others=False)


def most_rows_above_temperature(paper: str, table: str, loss: str, temperature: float) -> Measurement:
    """Whether the temperature printed for `loss` is above this one in more than half of the rows of a table."""
    found = _temperatures(paper, table, loss)
    quantity = f"rows of {_named(paper, table)} with T above {temperature:g} for {loss}"
    return rows_where(quantity, found > temperature)


def rows_at_temperature(paper: str, table: str, loss: str, temperature: float, expected: int) -> Measurement:
    """In how many rows of a table the temperature printed for `loss` is this one."""
    quantity = f"rows of {_named(paper, table)} with T = {temperature:g} for {loss}"
    return rows_where(quantity, _temperatures(paper, table, loss) == temperature, expected, name_others=False)


def _temperatures(paper: str, table: str, loss: str) -> pd.Series:
    cells = printed_tables().query("paper == @paper and table == @table and stage == 'post' and loss == @loss")
    return cells.set_index(["dataset", "network"])["temperature"]


def rank_in_row(
    paper: str,
    table: str,
    stage: str,
    row: tuple[str, str],
    loss: str,
    expected: int,
    losses: Sequence[str] | None = None,
) -> Measurement:
    """The rank of `loss`, 1 for the best, in the row of a data set and network."""
    ranks = _ranks(paper, table, stage, losses)
    rank = int(ranks[loss].loc[[row]].iloc[0])
    quantity = f"rank of {loss} in {_named(paper, table)}, {', '.join(row)}{_when(table, stage)}, of {ranks.shape[1]}"
    return Measurement(quantity, str(expected), rank, expected, said="claimed")


def losses_at_lowest(paper: str, table: str, stage: str, row: tuple[str, str]) -> tuple[str, ...]:
    """Those with the best value in the row of a data set and network; several, where it is printed for several."""
    ranks = _ranks(paper, table, stage, None).loc[[row]].iloc[0]
    return tuple(ranks.index[ranks == 1])


def rows_won_in_words(paper: str, table: str, loss: str) -> str:
    """'in 7 of 10 printed rows as trained, in 9 after temperature scaling'."""
    (before, rows), (after, _) = (_won(paper, table, stage, loss) for stage in ("pre", "post"))
    return f"in {before} of {rows} printed rows as trained, in {after} after temperature scaling"


def _won(paper: str, table: str, stage: str, loss: str, losses: Sequence[str] | None = None) -> tuple[int, int]:
    """Rows in which the loss has the best value, and rows."""
    ranks = _ranks(paper, table, stage, losses)[loss]
    return int((ranks == 1).sum()), len(ranks)


def _wide(paper: str, table: str, stage: str, losses: Sequence[str] | None, metric: str | None = None) -> pd.DataFrame:
    """A stage of a printed table: a row a data set and network, a column a loss; of a metric, where it has several."""
    cells = printed_tables().query("paper == @paper and table == @table and stage == @stage")
    if metric is not None:
        cells = cells[cells["metric"] == metric]
    wide = cells.pivot(index=["dataset", "network"], columns="loss", values="value")
    return wide if losses is None else wide[list(losses)]


def _ranks(paper: str, table: str, stage: str, losses: Sequence[str] | None) -> pd.DataFrame:
    """1 for the best value of a row, smallest or largest; equal ones share the better rank."""
    ascending = table not in _HIGHER_IS_BETTER
    return _wide(paper, table, stage, losses).rank(axis="columns", method="min", ascending=ascending)
