"""Evidence that comes from the papers' printed tables alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from reproduction.ledger.evidence import All
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.printed_tables.study import NAMES

# Its networks, for statements; it prints 'Focal Loss', which the text before it makes FLSD-53.
M20_TABLE_6 = "ResNet-50 and ResNet-110 on CIFAR-10 with focal loss, FLSD-53 by the context"
BASELINES = ("cross-entropy", "brier", "mmce")
FIXED = ("focal 1", "focal 2", "focal 3")
SCHEDULED = ("focal 5-3-1", "focal 5-3-2")
SAMPLE_DEPENDENT = ("flsd-532", "flsd-53")
SCALED = {"pre": "before temperature scaling", "post": "after temperature scaling"}  # by stage
_SINGLE_RUNS = {"L25": " (single runs as printed, without uncertainty)"}  # L25 section 5: 'random seeds set to 1'


@dataclass(frozen=True)
class AsPrinted(All):
    """Evidence from numbers that M20 prints, and from nothing else; the text says what they are."""

    def describe(self) -> str:
        said = "M20's own numbers, as printed: of single runs, as far as it says, without uncertainty."
        return f"{super().describe()}\n\n{said}"


def m20_cells(metric: str, stage: str, losses: Iterable[str] | None = None, column: str = "value") -> pd.DataFrame:
    """A metric as M20 prints it: a row a data set and network, a column a loss, of whichever table has it.

    Args:
        metric: 'ece' (equal width), 'adaptive-ece' (equal mass), 'error', 'nll', 'mce'.
        stage: 'pre' or 'post' temperature scaling.
        column: 'value' or 'temperature', that in brackets.

    Raises:
        ValueError: two tables print a cell differently.
    """
    cells = printed_tables().query("paper == 'M20' and metric == @metric and stage == @stage")
    cells = cells.drop_duplicates(["dataset", "network", "loss", column])
    wide = cells.pivot(index=["dataset", "network"], columns="loss", values=column)
    return wide if losses is None else wide[list(losses)]


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


def _named(paper: str, table: str, dataset: str | None = None) -> str:
    """'M20 Table 1', 'L25, table of errors (single runs as printed, without uncertainty) on FinSen'."""
    name = f"{paper}, {NAMES[table]}" if table in NAMES else f"{paper} {table}"
    return name + _SINGLE_RUNS.get(paper, "") + ("" if dataset is None else f" on {dataset}")


def _when(table: str, stage: str) -> str:
    return "" if table == "error" else f" {SCALED[stage]}"  # errors one temperature leaves as they are


def rows_won(
    paper: str,
    table: str,
    stage: str,
    loss: str,
    expected: int | None = None,
    losses: Sequence[str] | None = None,
    dataset: str | None = None,
    *,
    among: int = 1,
    alone: bool = False,
) -> Measurement:
    """In how many rows of a table, or of one data set, `loss` has the best value: `expected`, else in most.

    Best is smallest, of AUROC largest. Where a number is expected a remark names the other rows.

    Args:
        losses: compared; None: all.
        among: how many of the best count.
        alone: without ties, which are included otherwise.
    """
    ranks = _of_dataset(_ranks(paper, table, stage, losses, "max" if alone else "min")[loss], dataset)
    best = "highest" if table == "AUROC table" else "lowest"
    which = f"where {loss} is {best if among == 1 else f'among the {among} {best}'}"
    quantity = f"rows of {_named(paper, table, dataset)} {which if expected is None else f'won by {loss}'}"
    quantity += " alone" * alone
    return rows_where(quantity + _when(table, stage), ranks <= among, expected, name_others=expected is not None)


def _of_dataset(values: pd.Series, dataset: str | None) -> pd.Series:
    """The rows of a data set, of all without one."""
    return values if dataset is None else values[values.index.get_level_values("dataset") == dataset]


def lower_mean(paper: str, table: str, stage: str, loss: str, other: str, dataset: str | None = None) -> Measurement:
    """Whether the mean over the rows of a table, or of one data set, is lower for `loss` than for `other`."""
    wide = _wide(paper, table, stage, [loss, other])
    means = pd.DataFrame({name: _of_dataset(wide[name], dataset) for name in wide}).mean()
    quantity = f"mean over {_named(paper, table, dataset)}{_when(table, stage)}, {loss} minus {other}"
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
    quantity = f"rows of {_named(paper, table, dataset)} where {loss} is above {other}{_when(table, stage)}"
    return rows_where(quantity, _of_dataset(wide[loss] > wide[other], dataset), expected)


def rows_changed_no_more(
    paper: str, table: str, loss: str, other: str, expected: int | None = None, dataset: str | None = None
) -> Measurement:
    """In how many rows temperature scaling changes `loss` by no more than `other`; without `expected`, whether in most.

    A remark names the rows where it changes more, with the values before and after.
    """
    before, after = (_wide(paper, table, stage, [loss, other]) for stage in ("pre", "post"))
    change = changes(paper, table, [loss, other]).abs()
    more = _of_dataset(change[loss] > change[other], dataset)
    values = [f"{', '.join(row)} ({before.loc[row, loss]:g} to {after.loc[row, loss]:g})" for row in more[more].index]
    rows = f"rows of {_named(paper, table, dataset)}"
    where = f"{rows} that temperature scaling changes for {loss} by no more than for {other}"
    remark = f"More in: {'; '.join(values)}" if values else ""
    return Measurement.counted(where, int((~more).sum()), len(more), expected, remark)


def changes(paper: str, table: str, losses: Sequence[str]) -> pd.DataFrame:
    """After temperature scaling minus before, of numbers with two digits."""
    before, after = (_wide(paper, table, stage, losses) for stage in ("pre", "post"))
    return (after - before).round(6)


def most_rows_lowered(paper: str, table: str, loss: str) -> Measurement:
    """Whether temperature scaling lowers the value of `loss` in more than half of the rows of a table."""
    quantity = f"rows of {_named(paper, table)} that temperature scaling lowers for {loss}"
    return rows_where(quantity, changes(paper, table, [loss])[loss] < 0, name_others=False)


def size_of_change(paper: str, table: str, loss: str, average: str, expected: float) -> Measurement:
    """The 'mean' or 'median' over the rows by how much temperature scaling changes `loss`, up or down, in points."""
    size = float(changes(paper, table, [loss])[loss].abs().agg(average))
    quantity = f"{average} change by temperature scaling over {_named(paper, table)}, {loss}"
    return Measurement(quantity, f"{expected:g}", size, expected, 0.005, said="claimed")


def rows_near_temperature(
    paper: str, table: str, loss: str, low: float, high: float, expected: int | None = None
) -> Measurement:
    """In how many rows the temperature printed for `loss` is from `low` to `high`: `expected`, else in most."""
    within = f"T = {low:g}" if low == high else f"T from {low:g} to {high:g}"
    quantity = f"rows of {_named(paper, table)} with {within} for {loss}"
    return rows_where(quantity, _temperatures(paper, table, loss).between(low, high), expected, name_others=False)


def most_rows_above_temperature(paper: str, table: str, loss: str, temperature: float) -> Measurement:
    """Whether the temperature printed for `loss` is above this one in more than half of the rows of a table."""
    quantity = f"rows of {_named(paper, table)} with T above {temperature:g} for {loss}"
    return rows_where(quantity, _temperatures(paper, table, loss) > temperature)


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
    ranks = _ranks(paper, table, stage).loc[[row]].iloc[0]
    return tuple(ranks.index[ranks == 1])


def rows_won_in_words(paper: str, table: str, loss: str) -> str:
    """'in 7 of 10 printed rows as trained, in 9 after temperature scaling'."""
    before, after = (_ranks(paper, table, stage)[loss] == 1 for stage in ("pre", "post"))
    return f"in {before.sum()} of {len(before)} printed rows as trained, in {after.sum()} after temperature scaling"


def _wide(paper: str, table: str, stage: str, losses: Sequence[str] | None, metric: str | None = None) -> pd.DataFrame:
    """A stage of a printed table: a row a data set and network, a column a loss; of a metric, where it has several."""
    cells = printed_tables().query("paper == @paper and table == @table and stage == @stage")
    if metric is not None:
        cells = cells[cells["metric"] == metric]
    wide = cells.pivot(index=["dataset", "network"], columns="loss", values="value")
    return wide if losses is None else wide[list(losses)]


def _ranks(
    paper: str, table: str, stage: str, losses: Sequence[str] | None = None, shared: Literal["min", "max"] = "min"
) -> pd.DataFrame:
    """1 for the best value of a row, smallest or largest; equal ones share the better rank, of 'max' the worse."""
    ascending = table != "AUROC table"
    return _wide(paper, table, stage, losses).rank(axis="columns", method=shared, ascending=ascending)
