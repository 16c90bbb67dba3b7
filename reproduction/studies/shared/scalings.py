"""Temperature against focal temperature scaling on runs: what each finds, and what it gains on test samples.

OMP_NUM_THREADS=1 python -m reproduction.studies.shared.scalings  # results/fashion-mnist/scalings.parquet
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS
from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES
from focal_lib.calibration.methods import build
from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.scores import nll, top_label
from focal_lib.theory.maps import focal_log_probs
from reproduction.checkout import ROOT
from reproduction.engine.store import Result, array_checksum
from reproduction.studies.shared.over_seeds import write_table
from reproduction.studies.shared.recorded import BOOK, load_recorded


class Fit(NamedTuple):
    """A way to fit temperature or focal temperature scaling; 'none' is the run as trained."""

    method: str
    objective: str
    search: str


FITS = (
    Fit("none", "", ""),
    Fit("temperature", "nll", "newton"),
    Fit("focal-temperature", "nll", "newton"),
    Fit("temperature", "adaptive-ece", "grid"),
    Fit("focal-temperature", "adaptive-ece", "grid"),
    Fit("focal-temperature", "adaptive-ece", "line"),
)
_FITTED: dict[tuple[Any, ...], tuple[Any, float]] = {}  # a page and the claims it shows ask for the same fits


def _fitted(result: Result, method: str, objective: str, **options: Any) -> tuple[Any, float]:
    """A calibrator fitted to a run's validation data when first asked for, and the seconds it took."""
    data = array_checksum({"logits": result.validation.logits, "labels": result.validation.labels})
    key = (data, method, objective, *options.items())
    if key not in _FITTED:
        started = time.perf_counter()
        fit = build(method, objective, **options).fit(result.validation.logits, result.validation.labels)
        _FITTED[key] = fit, time.perf_counter() - started
    return _FITTED[key]


def fit_scaling(result: Result, scaling: Fit) -> tuple[Any, float]:
    """The calibrator of a scaling, not 'none', with KK24's gammas, fitted to a run's validation data; its seconds."""
    own = {"gammas": PAPER_GAMMAS, "search": scaling.search} if scaling.method == "focal-temperature" else {}
    return _fitted(result, scaling.method, scaling.objective, **own)


def predict(result: Result, scaling: Fit) -> np.ndarray:
    """Probabilities (n, K) of a run's test samples, after a scaling."""
    logits = result.test.logits.astype(np.float64)
    if scaling.method == "none":
        return softmax(logits, -1)
    probs: np.ndarray = fit_scaling(result, scaling)[0].predict_proba(logits)
    return probs


def compare_scaling(results: Iterable[Result], scalings: Sequence[Fit] = FITS) -> pd.DataFrame:
    """One row a run and scaling: temperature and focal temperature scaling, fitted on validation, judged on test.

    Columns: loss, gamma, seed; method, objective, search; temperature and calibration_gamma of the fit, the objective's
    value on validation, seconds of the fit; adaptive_ece and nll on test.
    """
    rows = []
    for result in results:
        run = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}
        for scaling in scalings:
            chosen = {"temperature": 1.0, "calibration_gamma": 0.0, "value": np.nan, "seconds": 0.0}
            probs, labels = predict(result, scaling), result.test.labels
            if scaling.method != "none":
                fit, seconds = fit_scaling(result, scaling)
                chosen |= {"temperature": fit.temperature_, "calibration_gamma": getattr(fit, "gamma_", 0.0)}
                chosen |= {"value": fit.objective_, "seconds": seconds}
            judged = {"adaptive_ece": adaptive_ece_of(*top_label(probs, labels)), "nll": nll(probs, labels)}
            rows.append(run | scaling._asdict() | chosen | judged)
    return pd.DataFrame(rows)


def m20_temperature(result: Result) -> float:
    """M20's optimal temperature, section 6: the least validation ECE (equal width), from 0.1 to 10 in steps of 0.1."""
    return float(_fitted(result, "temperature", "ece", temperatures=M20_TEMPERATURES)[0].temperature_)


def nll_temperature(result: Result, calibration_gamma: float) -> float:
    """The T with the smallest validation NLL before the map with this gamma, from 0.05 to 54, to four digits."""
    logits, labels = result.validation.logits.astype(np.float64), result.validation.labels

    def loss(log_t: float) -> float:
        return float(-focal_log_probs(logits / np.exp(log_t), calibration_gamma)[np.arange(len(labels)), labels].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 4), method="bounded", options={"xatol": 1e-4}).x))


def temperature_by_gamma(result: Result, gammas: Sequence[float]) -> np.ndarray:
    """For each calibration gamma, the T with the smallest adaptive ECE on validation: (len(gammas),)."""
    fits = (_fitted(result, "focal-temperature", "adaptive-ece", gammas=(gamma,))[0] for gamma in gammas)
    return np.array([fit.temperature_ for fit in fits])


def temperature_lines(runs: Iterable[Result], gammas: Sequence[float]) -> dict[str, np.ndarray]:
    """Loss -> `temperature_by_gamma` of its first seed: cross-entropy and focal losses of a fixed gamma, by gamma."""
    plain = sorted((run for run in runs if run.spec.is_focal), key=lambda run: (run.spec.gamma, run.spec.seed))
    first = {run.spec.label: run for run in reversed(plain)}
    return {label: temperature_by_gamma(run, gammas) for label, run in reversed(first.items())}


def straightness(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Of points and their least-squares line: R^2, nan where all y are the same; the largest distance in y."""
    given = np.asarray(y, dtype=np.float64)
    left = given - np.polyval(np.polyfit(x, given, 1), x)
    spread = float(((given - given.mean()) ** 2).sum())
    return (1 - float((left**2).sum()) / spread if spread else np.nan), float(np.abs(left).max())


if __name__ == "__main__":
    write_table(compare_scaling(load_recorded(BOOK)), ROOT / "results" / BOOK / "scalings.parquet")
