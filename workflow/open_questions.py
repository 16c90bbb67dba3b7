"""Calibrators and searches on the ResNets of chapter 13: results/open-questions/table.parquet, searches.parquet.

    nice python -m workflow.open_questions      # about ten minutes of one core, no training

`notebooks/open_questions.py` reads both.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys

import pandas as pd

from focal_lib.checkout import ROOT, commit
from focal_lib.results.calibrators_compared import compare_calibrators
from focal_lib.results.over_seeds import write_table
from focal_lib.results.recorded import load_recorded
from focal_lib.results.valley import search_valley

OUT = ROOT / "results" / "open-questions"
RECORDS = ("cifar10-resnet8", "cifar100-resnet8")


def main() -> None:
    """Both tables, written when whole."""
    code = commit()
    OUT.mkdir(parents=True, exist_ok=True)
    for name, measure in (("searches", search_valley), ("table", compare_calibrators)):
        parts = []
        for result in (run for record in RECORDS for run in load_recorded(record)):
            parts.append(measure([result]).assign(commit=code))
            print(name, result.spec.dataset, result.spec.label, result.spec.seed, file=sys.stderr, flush=True)
        write_table(pd.concat(parts, ignore_index=True), OUT / f"{name}.parquet")


if __name__ == "__main__":
    main()
