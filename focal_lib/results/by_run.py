"""Tables with a row a run: confidence gaps, temperatures, scaling methods compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy
from scipy.special import softmax

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import build
from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece_difference
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.scores import nll, top_label
from focal_lib.theory.maps import focal_log_probs
from focal_lib.training.store import Result, array_checksum

__all__ = [
    "compare_scaling",
    "confidence_gaps",
    "format_mean_sd",
    "resample_gain",
    "temperature_by_gamma",
    "validation_temperatures",
]


def _columns(result: Result) -> dict[str, Any]:
    """What tells runs apart, in every table here."""
    return {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}


def confidence_gaps(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run and split: accuracy, confidence, gap (confidence - accuracy), adaptive_ece, all as fractions.

    `mapped_*` are the same after the focal calibration map with the gamma of training: the
    probabilities that the proper part sees (KK24 section 4.1).
    """
    rows = []
    for result in results:
        for split in ("train", "test"):
            part = getattr(result, split)
            row = _columns(result) | {"split": split}
            for prefix, gamma in (("", 0.0), ("mapped_", result.spec.gamma)):
                probs = np.exp(focal_log_probs(part.logits.astype(np.float64), gamma))
                confidence, correct = top_label(probs, part.labels)
                row["accuracy"] = float(correct.mean())
                row[f"{prefix}confidence"] = float(confidence.mean())
                row[f"{prefix}gap"] = float(confidence.mean() - correct.mean())
                row[f"{prefix}adaptive_ece"] = adaptive_ece_of(confidence, correct)
            rows.append(row)
    return pd.DataFrame(rows)


def validation_temperatures(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run: loss, gamma, seed, and the temperature that minimises the validation NLL."""
    rows = []
    for result in results:
        fit = TemperatureScaling("nll").fit(result.validation.logits, result.validation.labels)
        rows.append(_columns(result) | {"temperature": fit.temperature_})
    return pd.DataFrame(rows)


def format_mean_sd(groups: DataFrameGroupBy, digits: int = 2) -> pd.DataFrame:
    """Text table 'mean ± standard deviation' of each group, over seeds say: ``frame.groupby("loss")``."""
    mean, sd = groups.mean(), groups.std(ddof=1)
    return mean.map(f"{{:.{digits}f}}".format) + " ± " + sd.map(f"{{:.{digits}f}}".format)


# (method, objective, search)
_FITS = (
    ("temperature", "nll", "newton"),
    ("focal-temperature", "nll", "newton"),
    ("temperature", "adaptive-ece", "grid"),
    ("focal-temperature", "adaptive-ece", "grid"),
    ("focal-temperature", "adaptive-ece", "line"),
)


def compare_scaling(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run and scaling: temperature and focal temperature scaling, fitted on validation, judged on test.

    Columns: loss, gamma, seed; method, objective, search; temperature and calibration_gamma of the fit, the objective's
    value on validation, seconds of the fit; adaptive_ece and nll on test. The method 'none' is the run as trained.
    """
    return pd.DataFrame([row for result in results for row in _compared(result)])


_COMPARED: dict[str, list[dict[str, Any]]] = {}  # a page and the claims it shows ask for the same fits


def _compared(result: Result) -> list[dict[str, Any]]:
    arrays = {"validation": result.validation.logits, "test": result.test.logits}
    key = f"{result.spec.digest} {array_checksum(arrays)}"
    if key not in _COMPARED:
        _COMPARED[key] = list(_compare(result))
    return _COMPARED[key]


def _compare(result: Result) -> Iterator[dict[str, Any]]:
    logits, labels = result.test.logits.astype(np.float64), result.test.labels
    run = _columns(result)
    chosen = {"method": "none", "objective": "", "search": "", "temperature": 1.0, "calibration_gamma": 0.0}
    yield run | chosen | {"value": np.nan, "seconds": 0.0} | _judge(softmax(logits, -1), labels)
    for method, objective, search in _FITS:
        started = time.perf_counter()
        fit: Any = _scaling(method, objective, search).fit(result.validation.logits, result.validation.labels)
        seconds = time.perf_counter() - started
        chosen = {"method": method, "objective": objective, "search": search, "temperature": fit.temperature_}
        chosen |= {"calibration_gamma": getattr(fit, "gamma_", 0.0), "value": fit.objective_, "seconds": seconds}
        yield run | chosen | _judge(fit.predict_proba(logits), labels)


def _scaling(method: str, objective: str, search: str) -> Calibrator:
    """With KK24's grid."""
    own = {"gammas": PAPER_GAMMAS, "search": search} if method == "focal-temperature" else {}
    return build(method, objective, **own)


def _judge(probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {"adaptive_ece": adaptive_ece_of(*top_label(probs, labels)), "nll": nll(probs, labels)}


def resample_gain(
    result: Result, pair: tuple[float, float], other: tuple[float, float], *, resamples: int = 200
) -> Interval:
    """Adaptive ECE on test with one (calibration gamma, temperature), minus that with another, drawing test samples.

    A resampled ECE is larger than the ECE, on either side of the difference, so the interval is a guide.
    """
    logits, labels = result.test.logits.astype(np.float64), result.test.labels
    (one, correct), (two, _) = (
        top_label(np.exp(focal_log_probs(logits / temperature, gamma)), labels) for gamma, temperature in (pair, other)
    )
    return bootstrap_adaptive_ece_difference((one, correct), (two, correct), resamples=resamples, seed=result.spec.seed)


def temperature_by_gamma(result: Result, gammas: Sequence[float]) -> np.ndarray:
    """For each calibration gamma, the T with the smallest adaptive ECE on validation: (len(gammas),)."""
    return np.array(
        [
            FocalTemperatureScaling("adaptive-ece", gammas=(g,))
            .fit(result.validation.logits, result.validation.labels)
            .temperature_
            for g in gammas
        ]
    )
