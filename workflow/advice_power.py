"""How often the advice finds what there is to gain, recorded: into results/advice/power.parquet.

    nice python -m workflow.advice_power --minutes 25      # of processor time; goes on where it stopped

Rounds go over all settings. Each decision has the number of its round as its seed. Rows of another code are refused.
`notebooks/advice.py` reads what this leaves.
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
from focal_lib.calibration.evaluation.advice_power import GAINING, population_with_gain
from focal_lib.calibration.evaluation.advice_rates import judge_advice
from focal_lib.calibration.evaluation.recommendation import RELEVANT
from focal_lib.checkout import ROOT
from workflow.going_on import made_by, rows_so_far

OUT = ROOT / "results" / "advice" / "power.parquet"
CLASSES = 10
SAMPLES = (500, 2_000, 10_000)
GAINS = tuple(times * RELEVANT for times in (0, 0.5, 1, 2, 4, 8))
_SAVED_EVERY = 30.0  # seconds


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    code = made_by(__file__)
    rows = rows_so_far(out, code["code"])
    done = {(row["seed"], row["gaining"], row["gain"], row["samples"]) for row in rows}
    end, saved = time.process_time() + 60 * minutes, time.monotonic()
    out.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        write_whole(out, lambda part: pd.DataFrame(rows).to_parquet(part, index=False))

    for number, gaining, gain, n in itertools.product(range(rounds), GAINING, GAINS, SAMPLES):
        if time.process_time() > end:
            break
        if (number, gaining, gain, n) not in done:
            population = population_with_gain(gaining, gain, CLASSES, seed=number)
            rows.append(judge_advice(population, n, number) | {"gaining": gaining, "gain": gain} | code)
        if time.monotonic() - saved > _SAVED_EVERY:
            save()
            saved = time.monotonic()
    save()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=25, help="of processor time")
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    main(given.minutes, given.rounds)
