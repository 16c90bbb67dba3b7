"""How often the advice is wrong where samples come in groups, recorded: into results/advice/groups.parquet.

    python -m reproduction.studies.advice.record_groups --minutes 10      # of processor time; goes on where it stopped

Rounds go over all settings, each decided twice on the same samples: told of the groups and not told. Each decision has
the number of its round as its seed. Rows of another code are refused. `notebooks/advice.py` reads what this leaves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from focal_lib.tool.evaluation.recommendation import RELEVANT
from reproduction.checkout import ROOT
from reproduction.studies.advice.groups import (
    group_population,
    judge_advice_in_groups,
    sizes_in_words,
)
from reproduction.studies.advice.power import population_with_gain
from reproduction.studies.advice.rates import Population, made_up_population
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / "advice" / "groups.parquet"
CLASSES = 10
CALIBRATED = ("calibrated", "calibrated, rarely wrong")
GAINS = tuple(times * RELEVANT for times in (4, 20))  # of a temperature
TRUTHS: tuple[str | float, ...] = (*CALIBRATED, *GAINS)
CORRELATIONS = (0.0, 0.05, 0.2, 0.5)
SIZES = ([10] * 150, [50] * 30, [150] * 5 + [5] * 150)  # of groups: many, few, a few that are large
_POPULATION = 5_000


def _population(truth: str | float, number: int) -> Population:
    """Made up anew for each truth and round; a number is the gain of a temperature."""
    if isinstance(truth, str):
        return made_up_population(truth, CLASSES, seed=number, size=_POPULATION)
    return population_with_gain("temperature", truth, CLASSES, seed=number, size=_POPULATION)


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    go_on(out, __file__, ("seed", "gain", "truth", "correlation", "sizes"), _todo(rounds), minutes)


def _todo(rounds: int) -> Iterator[tuple[tuple[Any, ...], Callable[[], list[dict[str, Any]]]]]:
    for number, truth in itertools.product(range(rounds), TRUTHS):
        population, gain = _population(truth, number), 0.0 if isinstance(truth, str) else truth
        for correlation, sizes in itertools.product(CORRELATIONS, SIZES):
            setting = (number, gain, population.name, correlation, sizes_in_words(sizes))
            yield setting, functools.partial(_decide, population, correlation, sizes, number)


def _decide(population: Population, correlation: float, sizes: list[int], number: int) -> list[dict[str, Any]]:
    return judge_advice_in_groups(group_population(population, correlation), sizes, number)


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=10, rounds=200))
