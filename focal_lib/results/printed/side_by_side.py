"""Measured tables beside the printed ones: the rows of M20 Tables 1 to 13, L25 Tables 4 to 7 and KK24 Table 1."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from focal_lib.results.over_seeds import spread
from focal_lib.results.printed import kk24_table1, tables

__all__ = ["beside"]

# names in this book's runs -> as printed; others are the same
_LOSSES = {"focal-scheduled-531": "focal 5-3-1", "focal-scheduled-532": "focal 5-3-2"}
_WITH_PARAMETERS = ("fcl", "dual-focal", "mmce", "label-smoothing")  # printed without them
_STAGES = {"pre": "pre", "ts, ece": "post"}  # M20 and L25 choose T by ECE


def beside(measured: pd.DataFrame | Path, metric: str, dataset: str, network: str = "ResNet-50") -> pd.DataFrame:
    """A row a loss: our mean and standard deviation, and what each paper prints, before and after temperature scaling.

    Args:
        measured: see table.spread.
        metric: 'error', 'nll', 'ece', 'adaptive-ece', 'classwise-ece', 'smooth-ece' or 'mce'.
        dataset: as printed, 'CIFAR-10'.
        network: the papers' network to show.
    """
    ours = spread(measured)
    ours = ours[(ours["metric"] == metric) & ours["stage"].isin(list(_STAGES))]
    ours = ours.assign(printed=ours["loss"].map(_printed_name), stage=ours["stage"].map(_STAGES))
    printed = tables()
    printed = printed[(printed["dataset"] == dataset) & (printed["network"] == network) & (printed["metric"] == metric)]
    values = printed.drop_duplicates(["paper", "loss", "stage"]).set_index(["paper", "loss", "stage"])["value"]
    if metric == "nll":
        values = values / 100  # M20 prints per cent
    found = {}
    for stage in ("pre", "post") if metric != "error" else ("pre",):
        part = ours[ours["stage"] == stage].set_index("loss")
        found[stage, "here"] = part["mean"]
        found[stage, "sd"] = part["sd"]
        for paper in ("M20", "L25"):
            found[stage, paper] = part["printed"].map(lambda k, p=paper, s=stage: values.get((p, k, s)))
        if stage == "post" and metric in ("ece", "nll"):
            kk24 = kk24_table1().query("dataset == @dataset and stage == 'ts'").set_index("loss")[metric]
            found[stage, "KK24"] = part["printed"].map(kk24.get)
    return pd.DataFrame(found).astype(float).dropna(axis="columns", how="all")


def _printed_name(loss: str) -> str:
    first = loss.split()[0]
    return first if first in _WITH_PARAMETERS else _LOSSES.get(loss, loss)
