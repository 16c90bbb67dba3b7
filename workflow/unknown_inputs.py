"""What networks whose weights are not kept said of unknown inputs, recorded into results/unknown-inputs/.

    focal grid workflow/grids/fashion-mnist-unknown.yaml --cores 2
    python -m workflow.unknown_inputs fashion-mnist-unknown fashion-mnist-fresh

The rows of `results.measure_detection` of a grid's runs, for each set of images that they are shown.
`notebooks/19_unknown_inputs.py` reads what this leaves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from focal_lib.checkout import ROOT, commit
from focal_lib.results.over_seeds import write_table
from focal_lib.results.unknown_inputs import measure_detection
from focal_lib.training.store import default_runs, load_runs

SHOWN = {
    "fashion-mnist-unknown": ("mnist-5k",),
    "fashion-mnist-fresh": ("mnist-5k",),
    "cifar10-unknown": ("cifar100", "cifar10-c-gaussian-noise-5"),
}


def main() -> None:
    """Each grid, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grids", nargs="+", choices=SHOWN)
    parser.add_argument("--root", type=Path, help="where the runs are; default: FOCAL_RUNS or _build/runs")
    given = parser.parse_args()
    root, made_by = given.root or default_runs(), commit()  # before a table changes the checkout
    for grid in given.grids:
        runs = load_runs(ROOT / "workflow" / "grids" / f"{grid}.yaml", root)
        table = pd.concat([measure_detection(runs, unknown, root) for unknown in SHOWN[grid]], ignore_index=True)
        out = ROOT / "results" / "unknown-inputs" / f"{grid}.parquet"
        out.parent.mkdir(parents=True, exist_ok=True)
        write_table(table.assign(commit=made_by), out)
        print(f"{out.relative_to(ROOT)}: {len(table):,} rows of {len(runs)} runs")


if __name__ == "__main__":
    main()
