"""Measured tables beside the printed ones: the rows of M20 Tables 1 to 13, L25 Tables 4 to 7 and KK24 Table 1."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from focal_lib.loss_records import LOSS_RECORDS
from reproduction.studies.printed_tables import kk24_table1, printed_tables
from reproduction.studies.shared.over_seeds import summarise

# names in this book's runs -> as printed; others are the same
_LOSSES = {"focal-scheduled-531": "focal 5-3-1", "focal-scheduled-532": "focal 5-3-2"}
_WITH_PARAMETERS = {name for name, record in LOSS_RECORDS.items() if record.parameters} - {"focal"}  # printed without
_HEADINGS = {"pre": "as trained", "post": "after temperature scaling"}


def compare_with_printed(
    measured: pd.DataFrame | Path, metric: str, dataset: str, network: str = "ResNet-50"
) -> pd.DataFrame:
    """A row a loss: our mean and standard deviation, and what each paper prints, before and after temperature scaling.

    Our temperature is chosen by ECE of equal width, in steps of 0.1, as M20's is, and L25's by ECE; for 'adaptive-ece'
    by that of equal mass, in steps of 0.01, as KK24's ECE is (section 5.1), whose column is there alone. There M20 has
    steps of 0.1 (section 6), and L25 the temperature that it chose by ECE (section 5).

    Args:
        measured: see `summarise`.
        metric: 'error', 'nll', 'ece', 'adaptive-ece', 'classwise-ece', 'smooth-ece' or 'mce'.
        dataset: as printed, 'CIFAR-10'.
        network: the papers' network to show.
    """
    chosen_by = "adaptive-ece" if metric == "adaptive-ece" else "ece"
    ours = summarise(measured).query("metric == @metric")
    ours = ours.assign(printed=ours["loss"].map(printed_name))
    scalings = {"pre": ("none", ""), "post": ("temperature", chosen_by)}
    printed = printed_tables()
    printed = printed[(printed["dataset"] == dataset) & (printed["network"] == network) & (printed["metric"] == metric)]
    values = printed.drop_duplicates(["paper", "loss", "stage"]).set_index(["paper", "loss", "stage"])["value"]
    if metric == "nll":
        values = values / 100  # M20 prints per cent
    found = {}
    for stage in ("pre", "post") if metric != "error" else ("pre",):
        method, objective = scalings[stage]
        part = ours[(ours["method"] == method) & (ours["objective"] == objective)].set_index("loss")
        when = _HEADINGS[stage]
        found[when, "here"], found[when, "sd"] = part["mean"], part["sd"]
        for paper in ("M20", "L25"):
            found[when, paper] = part["printed"].map(lambda k, p=paper, s=stage: values.get((p, k, s)))
        if stage == "post" and metric == "adaptive-ece":
            kk24 = kk24_table1().query("dataset == @dataset and stage == 'ts'").set_index("loss")["adaptive_ece"]
            found[when, "KK24"] = part["printed"].map(kk24.get)
    return pd.DataFrame(found).astype(float).dropna(axis="columns", how="all")


def printed_name(loss: str) -> str:
    """The label of a run as the papers' tables have it: 'mmce 8' -> 'mmce', which they print without parameters."""
    first = loss.split()[0].removesuffix("-m20")
    return first if first in _WITH_PARAMETERS else _LOSSES.get(loss, loss)
