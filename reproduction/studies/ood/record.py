"""What networks whose weights are not kept said of unknown inputs, recorded into results/unknown-inputs/.

    focal grid workflow/grids/fashion-mnist-unknown.yaml --cores 2
    python -m reproduction.studies.ood.record fashion-mnist-unknown fashion-mnist-fresh cifar10-unknown

The rows of `measure_detection` of a grid's runs, for each set of images that they are shown, in <grid>.parquet;
of cifar10-unknown also those of `measure_shift`, of every corruption of CIFAR-10-C, on the first 2,000 test
images, in <grid>-shift.parquet: AUROC and FPR of telling these from clean ones, at each severity, are among them. A
record of before that has none, and the page says so. `notebooks/19_unknown_inputs.py` reads what this leaves.

Any grid can be shown other images, its finished runs at least; the mean AUROCs are printed, the table goes elsewhere:

    python -m reproduction.studies.ood.record cifar10-unknown --shown svhn cifar10-c-fog-3
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reproduction.checkout import ROOT, commit
from reproduction.engine.data.corruptions import CORRUPTION_KINDS
from reproduction.engine.store import Result, default_runs, load_runs
from reproduction.studies.ood.measures import measure_detection, measure_shift, unknown_images
from reproduction.studies.ood.views import CIFAR_SHOWN
from reproduction.studies.shared.over_seeds import write_table

SHOWN = {
    "fashion-mnist-unknown": ("mnist-5k",),
    "fashion-mnist-fresh": ("mnist-5k",),
    "cifar10-unknown": CIFAR_SHOWN,
}
SHIFTED = {"cifar10-unknown": 2000}  # grid -> test images, under each corruption and severity


def detect(runs: Sequence[Result], unknown: Sequence[str], root: Path) -> pd.DataFrame:
    """`measure_detection` for each set of images, one below the other."""
    return pd.concat([measure_detection(runs, name, root) for name in unknown], ignore_index=True)


def shift(runs: Sequence[Result], images: int, root: Path) -> pd.DataFrame:
    """`measure_shift` for each kind of corruptions, which alone is in memory; column `images`: of how many."""
    parts = []
    for kind, corruptions in CORRUPTION_KINDS.items():
        parts.append(measure_shift(runs, corruptions, images=images, root=root).assign(images=images))
        print(f"{kind}: {len(parts[-1]):,} rows", flush=True)
    return pd.concat(parts, ignore_index=True)


def mean_aurocs(table: pd.DataFrame) -> pd.DataFrame:
    """AUROC (%) as trained, means over seeds, of what `detect` gives: a row a loss, a column a score."""
    kept = table[(table["method"] == "none") & table["metric"].str.startswith("auroc")]
    rows = ["dataset", "model", "unknown", "loss"]
    return kept.pivot_table(index=rows, columns="metric", values="value", sort=False).rename_axis(columns=None)


def main(given: Sequence[str] | None = None) -> None:
    """Each grid, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grids", nargs="+", help="names of workflow/grids/<name>.yaml")
    parser.add_argument("--shown", nargs="+", metavar="IMAGES", help="data sets to show in place of those on record")
    parser.add_argument("--root", type=Path, help="where the runs are; default: FOCAL_RUNS or _build/runs")
    parser.add_argument(
        "--out",
        type=Path,
        help="where the tables go; default: results/unknown-inputs, with --shown _build/unknown-inputs",
    )
    asked = parser.parse_args(given)
    known = (
        SHOWN if asked.shown is None else [path.stem for path in sorted((ROOT / "workflow" / "grids").glob("*.yaml"))]
    )
    if others := [grid for grid in asked.grids if grid not in known]:
        parser.error(f"grids must be among {', '.join(known)}. Got {', '.join(others)}; others go with --shown.")
    try:
        for name in asked.shown or ():
            unknown_images(name)
    except (FileNotFoundError, ValueError) as error:
        parser.error(f"--shown: {error}")
    out_folder = asked.out or ROOT / ("results" if asked.shown is None else "_build") / "unknown-inputs"
    root, made_by = asked.root or default_runs(), commit()  # before a table changes the checkout
    out_folder.mkdir(parents=True, exist_ok=True)
    for grid in asked.grids:
        runs = load_runs(ROOT / "workflow" / "grids" / f"{grid}.yaml", root, part=asked.shown is not None)
        tables = {grid: detect(runs, asked.shown or SHOWN[grid], root)}
        if asked.shown:
            print(mean_aurocs(tables[grid]).round(1).to_string())
        elif grid in SHIFTED:
            tables[f"{grid}-shift"] = shift(runs, SHIFTED[grid], root)
        for name, table in tables.items():
            out = out_folder / f"{name}.parquet"
            write_table(table.assign(commit=made_by), out)
            print(f"{out}: {len(table):,} rows of {len(runs)} runs")


if __name__ == "__main__":
    main()
