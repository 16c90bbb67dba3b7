"""Measurements of the landscape over the gammas of training, and the contrasts that were written down for them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast
from reproduction.studies.landscape.measures import add_logs
from reproduction.studies.shared.over_seeds import means_and_halves
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

FACTORS = {"trace": "exact own", "loss": "loss factor", "spread": "spread", "sensitivity": "sensitivity"}

Points = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def _wide(table: pd.DataFrame, model: str, metric: str) -> pd.DataFrame:
    """Seeds by gammas, both in order.

    Raises:
        ValueError: no such rows.
    """
    kept = table[(table["model"] == model) & (table["metric"] == metric)]
    if kept.empty:
        raise ValueError(f"rows must be of {model} and {metric}. Got none.")
    return kept.pivot(index="seed", columns="gamma", values="value").sort_index(axis="columns")


def ratios_over_gamma(table: pd.DataFrame, model: str, metric: str) -> Points:
    """Logarithm of a metric over that of cross-entropy: gammas, means over paired seeds, half of the t intervals.

    Raises:
        ValueError: no such rows, or none with gamma 0.
    """
    wide = _wide(table, model, f"log {metric}")
    if 0.0 not in wide:
        raise ValueError(f"gammas must hold 0, cross-entropy. Got {', '.join(f'{g:g}' for g in wide)}.")
    return _points(wide.sub(wide[0.0], axis="index"))


def _points(wide: pd.DataFrame) -> Points:
    means, halves = means_and_halves(wide)
    return wide.columns.to_numpy(), means, None if np.isnan(halves).all() else halves


def values_over_gamma(table: pd.DataFrame, model: str, metric: str) -> Points:
    """A metric: gammas, means over seeds, half of the t intervals; for `point_figure`.

    Raises:
        ValueError: no such rows.
    """
    return _points(_wide(table, model, metric))


def means_over_gamma(table: pd.DataFrame, model: str, first: str, second: str) -> Points:
    """Means over seeds of two metrics, a point a gamma, in order, and half of the t intervals of the second.

    Raises:
        ValueError: no such rows.
    """
    _, means, half = values_over_gamma(table, model, second)
    return _wide(table, model, first).mean().to_numpy(), means, half


def factors_at(table: pd.DataFrame, gamma: float, splits: Sequence[str] = ("train", "validation")) -> pd.DataFrame:
    """The trace and its three factors at one gamma, each over that of cross-entropy, geometric means over seeds.

    Returns:
        A row a network and split, with trace, loss, spread, sensitivity, the first the product of the others, and
        weights, the ratio of the weight norms.

    Raises:
        ValueError: no rows of that gamma, or none with gamma 0.
    """

    def ratio(model: str, metric: str) -> float:
        gammas, means, _ = ratios_over_gamma(table, model, metric)
        if gamma not in gammas:
            raise ValueError(f"gamma must be one of {', '.join(f'{g:g}' for g in gammas)}. Got {gamma:g}.")
        return float(np.exp(means[gammas == gamma][0]))

    rows = {
        (model, split): {name: ratio(model, f"{metric} {split}") for name, metric in FACTORS.items()}
        | {"weights": ratio(model, "weight norm")}
        for model in table["model"].unique()
        for split in splits
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["network", "split"])


def share_within(table: pd.DataFrame, errors: float = 2.0) -> tuple[int, int]:
    """How many estimated traces lie within so many standard errors of the exact Gauss-Newton one, and of how many."""
    kept = table[table["metric"].str.match(r"(?:trace|exact) ")]
    kept = kept.assign(kind=kept["metric"].str.split(n=1).str[0], what=kept["metric"].str.split(n=1).str[1])
    wide = kept.pivot(index=["model", "loss", "seed", "what"], columns="kind", values=["value", "error"]).dropna()
    apart = (wide["value", "trace"] - wide["value", "exact"]).abs()
    return int((apart <= errors * wide["error", "trace"]).sum()), len(wide)


def evaluate_by_network(table: pd.DataFrame, contrasts: Mapping[str, Sequence[Contrast]]) -> pd.DataFrame:
    """`evaluate_contrasts` of each network by itself, Holm's correction within it; column 'network', and in each name.

    Args:
        contrasts: network -> what was written down for it.
    """
    parts = []
    for network, written in contrasts.items():
        found = evaluate_contrasts(table[table["model"] == network], written)
        parts.append(found.assign(network=network, name=network + ": " + found["name"]))
    return pd.concat(parts, ignore_index=True)


@functools.cache
def read_landscape() -> pd.DataFrame:
    """Curvature of the runs of workflow/grids/landscape.yaml, see `measure_landscape`, logarithms added."""
    return add_logs(read_table("landscape"))


@functools.cache
def read_rescaled() -> pd.DataFrame:
    """Small CNNs of workflow/grids/landscape.yaml with rescaled layers, see `measure_rescaled`."""
    return pd.read_parquet(ROOT / "results" / "landscape" / "rescaled.parquet")
