"""Curvature of the networks of workflow/grids/landscape.yaml, recorded: results/landscape/table.parquet.

    focal grid workflow/grids/landscape.yaml --cores 2
    nice python -m reproduction.studies.landscape.record      # goes on where it stopped; about 10 minutes of one core
    python -m reproduction.studies.landscape.record --grid workflow/grids/kn24-curvature.yaml --out curvature.parquet

A row a network and metric, see `measure_landscape`. `notebooks/20_landscape.py` and claims read what this
leaves. The weights are not kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec
from reproduction.engine.store import RunMissing, load
from reproduction.studies.landscape.measures import measure_landscape
from reproduction.studies.shared.going_on import go_on

GRID = ROOT / "workflow" / "grids" / "landscape.yaml"
OUT = ROOT / "results" / "landscape" / "table.parquet"
IMAGES, SIGNS = 200, 10
KEY = ("model", "loss", "seed")


def main(
    root: Path | None = None, out: Path = OUT, grid: Path = GRID, images: int = IMAGES, signs: int = SIGNS
) -> None:
    """Every finished network that the record lacks, seed by seed.

    Raises:
        ValueError: there are rows of other numbers of images or signs.
        SystemExit: there are rows of another code.
    """
    if out.exists():
        there = pd.read_parquet(out).get(["images", "signs"], pd.DataFrame()).drop_duplicates()
        if apart := set(there.itertuples(index=False, name=None)) - {(images, signs)}:
            found = " and ".join(f"{n} images, {signs} signs" for n, signs in sorted(apart))
            expected = f"images and signs must be those of the rows in {out.name}, {found}"
            raise ValueError(f"{expected}. Got {images}, {signs}.")

    def measure(spec: Spec) -> pd.DataFrame | list[dict[str, Any]]:
        try:
            result = load(spec, root)
        except RunMissing:
            print(f"not run yet: {spec.model}, {spec.name}")
            return []
        print(f"{spec.model}, {spec.name}", flush=True)
        return measure_landscape([result], images, signs, root).assign(images=images, signs=signs)

    specs = sorted(read_grid(grid), key=lambda spec: spec.seed)
    todo = (((spec.model, spec.label, spec.seed), functools.partial(measure, spec)) for spec in specs)
    go_on(out, __file__, KEY, todo)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, help="where the runs are; default: FOCAL_RUNS or _build/runs")
    parser.add_argument("--grid", type=Path, default=GRID, help="of which runs; another one needs an --out of its own")
    parser.add_argument("--out", type=Path, default=OUT, help="the table")
    parser.add_argument("--images", type=int, default=IMAGES, help="of each split; default: %(default)s")
    parser.add_argument("--signs", type=int, default=SIGNS, help="random vectors a trace, from 2; default: %(default)s")
    given = parser.parse_args()
    if given.grid.resolve() != GRID.resolve() and given.out.resolve() == OUT.resolve():
        parser.error("another --grid needs an --out of its own: results/landscape is of landscape.yaml")
    main(**vars(given))
