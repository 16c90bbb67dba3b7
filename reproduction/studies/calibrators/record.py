"""Calibrators and searches on recorded networks: results/open-questions/table.parquet, searches.parquet.

    python -m reproduction.studies.calibrators.record          # about a quarter of an hour of one core, no training
    python -m reproduction.studies.calibrators.record searches # as long, of every record that keeps logits
    python -m reproduction.studies.calibrators.record searches --add  # only of the runs that the table lacks

The calibrators are compared on the networks of Table 1. Of a record that is not whole, the runs that are there are
searched; the page says which. `notebooks/open_questions.py` reads both.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from reproduction.checkout import ROOT, commit
from reproduction.engine.store import Result
from reproduction.studies.calibrators.calibrators_compared import LOSSES, compare_calibrators
from reproduction.studies.calibrators.valley import search_valley
from reproduction.studies.shared.over_seeds import write_table
from reproduction.studies.shared.recorded import SEARCHED, load_recorded

WRITTEN = "results/open-questions"
OUT = ROOT / WRITTEN
COMPARED = ("cifar10-record", "cifar100-record")


def search(records: Iterable[str] = SEARCHED, found: pd.DataFrame | None = None) -> pd.DataFrame:
    """`search_valley` of every run that is there; with columns `record`, `run`, the digest of its spec, and `commit`.

    Args:
        found: an earlier table; of the runs that it has the rows are taken as they are.
    """
    code = commit(written=WRITTEN)
    parts = {} if found is None else dict(iter(found.groupby(["record", "run"])))
    order = []
    for record, run in _runs("searches", records, part=True):
        order.append((record, run.spec.digest))
        if order[-1] not in parts:
            parts[order[-1]] = search_valley([run]).assign(record=record, run=run.spec.digest, commit=code)
    return pd.concat([parts[key] for key in order], ignore_index=True)


def compare(records: Iterable[str] = COMPARED) -> pd.DataFrame:
    """`compare_calibrators` of every run with one of `LOSSES`, with a column `commit`."""
    code = commit(written=WRITTEN)
    parts = [compare_calibrators([run]) for _, run in _runs("table", records) if run.spec.label in LOSSES]
    return pd.concat(parts, ignore_index=True).assign(commit=code)


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
    parser.add_argument("--add", action="store_true", help="search only the runs that the table of searches lacks")
    options = parser.parse_args(given)
    asked = options.tables or list(TABLES)
    if others := [name for name in asked if name not in TABLES]:
        parser.error(f"tables must be among {', '.join(TABLES)}. Got {', '.join(others)}.")
    if options.add and asked != ["searches"]:
        parser.error(f"--add must stand with searches alone. Got {', '.join(asked)}.")
    OUT.mkdir(parents=True, exist_ok=True)
    for name in asked:
        path = OUT / f"{name}.parquet"
        write_table(search(found=pd.read_parquet(path)) if options.add else TABLES[name](), path)


if __name__ == "__main__":
    main()
