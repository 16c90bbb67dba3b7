"""Calibrators and searches on recorded networks: results/open-questions/table.parquet, searches.parquet.

    nice python -m workflow.open_questions               # about a quarter of an hour of one core, no training
    nice python -m workflow.open_questions searches      # a few minutes, of every record that keeps logits

The calibrators are compared on the ResNets of chapter 13. Of a record that is not whole, the runs that are there are
searched; the page says which. `notebooks/open_questions.py` reads both.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from focal_lib.checkout import ROOT, commit
from focal_lib.results.calibrators_compared import compare_calibrators
from focal_lib.results.over_seeds import write_table
from focal_lib.results.recorded import SEARCHED, load_recorded
from focal_lib.results.valley import search_valley
from focal_lib.training.store import Result

OUT = ROOT / "results" / "open-questions"
COMPARED = ("cifar10-resnet8", "cifar100-resnet8")


def search(records: Iterable[str] = SEARCHED) -> pd.DataFrame:
    """`search_valley` of every run that is there, with columns `record` and `run`, the digest of its specification."""
    parts = []
    for record, run in _runs("searches", records, part=True):
        parts.append(search_valley([run]).assign(record=record, run=run.spec.digest))
    return pd.concat(parts, ignore_index=True)


def compare(records: Iterable[str] = COMPARED) -> pd.DataFrame:
    """`compare_calibrators` of every run."""
    return pd.concat([compare_calibrators([run]) for _, run in _runs("table", records)], ignore_index=True)


def _runs(table: str, records: Iterable[str], *, part: bool = False) -> Iterator[tuple[str, Result]]:
    for record in records:
        for run in load_recorded(record, part=part):
            print(table, record, run.spec.model, run.spec.label, run.spec.seed, file=sys.stderr, flush=True)
            yield record, run


TABLES = {"searches": search, "table": compare}


def main(given: Sequence[str] | None = None) -> None:
    """The tables asked for, each written when whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{' or '.join(TABLES)}; default: both")
    asked = parser.parse_args(given).tables or list(TABLES)
    if others := [name for name in asked if name not in TABLES]:
        parser.error(f"tables must be among {', '.join(TABLES)}. Got {', '.join(others)}.")
    code = commit()  # before a table changes the checkout
    OUT.mkdir(parents=True, exist_ok=True)
    for name in asked:
        write_table(TABLES[name]().assign(commit=code), OUT / f"{name}.parquet")


if __name__ == "__main__":
    main()
