"""Tables from the runs of a grid: confidence gaps, temperatures, scaling methods compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.calibration.calibrators import FocalTemperatureScaling, TemperatureScaling
from focal_lib.metrics.bins import adaptive_ece, adaptive_ece_of
from focal_lib.metrics.intervals import bootstrap
from focal_lib.metrics.scores import nll, top_label
from focal_lib.theory.maps import focal_log_probs
from focal_lib.training.store import Result

__all__ = [
    "compare_scaling",
    "confidence_gaps",
    "mean_sd",
    "temperature_by_gamma",
    "validation_temperatures",
]


def confidence_gaps(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run and split: accuracy, confidence, gap (confidence - accuracy), ECE.

    `mapped_*` are the same after the focal calibration map with the gamma of training: the
    probabilities that the proper part sees (KK24 section 4.1).
    """
    rows = []
    for result in results:
        for split in ("train", "test"):
            part = getattr(result, split)
            row: dict[str, Any] = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}
            row["split"] = split
            for prefix, gamma in (("", 0.0), ("mapped_", result.spec.gamma)):
                probs = np.exp(focal_log_probs(part.logits.astype(np.float64), gamma))
                confidence, correct = top_label(probs, part.labels)
                row["accuracy"] = float(correct.mean())
                row[f"{prefix}confidence"] = float(confidence.mean())
                row[f"{prefix}gap"] = float(confidence.mean() - correct.mean())
                row[f"{prefix}ece"] = adaptive_ece_of(confidence, correct)
            rows.append(row)
    return pd.DataFrame(rows)


def validation_temperatures(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run: the temperature that minimises the validation NLL."""
    rows = []
    for result in results:
        fit = TemperatureScaling("nll").fit(result.validation.logits, result.validation.labels)
        rows.append(
            {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed, "T": fit.temperature_}
        )
    return pd.DataFrame(rows)


def mean_sd(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str], scale: float = 1.0) -> pd.DataFrame:
    """Text table 'mean ± standard deviation' over the other columns (seeds), three digits."""
    groups = frame.groupby(list(by), sort=False)[list(columns)]
    mean, sd = scale * groups.mean(), scale * groups.std(ddof=1)
    return mean.map("{:.2f}".format) + " ± " + sd.map("{:.2f}".format)


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return fit(), time.perf_counter() - started


def compare_scaling(results: Iterable[Result], resamples: int = 200) -> pd.DataFrame:
    """One row a run: temperature against focal temperature scaling, fitted on validation.

    Columns: test ECE (equal mass, 15 bins) before, and after each method chosen by ECE; test NLL
    after each chosen by NLL; the fits; seconds; `low`, `high`: 95 % paired bootstrap interval,
    over test samples, of ECE after focal temperature scaling minus after temperature scaling.
    """
    rows = []
    for result in results:
        validation = result.validation.logits, result.validation.labels
        logits, labels = result.test.logits.astype(np.float64), result.test.labels
        row: dict[str, Any] = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}
        row["ece"] = adaptive_ece(softmax(logits, -1), labels)
        row["nll"] = nll(softmax(logits, -1), labels)
        confidences = {}
        methods = {
            "ts": lambda data=validation: TemperatureScaling("adaptive-ece").fit(*data),
            "ts_nll": lambda data=validation: TemperatureScaling("nll").fit(*data),
            "fts": lambda data=validation: FocalTemperatureScaling("adaptive-ece").fit(*data),
            "line": lambda data=validation: FocalTemperatureScaling("adaptive-ece", "line").fit(*data),
            "fts_nll": lambda data=validation: FocalTemperatureScaling("nll", "newton").fit(*data),
        }
        for name, method in methods.items():
            fit, row[f"{name}_seconds"] = _timed(method)
            row[f"{name}_T"], row[f"{name}_gamma"] = fit.temperature_, fit.gamma_
            row[f"{name}_objective"] = fit.objective_
            probs = fit.predict_proba(logits)
            confidences[name], correct = top_label(probs, labels)
            row[f"{name}_ece"] = adaptive_ece_of(confidences[name], correct)
            row[f"{name}_nll"] = nll(probs, labels)
        interval = bootstrap(
            lambda a, b, c: adaptive_ece_of(a, c) - adaptive_ece_of(b, c),
            confidences["fts"],
            confidences["ts"],
            correct,
            resamples=resamples,
            seed=result.spec.seed,
        )
        row["difference"], row["low"], row["high"] = interval.estimate, interval.low, interval.high
        rows.append(row)
    return pd.DataFrame(rows)


def temperature_by_gamma(result: Result, gammas: Sequence[float]) -> np.ndarray:
    """For each calibration gamma, the T with the smallest validation ECE: (len(gammas),)."""
    return np.array(
        [
            FocalTemperatureScaling("adaptive-ece", gammas=(g,))
            .fit(result.validation.logits, result.validation.labels)
            .temperature_
            for g in gammas
        ]
    )
