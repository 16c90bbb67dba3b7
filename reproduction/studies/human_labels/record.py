"""Models trained on the raters' labels of film reviews, recorded: results/human-labels/table.parquet.

    python -m reproduction.studies.human_labels.record --minutes 40      # of processor time; goes on where it stopped

A seed is done whole, all its models, before the next. `notebooks/human_labels.py` and claims read what this leaves:
distances to the votes, no sentence and no vote.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
from pathlib import Path

from reproduction.checkout import ROOT
from reproduction.studies.human_labels.measures import RECORD, measure_plans
from reproduction.studies.human_labels.models import NETWORKS
from reproduction.studies.human_labels.plan import Plan, losses_compared
from reproduction.studies.shared.going_on import go_on, read_options

OUT = ROOT / "results" / RECORD / "table.parquet"
SEEDS = {
    ("linear", 2): 10,
    ("linear", 3): 5,
    ("averaged-embedding", 2): 10,
    ("gp-cnn", 2): 5,
    ("tree-lstm", 2): 5,
}  # from 1 on; 0: the trial, which the Tree-LSTM did not have
_OTHER_GAMMAS = (1.0, 3.0, 5.0)


def plans(seed: int) -> list[Plan]:
    """Every model of a seed; the linear one, which is cheap, with other labels, gammas and a third class, too."""
    losses = list(losses_compared().values())
    found = [Plan("linear", seed=seed, **loss) for loss in losses]
    some = losses[:2]  # cross-entropy and focal
    found += [Plan("linear", seed=seed, labels=kind, **loss) for kind in ("majority", "votes") for loss in some]
    found += [Plan("linear", "focal", gamma, seed=seed) for gamma in _OTHER_GAMMAS]
    for network in NETWORKS:
        found += [Plan(network, seed=seed, **loss) for loss in losses]
        found += [Plan(network, seed=seed, labels="majority", **loss) for loss in some]
    found += [Plan("linear", seed=seed, classes=3, **loss) for loss in losses]
    return [plan for plan in found if seed <= SEEDS[plan.model, plan.classes]]


def main(minutes: float, out: Path = OUT, seeds: int = max(SEEDS.values())) -> None:
    """Go on with the record until the processor time or the seeds are used up."""
    todo = (
        ((plan.model, plan.classes, plan.labels, plan.label, plan.seed), functools.partial(measure_plans, [plan]))
        for seed in range(1, seeds + 1)
        for plan in plans(seed)
    )
    go_on(out, __file__, ("model", "classes", "labels", "loss", "seed"), todo, minutes)


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=40))
