"""How often the advice is wrong where samples come in groups, recorded: into results/advice/groups.parquet.

    nice python -m workflow.advice_groups --minutes 10      # of processor time; goes on where it stopped

Rounds go over all settings, each decided twice on the same samples: told of the groups and not told. Each decision has
the number of its round as its seed. Rows of another code are refused. `notebooks/advice.py` reads what this leaves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import time
from pathlib import Path

import pandas as pd

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.evaluation.advice_groups import group_population, judge_advice_in_groups, sizes_in_words
from focal_lib.calibration.evaluation.advice_power import population_with_gain
from focal_lib.calibration.evaluation.advice_rates import Population, made_up_population
from focal_lib.calibration.evaluation.recommendation import RELEVANT
from focal_lib.checkout import ROOT
from workflow.going_on import made_by, rows_so_far

OUT = ROOT / "results" / "advice" / "groups.parquet"
CLASSES = 10
CALIBRATED = ("calibrated", "calibrated, rarely wrong")
GAINS = tuple(times * RELEVANT for times in (4, 20))  # of a temperature
TRUTHS: tuple[str | float, ...] = (*CALIBRATED, *GAINS)
CORRELATIONS = (0.0, 0.05, 0.2, 0.5)
SIZES = ([10] * 150, [50] * 30, [150] * 5 + [5] * 150)  # of groups: many, few, a few that are large
_POPULATION = 5_000
_SAVED_EVERY = 30.0  # seconds


def _population(truth: str | float, number: int) -> Population:
    """Made up anew for each truth and round; a number is the gain of a temperature."""
    if isinstance(truth, str):
        return made_up_population(truth, CLASSES, seed=number, size=_POPULATION)
    return population_with_gain("temperature", truth, CLASSES, seed=number, size=_POPULATION)


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    code = made_by(__file__)
    rows = rows_so_far(out, code["code"])
    done = {(row["seed"], row["gain"], row["truth"], row["correlation"], row["sizes"]) for row in rows}
    end, saved = time.process_time() + 60 * minutes, time.monotonic()
    out.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        write_whole(out, lambda part: pd.DataFrame(rows).to_parquet(part, index=False))

    for number, truth in itertools.product(range(rounds), TRUTHS):
        population, gain = _population(truth, number), 0.0 if isinstance(truth, str) else truth
        for correlation, sizes in itertools.product(CORRELATIONS, SIZES):
            if time.process_time() > end:
                break
            if (number, gain, population.name, correlation, sizes_in_words(sizes)) not in done:
                grouped = group_population(population, correlation)
                found = judge_advice_in_groups(grouped, sizes, number)
                rows += [row | {"gain": gain} | code for row in found]
            if time.monotonic() - saved > _SAVED_EVERY:
                save()
                saved = time.monotonic()
    save()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of processor time")
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    main(given.minutes, given.rounds)
