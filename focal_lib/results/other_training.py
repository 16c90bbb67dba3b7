"""The same losses and seeds trained in several ways, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from focal_lib.results.by_run import confidence_gaps
from focal_lib.training.store import Result

__all__ = ["compare_training"]

# heading -> metric, method, objective, column: ECE is of equal width, as M20's
_ASKED = {
    "error (%)": ("error", "none", "", "value"),
    "NLL": ("nll", "none", "", "value"),
    "ECE (%)": ("ece", "none", "", "value"),
    "T by ECE": ("ece", "temperature", "ece", "temperature"),
    "ECE after T (%)": ("ece", "temperature", "ece", "value"),
}
_GAP = "confidence - accuracy (points)"


def compare_training(tables: Mapping[str, pd.DataFrame], runs: Mapping[str, Iterable[Result]]) -> pd.DataFrame:
    """Means over the seeds that all have, on test images; a row a loss and way to train, in the order of `tables`.

    Columns: error, NLL and ECE as trained, mean confidence minus accuracy, the temperature chosen by ECE and the ECE
    after it; seeds.

    Args:
        tables: way to train -> what `measure` gives of its runs; runs: the same way -> these runs.

    Raises:
        ValueError: no loss and seed that all have.
    """
    shared = set.intersection(*(set(zip(t["loss"], t["seed"], strict=True)) for t in tables.values()))
    if not shared:
        raise ValueError(f"tables must have a loss and seed in common. Got none in {', '.join(tables)}.")
    found = []
    for way, table in tables.items():
        kept = table[[key in shared for key in zip(table["loss"], table["seed"], strict=True)]]
        columns = {}
        for heading, (metric, method, objective, column) in _ASKED.items():
            of_metric = (kept["metric"] == metric) & (kept["method"] == method) & (kept["objective"] == objective)
            columns[heading] = kept[of_metric].groupby("loss", sort=False)[column].mean()
        gaps = confidence_gaps([run for run in runs[way] if (run.spec.label, run.spec.seed) in shared], ["test"])
        columns[_GAP] = 100 * gaps.groupby("loss")["gap"].mean()
        columns["seeds"] = kept.groupby("loss")["seed"].nunique()
        found.append(pd.DataFrame(columns).assign(steps=way))
    together = pd.concat(found).rename_axis("loss").set_index("steps", append=True)
    losses = {loss for loss, _ in shared}
    order = [loss for loss in next(iter(tables.values()))["loss"].unique() if loss in losses]
    return together.reindex(pd.MultiIndex.from_product([order, list(tables)], names=["loss", "steps"]))
