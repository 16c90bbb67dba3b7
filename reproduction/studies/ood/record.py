"""What networks whose weights are not kept said of unknown inputs, recorded into results/unknown-inputs/.

    focal grid workflow/grids/fashion-mnist-unknown.yaml --cores 2
    python -m reproduction.studies.ood.record fashion-mnist fashion-mnist-unknown fashion-mnist-fresh cifar10-unknown

The rows of `measure_detection` of a grid's runs, for each set of images that they are shown, in <grid>.parquet; of some
also those of `measure_shift`, on the first test images, in <grid>-shift.parquet: of cifar10-unknown under every
corruption of CIFAR-10-C. It goes on where it stopped. `notebooks/unknown_inputs.py` reads what this leaves.

Any grid can be shown other images, its finished runs at least; the mean AUROCs are printed, the table goes elsewhere,
and is made anew each time:

    python -m reproduction.studies.ood.record cifar10-unknown --shown svhn cifar10-c-fog-3
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.data.corruptions import CORRUPTION_KINDS
from reproduction.engine.store import default_runs, load_runs
from reproduction.studies.ood.measures import measure_detection, measure_shift, unknown_images
from reproduction.studies.ood.plan import CIFAR_SHOWN, SHIFTS
from reproduction.studies.shared.going_on import go_on

SHOWN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("fashion-mnist", "fashion-mnist-unknown", "fashion-mnist-fresh"), ("mnist-5k",)),
    "cifar10-unknown": CIFAR_SHOWN,
}
SHIFTED: dict[
    str, tuple[int, dict[str, tuple[str, ...]]]
] = {  # grid -> test images under each severity; corruptions by kind, of which one is in memory at a time
    "fashion-mnist": (5000, {kind: (kind,) for kind in SHIFTS}),
    "cifar10-unknown": (2000, CORRUPTION_KINDS),
}


def mean_aurocs(table: pd.DataFrame) -> pd.DataFrame:
    """AUROC (%) as trained, means over seeds, of what `measure_detection` gives: a row a loss, a column a score."""
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
    root = asked.root or default_runs()
    for grid in asked.grids:
        runs = load_runs(ROOT / "workflow" / "grids" / f"{grid}.yaml", root, part=asked.shown is not None)
        out = out_folder / f"{grid}.parquet"
        if asked.shown:
            out.unlink(missing_ok=True)
        detect = functools.partial(measure_detection, runs, root=root)
        todo = [((name,), functools.partial(detect, name)) for name in asked.shown or SHOWN[grid]]
        go_on(out, __file__, ("unknown",), todo)
        print(f"{out}: of {len(runs)} runs")
        if asked.shown:
            print(mean_aurocs(pd.read_parquet(out)).round(1).to_string())
        elif grid in SHIFTED:
            images, kinds = SHIFTED[grid]
            shift = functools.partial(measure_shift, runs, images=images, root=root)
            of_kinds = [((kind, images), functools.partial(shift, corruptions)) for kind, corruptions in kinds.items()]
            go_on(out_folder / f"{grid}-shift.parquet", __file__, ("kind", "images"), of_kinds)


if __name__ == "__main__":
    main()
