"""Networks on canvases of garments, their heat maps against boxes, recorded: results/where-it-looks/table.parquet.

    python -m reproduction.studies.localisation.record --minutes 20      # of processor time; goes on where it stopped
    python -m reproduction.studies.localisation.record --chest --network densenet121 --n-train 86524 --n-test 25596 \\
        --epochs 100 --seeds 1 --out chest.parquet

The second, with the files of ChestX-ray14 in FOCAL_DATA/chest-xray14, is nearer to L25's setting: all its losses, one
after the other, on the CPU, until they are done. It says first how many images that is, and about how many hours; with
--dry-run no more than that.
`notebooks/22_where_it_looks.py` and claims read what the first leaves: numbers, no image.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT
from reproduction.engine.data.fashion_mnist import CLASSES
from reproduction.studies.localisation import canvases, chest_xrays
from reproduction.studies.localisation.canvases import LocatedImages
from reproduction.studies.localisation.measures import RECORD, measure_plans
from reproduction.studies.localisation.plan import CHEST, ONE, SEVERAL, Plan, losses_compared
from reproduction.studies.localisation.train import train
from reproduction.studies.shared.going_on import made_by, rows_so_far

OUT = ROOT / "results" / RECORD / "table.parquet"
FIRST, SEEDS = 11, 10  # seeds 1 and 2 were looked at before all contrasts were written down


def plans(seed: int, settings: tuple[str, ...] = (ONE, SEVERAL), **sizes: Any) -> list[Plan]:
    """Every network of a seed: the losses that are compared, and one that is not trained."""
    found = []
    for setting in settings:  # its networks one after the other: they share images
        of_losses = [Plan(setting, seed=seed, **loss, **sizes) for loss in losses_compared().values()]  # type: ignore[arg-type]
        found += [*of_losses, replace(of_losses[0], epochs=0)]
    return found


def seconds_an_image(plan: Plan) -> float:
    """Processor time of training on one image once: of a batch of 8 trained twice, less that of it trained once.

    The images are noise, as large as the plan's, whose files need not be there.
    """
    images, spent = noise(plan, 8), []
    for epochs in (1, 2):
        started = time.process_time()
        train(replace(plan, epochs=epochs), (images, images))
        spent.append(time.process_time() - started)
    return max(0.0, spent[1] - spent[0]) / 8


def noise(plan: Plan, n: int) -> LocatedImages:
    """Images without anything on them, of a plan's size and labels."""
    side, names = (chest_xrays.SIDE, chest_xrays.FINDINGS) if plan.setting == CHEST else (canvases.SIDE, CLASSES)
    rng = np.random.default_rng(0)
    labels = np.eye(len(names), dtype=np.int64)[rng.integers(len(names), size=n)]
    pixels = rng.integers(256, size=(n, side, side, 1), dtype=np.uint8)
    return LocatedImages(pixels, labels, np.full((n, len(names), 4), -1), names)


def cost(to_do: list[Plan]) -> str:
    """Networks, images and about how many hours of the processor, without those of the tests."""
    if not to_do:
        return "Nothing is left to train."
    images = sum(plan.n_train * plan.epochs for plan in to_do)
    hours = images * seconds_an_image(max(to_do, key=lambda plan: plan.epochs)) / 3600
    return (
        f"{len(to_do)} networks, {images:,} images to train on, epochs x those of one: "
        f"about {f'{hours:,.0f}' if hours >= 10 else f'{hours:.2g}'} hours of processor time, by a trial of 8 images"
    )


def main(minutes: float = math.inf, out: Path = OUT, seeds: int = SEEDS, dry_run: bool = False, **given: Any) -> None:
    """Go on with the record until the processor time, where it is given, or the seeds are used up.

    Args:
        dry_run: only say what is left to train, and what it would cost; rows of another code are to be made anew.

    Raises:
        SystemExit: rows of another code are in the way.
    """
    code = made_by(__file__)
    try:
        rows = rows_so_far(out, code["code"])
    except SystemExit:
        if not dry_run:
            raise
        rows = []
    done = {(row["dataset"], row["loss"], row["seed"]) for row in rows}
    end = time.process_time() + 60 * minutes

    def save() -> None:
        write_whole(out, lambda part: pd.DataFrame(rows).to_parquet(part, index=False))

    planned = (plan for seed in range(FIRST, FIRST + seeds) for plan in plans(seed, **given))
    to_do = [plan for plan in planned if (plan.setting, plan.label, plan.seed) not in done]
    if dry_run or any(plan.setting == CHEST for plan in to_do):
        print(cost(to_do), flush=True)
    if dry_run:
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    for plan in to_do:
        if time.process_time() > end:
            print(f"out of minutes before {plan.label}, seed {plan.seed}: run it again to go on", file=sys.stderr)
            return
        started = time.process_time()
        table = measure_plans([plan])
        rows += table.assign(cpu_seconds=time.process_time() - started, **code).to_dict("records")
        save()


def read_options(words: list[str] | None = None) -> dict[str, Any]:
    """The arguments of `main`, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=math.inf, help="of processor time; else until all is trained")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--dry-run", action="store_true", help="only say what it would cost")
    parser.add_argument("--chest", action="store_true", help="chest X-rays in place of garments")
    for name, kind in (("network", str), ("n_train", int), ("n_test", int), ("epochs", int)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    given = {name: value for name, value in vars(parser.parse_args(words)).items() if value is not None}
    return given | ({"settings": (CHEST,)} if given.pop("chest") else {})


if __name__ == "__main__":
    main(**read_options())
