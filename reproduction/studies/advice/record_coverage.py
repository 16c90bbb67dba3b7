"""Coverage of the intervals of binned errors, and size of the tests, recorded: results/advice/coverage.parquet.

python -m reproduction.studies.advice.record_coverage --minutes 10      # of processor time; goes on where it stopped
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
import itertools
import time
from pathlib import Path
from typing import Any

import pandas as pd

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.studies.advice.coverage import (
    TEMPERATURES,
    TopLabelModel,
    cover_classwise,
    cover_top_label,
)
from reproduction.studies.shared.going_on import made_by, rows_so_far

OUT = ROOT / "results" / "advice" / "coverage.parquet"
SAMPLES, CLASSES = (200, 500, 1_000, 5_000, 20_000, 50_000), (2, 10, 100, 1_000)
_MOST = 2_000_000  # numbers in one sample of the classwise ECE: samples times classes
_POPULATION = {2: 200_000, 10: 200_000, 100: 100_000, 1_000: 20_000}


@functools.cache
def _population(classes: int, temperature: float) -> TopLabelModel:
    return TopLabelModel.of_clouds(classes, temperature, size=_POPULATION[classes])


def _count(part: str, n: int, classes: int, temperature: float, number: int) -> list[dict[str, Any]]:
    """A round's samples of one setting, fewer where they are large."""
    if part == "top label":
        return cover_top_label(_population(classes, temperature), n, 10 if n <= 5_000 else 4, seed=number)
    return cover_classwise(classes, temperature, n, max(1, min(10, 500_000 // (n * classes))), seed=number)


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    code = made_by(__file__)
    rows = rows_so_far(out, code["code"])
    keys = ("round", "samples", "classes", "model", "part")
    done, end = {tuple(row[key] for key in keys) for row in rows}, time.process_time() + 60 * minutes
    out.parent.mkdir(parents=True, exist_ok=True)
    for setting in itertools.product(range(rounds), SAMPLES, CLASSES, TEMPERATURES, ("top label", "classwise")):
        number, n, classes, model, part = setting
        if time.process_time() > end:
            return
        if setting not in done and (part == "top label" or n * classes <= _MOST):
            found = _count(part, n, classes, TEMPERATURES[model], number)
            rows += [dict(zip(keys, setting, strict=True)) | code | row for row in found]
            write_whole(out, functools.partial(pd.DataFrame(rows).to_parquet, index=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of processor time")
    parser.add_argument("--rounds", type=int, default=20, help="each of 1 to 10 samples of every setting")
    given = parser.parse_args()
    main(given.minutes, given.rounds)
