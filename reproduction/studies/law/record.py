"""Networks trained with cross-entropy and five gammas in each cell of the plan, recorded: results/law/table.parquet.

nice python -m reproduction.studies.law.record --minutes 60      # of processor time; goes on where it stopped
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
from pathlib import Path

from reproduction.checkout import ROOT
from reproduction.studies.law.judged import RECORD
from reproduction.studies.law.measures import measure_cell
from reproduction.studies.law.plan import todo
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / RECORD / "table.parquet"


def main(minutes: float, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the cells are used up."""
    work = (((*cell.key, seed), functools.partial(measure_cell, cell, seed)) for cell, seed in todo())
    go_on(out, __file__, ("dataset", "model", "n_train", "epochs", "seed"), work, minutes)


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=90))
