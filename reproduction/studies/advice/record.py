"""Simulations of the advice, of intervals and of a watch, recorded: into results/advice/ and results/watch/.

    nice python -m reproduction.studies.advice.record regret --minutes 25      # goes on where it stopped

* regret: of the advice, on populations of known truth; groups: intervals of differences where samples come in groups,
  each draw told of the groups and not; coverage: of the intervals of binned errors, and size of the tests. Rounds go
  over all settings, so that what there is when the time is up is even; a draw has the number of its round as its seed.
  `notebooks/advice.py` reads these.
* watch: when a watch raises its alarm, in streams with and without drift, into alarms.parquet; rounds are streams
  without drift, a fifth as many of each with one. `notebooks/in_use.py` reads it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from focal_lib.tool.evaluation.recommendation import RELEVANT
from reproduction.checkout import ROOT
from reproduction.studies.advice.coverage import TEMPERATURES, TopLabelModel, cover_classwise, cover_top_label
from reproduction.studies.advice.groups import group_population, judge_intervals_in_groups, sizes_in_words
from reproduction.studies.advice.populations import (
    EVENT_MODELS,
    KNOWN_TRUTHS,
    PREVALENCES,
    Population,
    event_name,
    made_up_population,
    population_with_gain,
    rare_event_population,
    recorded_population,
)
from reproduction.studies.advice.regret import judge_advice
from reproduction.studies.advice.watch_rates import alarm_times
from reproduction.studies.shared.going_on import go_on

Rows = pd.DataFrame | list[dict[str, Any]]
Todo = Iterator[tuple[tuple[Any, ...], Callable[[], Rows]]]

RECORDED = {
    "CIFAR-10, cross-entropy": "results/cifar10-resnet8/598cf2a97b66ca1c/logits.npz",
    "CIFAR-10, focal gamma 5": "results/cifar10-resnet8/3ed0b4b2798e300a/logits.npz",
    "CIFAR-100, cross-entropy": "results/cifar100-record/918f2716bb76ddaa/logits.npz",
    "CIFAR-100, focal gamma 3": "results/cifar100-record/63c8f37515793ce2/logits.npz",
}
EVERY = {  # of how many rounds settings are in the last -> their classes and samples
    1: tuple((classes, n) for n in (100, 200, 1_000) for classes in (2, 10)),
    2: ((2, 500), (10, 500)),
    3: ((2, 5_000), (10, 5_000), (100, 1_000)),
    4: ((2, 10_000), (2, 50_000), (10, 10_000), (10, 50_000)),
    8: ((100, 5_000),),
}
EVENTS = {event_name(prevalence, model): (prevalence, model) for prevalence in PREVALENCES for model in EVENT_MODELS}
ONLY = {50_000: ("calibrated", "vector", *EVENTS)}  # truths that so many samples are drawn of
CLASSES = 10  # of groups
TRUTHS: tuple[str | float, ...] = ("calibrated", "calibrated, rarely wrong", 4 * RELEVANT, 20 * RELEVANT)
CORRELATIONS = (0.0, 0.05, 0.2, 0.5)
SIZES = ([10] * 150, [50] * 30, [150] * 5 + [5] * 150)  # of groups: many, few, a few that are large
GROUP_POPULATION = 5_000
COVERED = ((200, 500, 1_000, 5_000, 20_000, 50_000), (2, 10, 100, 1_000), TEMPERATURES)  # samples, classes, models
COVERED_POPULATION = {2: 200_000, 10: 200_000, 100: 100_000, 1_000: 20_000}
_MOST = 2_000_000  # numbers in one sample of the classwise ECE: samples times classes
CALM = 100_000  # samples of a stream without drift
AFTER = 20_000  # samples after a drift
CHANGES = (0, 1_000, 10_000)  # samples before it
DRIFTS = (0.5, 0.67, 1.5, 2.0)  # temperature of labels and model after it; below 1 the model is underconfident


@functools.cache
def _recorded(name: str) -> Population:
    return recorded_population(ROOT / RECORDED[name], name)


def _decide(truth: str, classes: int, n: int, number: int) -> Rows:
    """On a recorded population, or on one made up anew for each truth and round."""
    if truth in RECORDED:
        population = _recorded(truth)
    elif truth in EVENTS:
        population = rare_event_population(*EVENTS[truth], seed=number)
    else:
        population = made_up_population(truth, classes, seed=number)
    return [judge_advice(population, n, number)]


def _regret(rounds: int) -> Todo:
    """Decisions: recorded truths at their own number of classes, events of two."""
    for number in range(rounds):
        for classes, n in itertools.chain(*(kept for every, kept in EVERY.items() if number % every == every - 1)):
            recorded = [name for name in RECORDED if name.startswith(f"CIFAR-{classes},")]
            truths = (*KNOWN_TRUTHS, *recorded, *(EVENTS if classes == 2 else ()))
            for truth in (truth for truth in truths if truth in ONLY.get(n, truths)):
                setting = (truth, classes, n, number)
                yield setting, functools.partial(_decide, *setting)


def _decide_groups(population: Population, correlation: float, sizes: list[int], number: int) -> Rows:
    return judge_intervals_in_groups(group_population(population, correlation), sizes, number)


def _groups(rounds: int) -> Todo:
    """A truth that is a number is the gain of a temperature."""
    for number, truth in itertools.product(range(rounds), TRUTHS):
        of_size = {"seed": number, "size": GROUP_POPULATION}
        if isinstance(truth, str):
            gain, population = 0.0, made_up_population(truth, CLASSES, **of_size)
        else:
            gain, population = truth, population_with_gain(truth, CLASSES, **of_size)
        for correlation, sizes in itertools.product(CORRELATIONS, SIZES):
            setting = (number, gain, population.name, correlation, sizes_in_words(sizes))
            yield setting, functools.partial(_decide_groups, population, correlation, sizes, number)


@functools.cache
def _top_label_model(classes: int, temperature: float) -> TopLabelModel:
    return TopLabelModel.of_clouds(classes, temperature, size=COVERED_POPULATION[classes])


def _cover(number: int, n: int, classes: int, temperature: float, part: str) -> Rows:
    """A round's samples of one setting, fewer where they are large."""
    if part == "top label":
        return cover_top_label(_top_label_model(classes, temperature), n, 10 if n <= 5_000 else 4, seed=number)
    return cover_classwise(classes, temperature, n, max(1, min(10, 500_000 // (n * classes))), seed=number)


def _coverage(rounds: int) -> Todo:
    samples, numbers, models = COVERED
    for number, n, classes, model, part in itertools.product(
        range(rounds), samples, numbers, models, ("top label", "classwise")
    ):
        if part == "top label" or n * classes <= _MOST:
            setting = (number, n, classes, model, part)
            yield setting, functools.partial(_cover, number, n, classes, models[model], part)


def _alarms(runs: int, horizon: int, **drift: Any) -> Rows:
    return pd.DataFrame({"horizon": horizon, "alarm at": alarm_times(runs, horizon, **drift)})


def _watch(rounds: int) -> Todo:
    yield (1.0, CALM), functools.partial(_alarms, rounds, CALM)
    for temperature, change in itertools.product(DRIFTS, CHANGES):
        drift = {"change": change, "temperature": temperature, "seed": 1}
        yield (temperature, change), functools.partial(_alarms, rounds // 5, change + AFTER, **drift)


class Record(NamedTuple):
    """File below results/, columns that tell settings apart, rounds by default, what is to do in so many."""

    file: str
    keys: tuple[str, ...]
    rounds: int
    todo: Callable[[int], Todo]


RECORDS = {
    "regret": Record("advice/regret", ("truth", "classes", "samples", "seed"), 200, _regret),
    "groups": Record("advice/groups", ("seed", "gain", "truth", "correlation", "sizes"), 200, _groups),
    "coverage": Record("advice/coverage", ("round", "samples", "classes", "model", "part"), 20, _coverage),
    "watch": Record("watch/alarms", ("temperature", "change"), 500, _watch),
}


def main(record: str, minutes: float, rounds: int | None = None, out: Path | None = None) -> None:
    """Go on with a record until the processor time or the rounds, by default its own, are used up."""
    own = RECORDS[record]
    todo = own.todo(own.rounds if rounds is None else rounds)
    go_on(out or ROOT / "results" / f"{own.file}.parquet", __file__, own.keys, todo, minutes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", choices=RECORDS)
    parser.add_argument("--minutes", type=float, default=25, help="of processor time; default: %(default)s")
    parser.add_argument("--rounds", type=int, help="default: the record's own")
    main(**vars(parser.parse_args()))
