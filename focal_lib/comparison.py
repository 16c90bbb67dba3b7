"""Calibration methods compared on one model's logits: metrics with intervals, differences that are real or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from scipy.stats import norm

from focal_lib.calibrators import FocalTemperatureScaling, TemperatureScaling, VectorScaling
from focal_lib.logits_file import LogitSet
from focal_lib.metrics import Interval, binned_ece, bootstrap, top_label
from focal_lib.table import METRICS

__all__ = ["BEFORE", "compare", "default_methods", "differences", "fit_all", "recommend"]

BEFORE = "as given"


def default_methods() -> dict[str, Any]:
    """Fresh calibrators by name, the simplest first."""
    return {
        "temperature": TemperatureScaling("nll"),
        "focal temperature": FocalTemperatureScaling("nll", "newton"),
        "focal temperature, by ECE": FocalTemperatureScaling("ece"),
        "vector": VectorScaling(l2=1e-3),
    }


def fit_all(validation: LogitSet, methods: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Each method fitted on the validation set.

    Raises:
        ValueError: bad data, see the calibrators.
    """
    methods = default_methods() if methods is None else methods
    return {name: method.fit(validation.logits, validation.labels) for name, method in methods.items()}


def _probabilities(fits: Mapping[str, Any], logits: np.ndarray) -> dict[str, np.ndarray]:
    return {BEFORE: softmax(logits, -1)} | {name: fit.predict_proba(logits) for name, fit in fits.items()}


def compare(fits: Mapping[str, Any], test: LogitSet, resamples: int = 200, seed: int = 0) -> pd.DataFrame:
    """A row a method and metric: value and 95 % bootstrap interval over test rows. Errors and ECEs in per cent."""
    rows = []
    for name, probs in _probabilities(fits, test.logits.astype(np.float64)).items():
        for metric, function in METRICS.items():
            count = 0 if metric == "smooth-ece" else resamples  # no closed form: its interval would take minutes
            interval = (
                bootstrap(lambda p, y, f=function: float(f(p, y)), probs, test.labels, resamples=count, seed=seed)
                if count
                else Interval(float(function(probs, test.labels)), np.nan, np.nan)
            )
            rows.append((name, metric, interval.estimate, interval.low, interval.high))
    return pd.DataFrame(rows, columns=["method", "metric", "value", "low", "high"])


def differences(
    fits: Mapping[str, Any], test: LogitSet, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Equal-mass ECE and NLL of each method minus those of the first, and of the first minus before; paired over test rows.

    `p` is two-sided from the bootstrap's standard error; `real` says whether it stays below 1 - level after Holm's
    correction for the number of rows.
    """
    probs = _probabilities(fits, test.logits.astype(np.float64))
    first = next(iter(fits))
    pairs = [(first, BEFORE), *((name, first) for name in fits if name != first)]
    rows = []
    for one, two in pairs:
        a, b = (_parts(probs[name], test.labels) for name in (one, two))
        for metric, statistic in (
            ("adaptive-ece", lambda x, _, y, __, c: 100 * (binned_ece(x, c) - binned_ece(y, c))),
            ("nll", lambda _, x, __, y, c: float((x - y).mean())),
        ):
            data = (a[0], a[1], b[0], b[1], a[2])
            spread = bootstrap(statistic, *data, resamples=resamples, level=level, seed=seed)
            error = (spread.high - spread.low) / (2 * norm.ppf((1 + level) / 2))
            p = float(2 * norm.sf(abs(spread.estimate) / error)) if error > 0 else 1.0
            rows.append((one, two, metric, spread.estimate, spread.low, spread.high, p))
    found = pd.DataFrame(rows, columns=["method", "against", "metric", "difference", "low", "high", "p"])
    return found.assign(real=_holm(found["p"].to_numpy(), 1 - level))


def _parts(probs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidence, NLL and correctness of each row."""
    confidence, correct = top_label(probs, labels)
    picked = np.maximum(probs[np.arange(len(labels)), labels], np.finfo(np.float64).tiny)
    return confidence, -np.log(picked), correct


def _holm(p: np.ndarray, level: float) -> np.ndarray:
    """Which hypotheses fall, the smallest p against level / m, the next against level / (m - 1), ..."""
    order = np.argsort(p)
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    real = np.zeros(len(p), dtype=bool)
    real[order] = np.logical_and.accumulate(passed)
    return real


def recommend(found: pd.DataFrame, validation: int, least: int = 500) -> str:
    """In plain words, from `differences`: which method to use and how sure that is."""
    first = found["method"].iloc[0]
    helps = found[(found["method"] == first) & (found["against"] == BEFORE) & found["real"] & (found["difference"] < 0)]
    better = found[(found["against"] == first) & found["real"] & (found["difference"] < 0)]
    if validation < least and better.empty:
        return f"With {validation} validation rows there are too few to tell more than temperature scaling apart."
    if not better.empty:
        best = better.sort_values("p").iloc[0]
        unit = "points of ECE" if best["metric"] == "adaptive-ece" else "of NLL"
        return (
            f"Use {best['method']}: {-best['difference']:.3g} {unit} below {first} (95 % interval "
            f"{-best['high']:.3g} to {-best['low']:.3g}), beyond chance after correction for several methods."
        )
    if not helps.empty:
        return f"Plain {first} scaling is enough: it helps beyond chance, and no other method beats it beyond chance."
    return "No method improves on the logits as given beyond chance: leave them as they are."
