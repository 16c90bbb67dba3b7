"""Evidence from M20's printed tables across their numbers: a metric is printed in two or three of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from reproduction.ledger.evidence import All
from reproduction.studies.printed_tables import printed_tables

BASELINES = ("cross-entropy", "brier", "mmce")
FIXED = ("focal 1", "focal 2", "focal 3")
SCHEDULED = ("focal 5-3-1", "focal 5-3-2")
SAMPLE_DEPENDENT = ("flsd-532", "flsd-53")
SINGLE_RUNS = "M20's own numbers, as printed: of single runs, as far as it says, without uncertainty."


@dataclass(frozen=True)
class AsPrinted(All):
    """Evidence from numbers that M20 prints, and from nothing else; the text says what they are."""

    def describe(self) -> str:
        return f"{super().describe()}\n\n{SINGLE_RUNS}"


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
