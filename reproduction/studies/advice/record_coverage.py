"""Coverage of the intervals of binned errors, and size of the tests, recorded: results/advice/coverage.parquet.

python -m reproduction.studies.advice.record_coverage --minutes 10      # of processor time; goes on where it stopped
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
import itertools
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT
from reproduction.studies.advice.coverage import (
    TEMPERATURES,
    TopLabelModel,
    cover_classwise,
    cover_top_label,
)
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / "advice" / "coverage.parquet"
SAMPLES, CLASSES = (200, 500, 1_000, 5_000, 20_000, 50_000), (2, 10, 100, 1_000)
_MOST = 2_000_000  # numbers in one sample of the classwise ECE: samples times classes
_POPULATION = {2: 200_000, 10: 200_000, 100: 100_000, 1_000: 20_000}


@functools.cache
def _population(classes: int, temperature: float) -> TopLabelModel:
    return TopLabelModel.of_clouds(classes, temperature, size=_POPULATION[classes])


def _count(number: int, n: int, classes: int, temperature: float, part: str) -> list[dict[str, Any]]:
    """A round's samples of one setting, fewer where they are large."""
    if part == "top label":
        return cover_top_label(_population(classes, temperature), n, 10 if n <= 5_000 else 4, seed=number)
    return cover_classwise(classes, temperature, n, max(1, min(10, 500_000 // (n * classes))), seed=number)


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds, each of 1 to 10 samples a setting, are used up."""
    settings = itertools.product(range(rounds), SAMPLES, CLASSES, TEMPERATURES, ("top label", "classwise"))
    todo = (
        ((number, n, classes, model, part), functools.partial(_count, number, n, classes, TEMPERATURES[model], part))
        for number, n, classes, model, part in settings
        if part == "top label" or n * classes <= _MOST
    )
    go_on(out, __file__, ("round", "samples", "classes", "model", "part"), todo, minutes)


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=10, rounds=20))
