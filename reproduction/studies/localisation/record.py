"""Networks on canvases of garments, their heat maps against boxes, recorded: results/where-it-looks/table.parquet.

    python -m reproduction.studies.localisation.record --minutes 20      # of processor time; goes on where it stopped
    python -m reproduction.studies.localisation.record --chest --network densenet121 --n-train 86524 --n-test 25596 \\
        --epochs 100 --seeds 1 --out chest.parquet

The second, with the files of ChestX-ray14 in FOCAL_DATA/chest-xray14, is nearer to L25's setting: all its losses, one
after the other, on the CPU, until they are done. It says first how many images that is; with --dry-run no more.
`notebooks/where_it_looks.py` and claims read what the first leaves: numbers, no image.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT
from reproduction.studies.localisation.measures import RECORD, measure_plans
from reproduction.studies.localisation.plan import CHEST, ONE, SEVERAL, Plan, losses_compared
from reproduction.studies.shared.going_on import go_on

OUT = ROOT / "results" / RECORD / "table.parquet"
FIRST, SEEDS = 11, 10  # seeds 1 and 2 were looked at before all contrasts were written down


def plans(seed: int, settings: tuple[str, ...] = (ONE, SEVERAL), **sizes: Any) -> list[Plan]:
    """Every network of a seed: the losses that are compared, and one that is not trained."""
    found = []
    for setting in settings:  # its networks one after the other: they share images
        of_losses = [Plan(setting, seed=seed, **loss, **sizes) for loss in losses_compared().values()]  # type: ignore[arg-type]
        found += [*of_losses, replace(of_losses[0], epochs=0)]
    return found


def main(minutes: float = math.inf, out: Path = OUT, seeds: int = SEEDS, dry_run: bool = False, **given: Any) -> None:
    """Go on with the record until the processor time, where it is given, or the seeds are used up.

    Raises:
        SystemExit: rows of another code are in the way.
    """
    planned = [plan for seed in range(FIRST, FIRST + seeds) for plan in plans(seed, **given)]
    images = sum(plan.n_train * plan.epochs for plan in planned)
    print(f"{len(planned)} networks, {images:,} images to train on, epochs x those of one", flush=True)
    if not dry_run:
        todo = (((p.setting, p.label, p.seed), functools.partial(measure_plans, [p])) for p in planned)
        go_on(out, __file__, ("dataset", "loss", "seed"), todo, minutes)


def read_options(words: list[str] | None = None) -> dict[str, Any]:
    """The arguments of `main`, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=math.inf, help="of processor time; else until all is trained")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--dry-run", action="store_true", help="only say how many images that is")
    parser.add_argument("--chest", action="store_true", help="chest X-rays in place of garments")
    for name, kind in (("network", str), ("n_train", int), ("n_test", int), ("epochs", int)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    given = {name: value for name, value in vars(parser.parse_args(words)).items() if value is not None}
    return given | ({"settings": (CHEST,)} if given.pop("chest") else {})


if __name__ == "__main__":
    main(**read_options())
