"""Text classifiers on snippets of film reviews, recorded: results/texts/table.parquet.

    nice python -m reproduction.studies.texts.record --minutes 12      # of processor time; goes on where it stopped

A seed is done whole, all its models, before the next. `notebooks/23_text.py` and claims read what this leaves: metrics,
temperatures and epochs, no text.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.data.text import load_elsewhere, load_text
from reproduction.engine.spec import Spec
from reproduction.studies.shared.going_on import made_by, rows_so_far
from reproduction.studies.shared.over_seeds import write_table
from reproduction.studies.texts.plan import FIRST_SEED, N_VALIDATION, SETTINGS, make_specs
from reproduction.studies.texts.texts import RECORD, measure_texts
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


def main(minutes: float, out: Path = OUT, seeds: Sequence[int] = SEEDS) -> None:
    """Go on with the record until the processor time or the seeds are used up."""
    made = made_by(__file__)
    rows = rows_so_far(out, made["code"])
    done = {(row["dataset"], row["loss"], row["seed"]) for row in rows}
    end = time.process_time() + 60 * minutes
    out.parent.mkdir(parents=True, exist_ok=True)
    datasets, others = {}, {}
    for spec in (spec for seed in seeds for spec in specs_of(seed)):
        if time.process_time() > end:
            return
        name = spec.dataset
        if (name, spec.label, spec.seed) in done:
            continue
        if name not in datasets:
            datasets[name] = load_text(name)
            asked = any(setting.elsewhere for setting in SETTINGS.values() if setting.dataset == name)
            others[name] = load_elsewhere(datasets[name]) if asked else {}
        started = time.process_time()
        table = measure_texts(train_texts([spec], datasets[name], others[name]))
        rows += table.assign(cpu_seconds=time.process_time() - started, **made).to_dict("records")
        write_table(pd.DataFrame(rows), out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=12, help="of processor time")
    main(parser.parse_args().minutes)
