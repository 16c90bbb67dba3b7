"""Measurements of the landscape over the gammas of training, and the contrasts that were written down for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.results.written_contrasts import evaluate_contrasts
from focal_lib.training.contrasts import Contrast

__all__ = ["evaluate_by_network", "means_over_gamma", "name_factors", "ratios_over_gamma", "say_places"]

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

    Args:
        table: what `add_logs` gives.

    Raises:
        ValueError: no such rows, or none with gamma 0.
    """
    wide = _wide(table, model, f"log {metric}")
    if 0.0 not in wide:
        raise ValueError(f"gammas must hold 0, cross-entropy. Got {', '.join(f'{g:g}' for g in wide)}.")
    found = [t_interval_if_any((wide[gamma] - wide[0.0]).to_numpy()) for gamma in wide]
    half = np.array([(i.high - i.low) / 2 for i in found])
    return np.array(wide.columns), np.array([i.estimate for i in found]), None if np.isnan(half).all() else half


def means_over_gamma(table: pd.DataFrame, model: str, first: str, second: str) -> tuple[np.ndarray, np.ndarray, None]:
    """Means over seeds of two metrics, a point a gamma, in order: for `point_figure`.

    Raises:
        ValueError: no such rows.
    """
    one, two = (_wide(table, model, metric).mean() for metric in (first, second))
    return one.to_numpy(), two.to_numpy(), None


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


def name_factors(differences: Iterable[float]) -> str:
    """'0.43, 0.51, 0.60': differences of natural logarithms as factors."""
    return ", ".join(f"{np.exp(difference):.2f}" for difference in differences)


def say_places(found: pd.DataFrame) -> str:
    """In how many rows of `evaluate_contrasts`, differences of logarithms of a trace, it is larger, and smaller."""
    larger, smaller = (int((found["significant"] & (sign * found["difference"] > 0)).sum()) for sign in (1, -1))
    return f"significantly larger in {larger} of these {len(found)} comparisons, smaller in {smaller}"
