"""What other test samples would give: a difference of two scalings, its mean over runs tested on the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.intervals import Interval, bootstrap_draws
from reproduction.engine.store import Result
from reproduction.studies.shared.by_run import top_after

Pair: TypeAlias = tuple[float, float]  # calibration gamma, temperature
_METHODS = ("focal-temperature", "temperature")


def resample_mean_gain(fitted: Sequence[tuple[Result, Pair, Pair]], *, resamples: int = 200, seed: int = 0) -> Interval:
    """Adaptive ECE on test with one (calibration gamma, temperature) minus with another: its mean over runs.

    Each draw of the test samples is the same for all runs; `resample_gain` is quicker, for one. A resampled ECE is
    larger than the ECE, on either side of the difference, so the interval is a guide.

    Args:
        fitted: run, one pair, the other.

    Raises:
        ValueError: no run, or runs whose test labels differ.
    """
    others = sum(not np.array_equal(run.test.labels, fitted[0][0].test.labels) for run, *_ in fitted)
    if not fitted or others:
        also = f", {others} of them on others" if others else ""
        raise ValueError(f"runs must be one or more, tested on the same samples. Got {len(fitted)} runs{also}.")
    sides = [(top_after(run, one), top_after(run, other)) for run, one, other in fitted]

    def mean_gain(draw: np.ndarray) -> float:
        gains = [
            adaptive_ece_of(*(v[draw] for v in one)) - adaptive_ece_of(*(v[draw] for v in two)) for one, two in sides
        ]
        return float(np.mean(gains))

    def statistic(draws: np.ndarray) -> np.ndarray:
        return np.array([mean_gain(draw) for draw in draws])

    return bootstrap_draws(statistic, len(fitted[0][0].test.labels), resamples=resamples, seed=seed)


def gains_over_test_samples(runs: Sequence[Result], table: pd.DataFrame, *, resamples: int = 200) -> pd.DataFrame:
    """For each loss `resample_mean_gain` of focal temperature scaling, minus temperature scaling, by adaptive ECE.

    Args:
        runs: of one data set; table: what `measure` gives of them.

    Returns:
        Index loss, in the order of the table; difference, low, high in percentage points; runs, their number.
    """
    chosen = table[(table["metric"] == "adaptive-ece") & (table["objective"] == "adaptive-ece")]
    columns = chosen[["loss", "seed", "method", "calibration_gamma", "temperature"]]
    pairs = {(loss, seed, method): (g, t) for loss, seed, method, g, t in columns.itertuples(index=False)}
    rows = {}
    for loss in table["loss"].unique():
        own = [run for run in runs if run.spec.label == loss]
        one, other = ([pairs[loss, run.spec.seed, method] for run in own] for method in _METHODS)
        fitted = list(zip(own, one, other, strict=True))
        gain = resample_mean_gain(fitted, resamples=resamples).scaled(100)
        rows[loss] = (gain.estimate, gain.low, gain.high, len(fitted))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "low", "high", "runs"]).rename_axis(
        "loss"
    )
