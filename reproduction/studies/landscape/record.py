"""Curvature of the networks of workflow/grids/landscape.yaml, recorded in results/landscape/.

    focal grid workflow/grids/landscape.yaml --cores 2
    nice python -m reproduction.studies.landscape.record      # goes on where it stopped; about 10 minutes of one core
    python -m reproduction.studies.landscape.record --rescaled
    python -m reproduction.studies.landscape.record --grid workflow/grids/cifar100-curvature.yaml \\
        --out curvature.parquet --device cuda

table.parquet has a row a network and metric, see `measure_landscape`; rescaled.parquet the small CNNs of the first
seed, as they are and with rescaled layers, see `measure_rescaled`. `notebooks/landscape.py` and claims read what
this leaves. The weights are not kept.
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
from reproduction.studies.landscape.rescaled_layers import measure_rescaled
from reproduction.studies.shared.going_on import go_on

GRID = ROOT / "workflow" / "grids" / "landscape.yaml"
OUT = ROOT / "results" / "landscape" / "table.parquet"
IMAGES, SIGNS = 200, 10
KEY = ("model", "loss", "seed")
RESCALED, FACTORS = OUT.with_name("rescaled.parquet"), (0.5, 2.0, 5.0)


def main(
    root: Path | None = None,
    out: Path = OUT,
    grid: Path = GRID,
    images: int = IMAGES,
    signs: int = SIGNS,
    device: str = "cpu",
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
        return measure_landscape([result], images, signs, root, device).assign(images=images, signs=signs)

    specs = sorted(read_grid(grid), key=lambda spec: spec.seed)
    todo = (((spec.model, spec.label, spec.seed), functools.partial(measure, spec)) for spec in specs)
    go_on(out, __file__, KEY, todo)


def rescale(root: Path | None = None, out: Path = RESCALED, grid: Path = GRID, images: int = IMAGES) -> None:
    """The small CNNs of the first seed, a layer multiplied by each factor and the next one divided by it."""
    small = [spec for spec in read_grid(grid) if spec.model == "small-cnn" and spec.seed == 0]

    def measure(spec: Spec) -> pd.DataFrame:
        return measure_rescaled([load(spec, root)], FACTORS, images, root).assign(images=images)

    go_on(out, __file__, ("loss", "seed"), [((s.label, s.seed), functools.partial(measure, s)) for s in small])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, help="where the runs are; default: FOCAL_RUNS or _build/runs")
    parser.add_argument("--grid", type=Path, default=GRID, help="of which runs; another one needs an --out of its own")
    parser.add_argument("--out", type=Path, default=OUT, help="the table")
    parser.add_argument("--images", type=int, default=IMAGES, help="of each split; default: %(default)s")
    parser.add_argument("--signs", type=int, default=SIGNS, help="random vectors a trace, from 2; default: %(default)s")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; default: %(default)s")
    parser.add_argument("--rescaled", action="store_true", help="networks with rescaled layers, for rescaled.parquet")
    given = parser.parse_args()
    if given.rescaled:
        rescale(given.root)
        parser.exit()
    del given.rescaled
    if given.grid.resolve() != GRID.resolve() and given.out.resolve() == OUT.resolve():
        parser.error("another --grid needs an --out of its own: results/landscape is of landscape.yaml")
    main(**vars(given))
