"""Calibration methods compared on one model's logits: metrics with intervals, differences that are real or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from torch import Tensor

from focal_lib.calibration.calibrators import (
    WIDE_GAMMAS,
    BetaCalibration,
    DirichletCalibration,
    FocalTemperatureScaling,
    HistogramBinning,
    IsotonicCalibration,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from focal_lib.calibration.logits_file import LogitSet
from focal_lib.metrics.bins import adaptive_ece_of, class_gaps
from focal_lib.metrics.ece_interval import adaptive_ece_interval, ece_interval, interval_of_class_gaps, mce_interval
from focal_lib.metrics.intervals import Interval, bootstrap
from focal_lib.metrics.samples import Samples
from focal_lib.metrics.scores import SampleScores, sample_scores
from focal_lib.metrics.smooth import smooth_ece_of

__all__ = [
    "BEFORE",
    "DEFAULT",
    "METHODS",
    "Evaluation",
    "as_text",
    "compare",
    "cross_fit",
    "differences",
    "differences_as_text",
    "from_text",
    "hold_out",
    "named",
]

BEFORE = "as given"
METHODS: dict[str, Callable[[], Any]] = {
    "temperature": lambda: TemperatureScaling("nll"),
    "focal temperature": lambda: FocalTemperatureScaling("nll", "newton"),
    "focal temperature by ECE": lambda: FocalTemperatureScaling("adaptive-ece", gammas=WIDE_GAMMAS),
    "vector": lambda: VectorScaling(l2=1e-3),
    "matrix": lambda: MatrixScaling(l2=1e-3),
    "histogram binning": HistogramBinning,
    "isotonic": IsotonicCalibration,
    "beta": BetaCalibration,
    "Dirichlet": lambda: DirichletCalibration(C=0.01),
}
DEFAULT = ("temperature", "focal temperature", "focal temperature by ECE", "vector")
_DRAWN = 4e8  # rows that all resamples of one statistic may have together: of large test sets there are fewer resamples


def named(names: Sequence[str] = DEFAULT, shrinkage: float = 0.0) -> dict[str, Any]:
    """Fresh calibrators by name; temperature scaling, with which the others are compared, is always the first.

    Args:
        shrinkage: of gamma, where a method has it.

    Raises:
        ValueError: an unknown name.
    """
    if unknown := sorted(set(names) - set(METHODS)):
        raise ValueError(f"methods must be among {', '.join(METHODS)}. Got {', '.join(unknown)}.")
    found = {name: METHODS[name]() for name in METHODS if name == "temperature" or name in names}
    for method in found.values():
        if "shrinkage" in method.get_params():
            method.set_params(shrinkage=shrinkage)
    return found


def from_text(text: str, shrinkage: float = 0.0) -> dict[str, Any]:
    """`named` of 'name, name', of 'all', or of '' for the default; errors as there."""
    if text == "all":
        return named(tuple(METHODS), shrinkage)
    names = [name.strip() for name in text.split(",") if name.strip()]
    return named(names or DEFAULT, shrinkage)


@dataclass(frozen=True)
class Evaluation:
    """Methods fitted, and what their probabilities score on rows that they have not seen.

    Attributes:
        fits: each method, fitted on all rows there are to fit on.
        scores: of each row to test on, for BEFORE and each method, in the same order of rows.
        classwise: classwise ECE of each.
        lowered: share of the rows to test on whose top probability the focal calibration map makes smaller.
        rows, tested, classes: numbers of rows to fit on, of rows to test on, of classes.
        missing: classes without a row to fit on.
        folds: of cross-fitting; 0 where the sets are different.
    """

    fits: dict[str, Any]
    scores: dict[str, SampleScores]
    classwise: dict[str, Interval]
    lowered: dict[str, float]
    rows: int
    tested: int
    classes: int
    missing: tuple[int, ...]
    folds: int = 0


def hold_out(validation: LogitSet, test: LogitSet, methods: Mapping[str, Any] | None = None) -> Evaluation:
    """Fit on the one set, score on the other.

    Raises:
        ValueError: bad data, see the calibrators.
    """
    fits = _fitted(named() if methods is None else methods, validation)
    return _evaluation(fits, [(fits, test)], validation)


def cross_fit(whole: LogitSet, methods: Mapping[str, Any] | None = None, folds: int = 5, seed: int = 0) -> Evaluation:
    """Each row is scored by methods fitted on the other folds; the fits to keep are those on all rows.

    Raises:
        ValueError: fewer than 2 folds, or more than rows of the most frequent class; all rows but one of one class.
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2. Got {folds}.")
    *_, second, most = sorted((0, *np.bincount(whole.labels).tolist()))
    if folds > most:
        raise ValueError(f"folds must be at most {most}, the rows of the most frequent class. Got {folds}.")
    if second < 2:
        raise ValueError(f"two classes must have at least 2 rows each for folds. Got {second} of the second.")
    methods = named() if methods is None else methods
    cuts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(whole.labels, whole.labels)
    parts = [(_fitted(methods, whole.take(fit)), whole.take(test)) for fit, test in cuts]
    return _evaluation(_fitted(methods, whole), parts, whole, folds)


def _fitted(methods: Mapping[str, Any], data: LogitSet) -> dict[str, Any]:
    return {name: clone(method).fit(data.logits, data.labels) for name, method in methods.items()}


def _evaluation(
    fits: dict[str, Any], parts: list[tuple[dict[str, Any], LogitSet]], fitted_on: LogitSet, folds: int = 0
) -> Evaluation:
    """From the fits to keep, and the (fits, rows to test on) of each part."""
    scores, classwise, lowered = {}, {}, {}
    for name in (BEFORE, *fits):
        chunks = [chunk for own, data in parts for chunk in _scored(own.get(name), data)]
        found, gaps, low = zip(*chunks, strict=True)
        scores[name] = SampleScores.joined(found)
        n = len(scores[name].correct)
        sums, squares, expected = np.sum(gaps, axis=0)
        classwise[name] = interval_of_class_gaps(sums, squares, expected, n)
        if getattr(fits.get(name), "gamma_", 0.0):
            lowered[name] = sum(low) / n
    missing = set(range(fitted_on.classes)) - set(np.unique(fitted_on.labels).tolist())
    return Evaluation(
        fits, scores, classwise, lowered, len(fitted_on), n, fitted_on.classes, tuple(sorted(missing)), folds
    )


def _scored(fit: Any, data: LogitSet) -> list[tuple[SampleScores, tuple[np.ndarray, ...], int]]:
    """Scores, sums of class gaps, and number of rows the map lowers, chunk by chunk."""

    def chunk(z: Tensor, y: Tensor) -> tuple[SampleScores, tuple[np.ndarray, ...], int]:
        log_p = torch.log_softmax(z, -1) if fit is None else fit.predict_log_proba(z)
        p = log_p.exp()
        *gaps, _ = class_gaps(p, y)
        log_loss = -log_p.gather(-1, y[:, None])[:, 0].numpy()  # p may underflow, log p does not
        scores, lowered = replace(sample_scores(p, y), log_loss=log_loss), 0
        if getattr(fit, "gamma_", 0.0):
            before = torch.softmax(z / fit.temperature_, -1).amax(-1)
            lowered = int(np.count_nonzero(scores.confidence < before.numpy()))
        return scores, tuple(gaps), lowered

    return Samples(data.logits, data.labels).map(chunk)


# --- metrics and differences -----------------------------------------------------------


def compare(evaluation: Evaluation, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """A row a method and metric: value and 95 % interval over rows. Errors and ECEs in per cent.

    Intervals of error, NLL and Brier score are percentile bootstrap; those of the binned errors invert a simulated
    test, since their bootstrap does not cover (focal_lib.ece_interval). Of the smooth ECE none is given.
    """
    rows = []
    for name, scores in evaluation.scores.items():
        c, k = scores.confidence, scores.correct
        found = {
            "error": _mean_interval(100 * (1 - k), resamples, seed),
            "nll": _mean_interval(scores.log_loss, resamples, seed),
            "brier": _mean_interval(scores.brier, resamples, seed),
            "ece": _per_cent(ece_interval(c, k)),
            "adaptive-ece": _per_cent(adaptive_ece_interval(c, k)),
            "classwise-ece": _per_cent(evaluation.classwise[name]),
            "smooth-ece": Interval(100 * smooth_ece_of(c, k), np.nan, np.nan),
            "mce": _per_cent(mce_interval(c, k)),
        }
        rows += [(name, metric, i.estimate, i.low, i.high) for metric, i in found.items()]
    return pd.DataFrame(rows, columns=["method", "metric", "value", "low", "high"])


def _per_cent(interval: Interval) -> Interval:
    return Interval(100 * interval.estimate, 100 * interval.low, 100 * interval.high)


def _mean_interval(values: np.ndarray, resamples: int, seed: int) -> Interval:
    if not np.isfinite(values).all():  # a label of probability 0
        return Interval(float(values.mean()), np.nan, np.nan)
    return bootstrap(lambda v: float(v.mean()), values, resamples=_affordable(resamples, len(values)), seed=seed)


def _affordable(resamples: int, n: int) -> int:
    return int(max(50, min(resamples, _DRAWN // n)))


def differences(evaluation: Evaluation, resamples: int = 1000, level: float = 0.95, seed: int = 0) -> pd.DataFrame:
    """Equal-mass ECE (per cent) and NLL: each method minus none, and each minus the first, paired over rows.

    `p` is two-sided from the bootstrap's standard error; `real` says whether it stays below 1 - level after Holm's
    correction for the number of rows. A method that gives a label probability 0 has an infinite NLL: no chance there.
    """
    first = next(iter(evaluation.fits))
    pairs = [(name, BEFORE) for name in evaluation.fits] + [(name, first) for name in evaluation.fits if name != first]
    count = _affordable(resamples, evaluation.tested)
    rows = []
    for one, two in pairs:
        a, b = evaluation.scores[one], evaluation.scores[two]
        of_ece = bootstrap(
            _ece_difference, a.confidence, b.confidence, a.correct, b.correct, resamples=count, seed=seed
        )
        with np.errstate(invalid="ignore"):
            gap = a.log_loss - b.log_loss
        of_nll = _mean_interval(gap, count, seed)
        for metric, spread in (("adaptive-ece", of_ece), ("nll", of_nll)):
            rows.append((one, two, metric, spread.estimate, spread.low, spread.high, _p_value(spread, level)))
    found = pd.DataFrame(rows, columns=["method", "against", "metric", "difference", "low", "high", "p"])
    return found.assign(real=_holm(found["p"].to_numpy(), 1 - level))


def _ece_difference(c: np.ndarray, d: np.ndarray, k: np.ndarray, m: np.ndarray) -> float:
    return 100 * (adaptive_ece_of(c, k) - adaptive_ece_of(d, m))


def _p_value(spread: Interval, level: float) -> float:
    if np.isinf(spread.estimate):
        return 0.0
    error = (spread.high - spread.low) / (2 * norm.ppf((1 + level) / 2))
    known = error > 1e-9 * abs(spread.estimate)  # else rounding: all rows alike, too few to say anything
    return float(2 * norm.sf(abs(spread.estimate) / error)) if known else 1.0


def _holm(p: np.ndarray, level: float) -> np.ndarray:
    """Which hypotheses fall, the smallest p against level / m, the next against level / (m - 1), ..."""
    order = np.argsort(p)
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    real = np.zeros(len(p), dtype=bool)
    real[order] = np.logical_and.accumulate(passed)
    return real


def as_text(measured: pd.DataFrame) -> pd.DataFrame:
    """A row a method, a column a metric: 'value [low, high]'."""
    columns = zip(measured["metric"], measured["value"], measured["low"], measured["high"], strict=True)
    text = measured.assign(text=[_cell(*row) for row in columns])
    return text.pivot(index="method", columns="metric", values="text").loc[
        measured["method"].unique(), measured["metric"].unique()
    ]


def differences_as_text(found: pd.DataFrame) -> pd.DataFrame:
    """A row a pair of methods, a column a metric: 'difference [low, high]', with 'real' where it is."""
    columns = zip(found["metric"], found["difference"], found["low"], found["high"], found["real"], strict=True)
    text = found.assign(text=[_cell(m, d, low, high) + " real" * real for m, d, low, high, real in columns])
    pairs = pd.MultiIndex.from_frame(found[["method", "against"]].drop_duplicates())
    return text.pivot(index=["method", "against"], columns="metric", values="text").loc[pairs, found["metric"].unique()]


def _cell(metric: str, value: float, low: float, high: float) -> str:
    digits = 3 if metric in ("nll", "brier") else 2
    span = "" if np.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{value:.{digits}f}{span}"
