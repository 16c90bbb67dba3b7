"""How often the advice finds what there is to gain, recorded: into results/advice/power.parquet.

    python -m reproduction.studies.advice.record_power --minutes 25      # of processor time; goes on where it stopped

Rounds go over all settings. Each decision has the number of its round as its seed. Rows of another code are refused.
`notebooks/advice.py` reads what this leaves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
import itertools
from pathlib import Path
from typing import Any

from focal_lib.tool.evaluation.recommendation import RELEVANT
from reproduction.checkout import ROOT
from reproduction.studies.advice.power import GAINING, population_with_gain
from reproduction.studies.advice.rates import judge_advice
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / "advice" / "power.parquet"
CLASSES = 10
SAMPLES = (500, 2_000, 10_000)
GAINS = tuple(times * RELEVANT for times in (0, 0.5, 1, 2, 4, 8))


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    settings = itertools.product(range(rounds), GAINING, GAINS, SAMPLES)
    todo = ((setting, functools.partial(_decide, *setting)) for setting in settings)
    go_on(out, __file__, ("seed", "gaining", "gain", "samples"), todo, minutes)


def _decide(number: int, gaining: str, gain: float, n: int) -> list[dict[str, Any]]:
    population = population_with_gain(gaining, gain, CLASSES, seed=number)
    return [judge_advice(population, n, number)]


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=25, rounds=40))
