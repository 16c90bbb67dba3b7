"""How often the advice is wrong, recorded: decisions on populations of known truth, into results/advice/.

    python -m reproduction.studies.advice.record_rates --minutes 25      # of processor time; goes on where it stopped

Rounds go over all settings, so that what there is when the time is up is even; a setting of many numbers takes part in
fewer rounds. Each decision has its number as its seed. Rows of another code are refused.
`notebooks/advice.py` reads what this leaves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT
from reproduction.studies.advice.rates import (
    KNOWN_TRUTHS,
    Population,
    judge_advice,
    made_up_population,
    recorded_population,
)
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / "advice" / "decisions.parquet"
RECORDED = {
    "CIFAR-10, cross-entropy": "results/cifar10-resnet8/598cf2a97b66ca1c/logits.npz",
    "CIFAR-10, focal gamma 5": "results/cifar10-resnet8/3ed0b4b2798e300a/logits.npz",
    "CIFAR-100, cross-entropy": "results/cifar100-record/918f2716bb76ddaa/logits.npz",
    "CIFAR-100, focal gamma 3": "results/cifar100-record/63c8f37515793ce2/logits.npz",
}
EVERY = {  # (classes, samples) -> the setting is in the last of so many rounds
    (2, 200): 1,
    (10, 200): 1,
    (2, 1_000): 1,
    (10, 1_000): 1,
    (2, 5_000): 2,
    (10, 5_000): 2,
    (100, 200): 3,
    (100, 1_000): 6,
    (1_000, 200): 4,
    (2, 50_000): 8,
    (10, 50_000): 8,
    (100, 5_000): 8,
    (1_000, 1_000): 8,
}


@functools.cache
def _recorded(name: str) -> Population:
    return recorded_population(ROOT / RECORDED[name], name)


def _population(truth: str, classes: int, number: int) -> Population:
    """Made up anew for each truth and round."""
    return _recorded(truth) if truth in RECORDED else made_up_population(truth, classes, seed=number)


def settings(number: int) -> list[tuple[str, int, int]]:
    """(truth, classes, samples) of a round, the recorded ones at their own number of classes."""
    found = []
    for (classes, n), every in EVERY.items():
        if number % every == every - 1:
            recorded = [name for name in RECORDED if name.startswith(f"CIFAR-{classes},")]
            found += [(truth, classes, n) for truth in (*KNOWN_TRUTHS, *recorded)]
    return found


def main(minutes: float, rounds: int, out: Path = OUT) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    todo = (
        ((*setting, number), functools.partial(_decide, *setting, number))
        for number in range(rounds)
        for setting in settings(number)
    )
    go_on(out, __file__, ("truth", "classes", "samples", "seed"), todo, minutes)


def _decide(truth: str, classes: int, n: int, number: int) -> list[dict[str, Any]]:
    return [judge_advice(_population(truth, classes, number), n, number)]


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=25, rounds=200))
