"""Text classifiers on snippets of film reviews, recorded: results/texts/table.parquet.

    nice python -m reproduction.studies.texts.record --minutes 12      # of processor time; goes on where it stopped

A seed is done whole, all its models, before the next. `notebooks/text.py` and claims read what this leaves: metrics,
temperatures and epochs, no text.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.data.dataset import Dataset
from reproduction.engine.data.text import load_elsewhere, load_text
from reproduction.engine.spec import Spec
from reproduction.studies.shared.going_on import go_on, read_options
from reproduction.studies.texts.measures import RECORD, measure_texts
from reproduction.studies.texts.plan import FIRST_SEED, N_VALIDATION, SETTINGS, make_specs
from reproduction.studies.texts.train import train_texts

OUT = ROOT / "results" / RECORD / "table.parquet"
SEEDS = range(FIRST_SEED, FIRST_SEED + max(setting.seeds for setting in SETTINGS.values()))


def specs_of(seed: int) -> Iterator[Spec]:
    """Every model of a seed."""
    for setting in SETTINGS.values():
        if seed < FIRST_SEED + setting.seeds:
            sizes = {"n_train": setting.n_train, "n_validation": N_VALIDATION, "epochs": setting.epochs}
            network = {"model": setting.model, "recipe": setting.recipe}
            yield from make_specs(setting.dataset, seed, setting.losses, **sizes, **network)


@functools.cache
def _dataset(name: str) -> tuple[Dataset, dict[str, Any]]:
    """The texts, and those elsewhere if a setting asks for them."""
    dataset = load_text(name)
    asked = any(setting.elsewhere for setting in SETTINGS.values() if setting.dataset == name)
    return dataset, load_elsewhere(dataset) if asked else {}


def _measure(spec: Spec) -> pd.DataFrame:
    return measure_texts(train_texts([spec], *_dataset(spec.dataset)))


def main(minutes: float, out: Path = OUT, seeds: Sequence[int] = SEEDS) -> None:
    """Go on with the record until the processor time or the seeds are used up."""
    specs = (spec for seed in seeds for spec in specs_of(seed))
    todo = (((spec.dataset, spec.label, spec.seed), functools.partial(_measure, spec)) for spec in specs)
    go_on(out, __file__, ("dataset", "loss", "seed"), todo, minutes)


if __name__ == "__main__":
    main(**read_options(__doc__, minutes=12))
