"""Tables with a row a run: confidence gaps, temperatures, scaling methods compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import build
from focal_lib.metrics.bins import Bins, adaptive_ece_of, reliability_bins
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece_difference
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.scores import nll, top_label
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits, Result, array_checksum

_COLUMNS = ("loss", "gamma", "seed")
_GAP = ("confidence", "gap", "adaptive_ece")


def _columns(result: Result) -> dict[str, Any]:
    """What tells runs apart, in every table here."""
    return {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}


def confidence_gaps(results: Iterable[Result], splits: Sequence[str] = ("train", "test")) -> pd.DataFrame:
    """One row a run and split: accuracy, confidence, gap (confidence - accuracy), adaptive_ece, all as fractions.

    `mapped_*` are the same after the focal calibration map with the gamma of training: the
    probabilities that the proper part sees (KK24 section 4.1). They are nan of other losses than cross-entropy and
    focal loss of one gamma, which have no such map.

    Args:
        splits: recorded runs have no 'train'.
    """
    rows = []
    for result in results:
        for split in splits:
            part, row = getattr(result, split), _columns(result) | {"split": split}
            for prefix, gamma in _maps(result.spec):
                found = _gap(part, gamma)
                row["accuracy"] = found.pop("accuracy")
                row |= {f"{prefix}{name}": value for name, value in found.items()}
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=[*_COLUMNS, "split", "accuracy", *_GAP, *(f"mapped_{n}" for n in _GAP)])


def _maps(spec: Spec) -> tuple[tuple[str, float], ...]:
    """What columns begin with, and the gamma of the map before them: none, and that of training, if it has one."""
    return (("", 0.0), ("mapped_", spec.gamma)) if spec.is_focal else (("", 0.0),)


def _gap(part: Logits, gamma: float) -> dict[str, float]:
    """Accuracy, and _GAP after the map with this gamma."""
    confidence, correct = top_label(np.exp(focal_log_probs(part.logits.astype(np.float64), gamma)), part.labels)
    values = (confidence.mean(), confidence.mean() - correct.mean(), adaptive_ece_of(confidence, correct))
    return {"accuracy": float(correct.mean())} | {n: float(v) for n, v in zip(_GAP, values, strict=True)}


def validation_temperatures(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run: loss, gamma, seed, and the temperature that minimises the validation NLL.

    `mapped_temperature` is the one after the focal calibration map with the gamma of training; nan of other losses than
    cross-entropy and focal loss of one gamma, which have no such map.
    """
    rows = []
    for result in results:
        logits, labels = result.validation.logits.astype(np.float64), result.validation.labels
        row = _columns(result)
        for prefix, gamma in _maps(result.spec):
            fit = TemperatureScaling("nll").fit(focal_log_probs(logits, gamma) if gamma else logits, labels)
            row[f"{prefix}temperature"] = fit.temperature_
        rows.append(row)
    return pd.DataFrame(rows).reindex(columns=[*_COLUMNS, "temperature", "mapped_temperature"])


def nll_temperature(result: Result, calibration_gamma: float) -> float:
    """The T with the smallest validation NLL before the map with this gamma, from 0.05 to 54, to four digits."""
    logits, labels = result.validation.logits.astype(np.float64), result.validation.labels

    def loss(log_t: float) -> float:
        return float(-focal_log_probs(logits / np.exp(log_t), calibration_gamma)[np.arange(len(labels)), labels].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 4), method="bounded", options={"xatol": 1e-4}).x))


def reliability_by_loss(
    results: Iterable[Result], losses: Sequence[str], temperatures: Mapping[tuple[str, int], float] | None = None
) -> dict[str, Bins]:
    """loss -> 15 bins of equal width on test data, the samples of all seeds together.

    Args:
        losses: labels, in the order asked for.
        temperatures: (loss, seed) -> what the logits are divided by; None: by 1.

    Raises:
        ValueError: no run of a loss. KeyError: no temperature of a run.
    """
    parts: dict[str, list[Result]] = {loss: [] for loss in losses}
    for result in results:
        parts.get(result.spec.label, []).append(result)
    found = {}
    for loss, runs in parts.items():
        if not runs:
            raise ValueError(f"results must hold runs of each loss. Got none of {loss}.")
        by = [1.0 if temperatures is None else temperatures[loss, run.spec.seed] for run in runs]
        logits = [run.test.logits.astype(np.float64) / t for run, t in zip(runs, by, strict=True)]
        labels = np.concatenate([run.test.labels for run in runs])
        found[loss] = reliability_bins(softmax(np.concatenate(logits), -1), labels)
    return found


def format_mean_sd(groups: DataFrameGroupBy, digits: int = 2) -> pd.DataFrame:
    """Text table 'mean ± standard deviation' of each group, over seeds say: ``frame.groupby("loss")``.

    One value has no standard deviation and stands alone.
    """
    mean, sd = groups.mean(), groups.std(ddof=1)
    return mean.map(f"{{:.{digits}f}}".format) + sd.map(lambda one: "" if np.isnan(one) else f" ± {one:.{digits}f}")


def say_signs(table: pd.DataFrame, of: str, low: str, high: str, what: str) -> str:
    """'the NLL is lower with gamma 3, 5; not clearly other with gamma 0': by the intervals from `low` to `high`."""
    below, above = table[high] < 0, table[low] > 0
    parts = {"lower": below, "higher": above, "not clearly other": ~below & ~above}
    named = {word: ", ".join(f"{value:g}" for value in table.loc[holds, of]) for word, holds in parts.items()}
    return f"{what} is " + "; ".join(f"{word} with {of} {values}" for word, values in named.items() if values)


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


def compare_scaling(results: Iterable[Result], scalings: Sequence[Fit] = FITS) -> pd.DataFrame:
    """One row a run and scaling: temperature and focal temperature scaling, fitted on validation, judged on test.

    Columns: loss, gamma, seed; method, objective, search; temperature and calibration_gamma of the fit, the objective's
    value on validation, seconds of the fit; adaptive_ece and nll on test.
    """
    rows = [_columns(result) | _fitted(key, result, scaling) for key, result in _keyed(results) for scaling in scalings]
    return pd.DataFrame(rows)


def count_on_validation(scaled: pd.DataFrame) -> dict[str, int]:
    """Runs whose validation adaptive ECE focal temperature scaling leaves lower, equal (to 1e-12), higher.

    Both scalings by grid, focal temperature scaling against a temperature alone. It may be higher: KK24's gammas
    (section 5.1) have no 0, so that a temperature alone is not among the pairs of gamma and T.

    Args:
        scaled: of `compare_scaling`.

    Raises:
        ValueError: a run that lacks either of the two fits.
    """
    of_grid = scaled[(scaled["objective"] == "adaptive-ece") & (scaled["search"] == "grid")]
    wide = of_grid.pivot(index=["loss", "gamma", "seed"], columns="method", values="value")
    wide = wide.reindex(columns=["focal-temperature", "temperature"])
    if wide.isna().to_numpy().any():
        raise ValueError(f"each run must have both fits by adaptive ECE on the grid. Got\n{wide}")
    change = wide["focal-temperature"] - wide["temperature"]
    lower, higher = int((change < -1e-12).sum()), int((change > 1e-12).sum())
    return {"lower": lower, "equal": len(change) - lower - higher, "higher": higher}


_FITTED: dict[tuple[str, Fit], dict[str, Any]] = {}  # a page and the claims it shows ask for the same fits
_CALIBRATORS: dict[tuple[str, Fit], tuple[Calibrator, float]] = {}  # other tables ask for some of them, too
_TEMPERATURES: dict[tuple[str, float], float] = {}


def _keyed(results: Iterable[Result]) -> Iterator[tuple[str, Result]]:
    for result in results:
        arrays = {"validation": result.validation.logits, "test": result.test.logits}
        yield f"{result.spec.digest} {array_checksum(arrays)}", result


def _fitted(key: str, result: Result, scaling: Fit) -> dict[str, Any]:
    """The fit of one scaling to one run, made when it is first asked for."""
    if (key, scaling) not in _FITTED:
        _FITTED[key, scaling] = scaling._asdict() | _fit_and_judge(result, scaling)
    return _FITTED[key, scaling]


def _fit_and_judge(result: Result, scaling: Fit) -> dict[str, Any]:
    logits, labels = result.test.logits.astype(np.float64), result.test.labels
    if scaling.method == "none":
        chosen = {"temperature": 1.0, "calibration_gamma": 0.0, "value": np.nan, "seconds": 0.0}
        return chosen | _judge(softmax(logits, -1), labels)
    fit, seconds = fit_scaling(result, scaling)
    chosen = {"temperature": fit.temperature_, "calibration_gamma": getattr(fit, "gamma_", 0.0)}
    return chosen | {"value": fit.objective_, "seconds": seconds} | _judge(fit.predict_proba(logits), labels)


def fit_scaling(result: Result, scaling: Fit) -> tuple[Any, float]:
    """The calibrator of a scaling, not 'none', fitted to a run's validation data when first asked for; its seconds."""
    key = array_checksum({"logits": result.validation.logits, "labels": result.validation.labels}), scaling
    if key not in _CALIBRATORS:
        started = time.perf_counter()
        fit = build_scaling(*scaling).fit(result.validation.logits, result.validation.labels)
        _CALIBRATORS[key] = fit, time.perf_counter() - started
    return _CALIBRATORS[key]


def build_scaling(method: str, objective: str, search: str) -> Calibrator:
    """The calibrator of a `Fit`, with KK24's gammas."""
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
    (one, correct), (two, _) = (top_after(result, scaling) for scaling in (pair, other))
    return bootstrap_adaptive_ece_difference((one, correct), (two, correct), resamples=resamples, seed=result.spec.seed)


def top_after(result: Result, pair: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and correctness on test, `top_label`, after a (calibration gamma, temperature)."""
    gamma, temperature = pair
    scaled = result.test.logits.astype(np.float64) / temperature
    return top_label(np.exp(focal_log_probs(scaled, gamma)), result.test.labels)


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


def temperature_by_gamma(result: Result, gammas: Sequence[float]) -> np.ndarray:
    """For each calibration gamma, the T with the smallest adaptive ECE on validation: (len(gammas),)."""
    ((key, _),) = _keyed([result])
    for gamma in gammas:
        if (key, gamma) not in _TEMPERATURES:
            fit = FocalTemperatureScaling("adaptive-ece", gammas=(gamma,))
            _TEMPERATURES[key, gamma] = fit.fit(result.validation.logits, result.validation.labels).temperature_
    return np.array([_TEMPERATURES[key, gamma] for gamma in gammas])
