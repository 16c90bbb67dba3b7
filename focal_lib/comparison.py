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
from focal_lib.maps import focal_log_probs
from focal_lib.metrics import Interval, binned_ece, bootstrap, top_label
from focal_lib.table import METRICS

__all__ = [
    "BEFORE",
    "as_text",
    "choose",
    "compare",
    "default_methods",
    "differences",
    "fit_all",
    "notes",
    "recommend",
]

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
    """Equal-mass ECE and NLL: the first method minus none, and each other minus the first, paired over test rows.

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


def choose(found: pd.DataFrame) -> str | None:
    """The method to use: the best that really beats the first one; else the first; None if that does not help."""
    first = found["method"].iloc[0]
    better = found[(found["against"] == first) & found["real"] & (found["difference"] < 0)]
    if not better.empty:
        return str(better.sort_values("p")["method"].iloc[0])
    helps = found[(found["against"] == BEFORE) & found["real"] & (found["difference"] < 0)]
    return None if helps.empty else str(first)


def recommend(found: pd.DataFrame, validation: int, least: int = 500) -> str:
    """In plain words, from `differences`: which method to use and how sure that is."""
    first, chosen = found["method"].iloc[0], choose(found)
    if chosen not in (None, first):
        best = found[(found["method"] == chosen) & (found["against"] == first)].sort_values("p").iloc[0]
        unit = "points of ECE" if best["metric"] == "adaptive-ece" else "of NLL"
        return (
            f"Use {best['method']}: {-best['difference']:.3g} {unit} below {first} (95 % interval "
            f"{-best['high']:.3g} to {-best['low']:.3g}), beyond chance after correction for several methods."
        )
    if validation < least:
        return f"{validation} validation rows are too few to tell {first} scaling from the others: the safe choice."
    if chosen == first:
        return f"Plain {first} scaling is enough: it helps beyond chance, and no other method beats it beyond chance."
    return "No method improves on the logits as given beyond chance: leave them as they are."


def notes(fits: Mapping[str, Any], validation: LogitSet, test: LogitSet) -> list[str]:
    """What a reader should know of the data and the fits: sizes, missing classes, edges, Prop. 5."""
    classes = validation.logits.shape[1]
    found = [f"{len(validation):,} rows to fit on, {len(test):,} to test on, {classes} classes."]
    if missing := sorted(set(range(classes)) - set(validation.labels.tolist())):
        found.append(
            f"Classes without a row to fit on: {', '.join(map(str, missing[:10]))}. Vector scaling guesses theirs."
        )
    for name, fit in fits.items():
        if not isinstance(fit, FocalTemperatureScaling):
            continue
        found.append(f"{name}: T = {fit.temperature_:.3f}" + (f", gamma = {fit.gamma_:.3f}." if fit.gamma_ else "."))
        edges = [
            e
            for e, v in zip(("smallest", "largest"), (min(fit.gammas), max(fit.gammas)), strict=True)
            if v == fit.gamma_
        ]
        if len(fit.gammas) > 1 and fit.search != "newton" and edges:
            found.append(f"{name}: gamma is the {edges[0]} of its grid, so a wider grid may do better.")
        if fit.gamma_ > 0:
            share = _lowered(test.logits.astype(np.float64) / fit.temperature_, fit.gamma_)
            found.append(
                f"{name}: the map lowers the top probability in {share:.1%} of the test rows (KK24 Prop. 5 says never)."
            )
    return found


def _lowered(logits: np.ndarray, gamma: float) -> float:
    """Share of rows whose largest probability the focal calibration map makes smaller."""
    return float((np.exp(focal_log_probs(logits, gamma)).max(-1) < softmax(logits, -1).max(-1)).mean())


def as_text(measured: pd.DataFrame) -> pd.DataFrame:
    """A row a method, a column a metric: 'value [low, high]'."""

    def cell(row: Any) -> str:
        digits = 3 if row.metric in ("nll", "brier") else 2
        span = "" if np.isnan(row.low) else f" [{row.low:.{digits}f}, {row.high:.{digits}f}]"
        return f"{row.value:.{digits}f}{span}"

    text = measured.assign(text=[cell(row) for row in measured.itertuples()])
    return text.pivot(index="method", columns="metric", values="text").loc[
        measured["method"].unique(), measured["metric"].unique()
    ]
