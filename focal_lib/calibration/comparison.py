"""Calibration methods compared on one model's logits: metrics with intervals, differences tested for significance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.bins import ClassGaps, sum_class_gaps
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece_difference
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval_of,
    classwise_ece_interval_of,
    ece_interval_of,
    mce_interval_of,
)
from focal_lib.metrics.intervals import Interval, bootstrap_draws
from focal_lib.metrics.samples import Samples
from focal_lib.metrics.scores import SampleScores, sample_scores
from focal_lib.metrics.smooth import smooth_ece_of

__all__ = ["Evaluation", "cross_fit", "differences", "hold_out", "measure"]

_DRAWN = 4e8  # samples that all resamples of one statistic may have together: of large test sets there are fewer


@dataclass(frozen=True)
class Evaluation:
    """Methods fitted, and what their probabilities score on samples that they have not seen.

    Attributes:
        fits: each method, fitted on all samples there are to fit on.
        scores: of each sample to test on, for AS_GIVEN and each method, in the same order.
        classwise: classwise ECE of each.
        lowered: share of the samples to test on whose top probability the focal calibration map makes smaller.
        n_fit, n_test, n_classes: numbers of samples to fit on, of samples to test on, of classes.
        unseen: classes without a sample to fit on.
        folds: of cross-fitting; 0 where the sets are different.
    """

    fits: dict[Method, Calibrator]
    scores: dict[Method, SampleScores]
    classwise: dict[Method, Interval]
    lowered: dict[Method, float]
    n_fit: int
    n_test: int
    n_classes: int
    unseen: tuple[int, ...]
    folds: int = 0


def hold_out(validation: LogitSet, test: LogitSet, methods: Mapping[Method, Calibrator]) -> Evaluation:
    """Fit on the one set, score on the other.

    Args:
        methods: calibrators, which stay as they are; the first is what the others are compared with.

    Raises:
        ValueError: bad data, see the calibrators.
    """
    fits = _fitted(methods, validation)
    return _evaluation(fits, [(fits, test)], validation)


def cross_fit(whole: LogitSet, methods: Mapping[Method, Calibrator], *, folds: int = 5, seed: int = 0) -> Evaluation:
    """Each sample is scored by methods fitted on the other folds; the fits to keep are those on all samples.

    Raises:
        ValueError: fewer than 2 folds, or more than samples of the most frequent class; all samples but one of one
            class.
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2. Got {folds}.")
    *_, second, most = sorted((0, *np.bincount(whole.labels).tolist()))
    if folds > most:
        raise ValueError(f"folds must be at most {most}, the samples of the most frequent class. Got {folds}.")
    if second < 2:
        raise ValueError(f"two classes must have at least 2 samples each for folds. Got {second} of the second.")
    cuts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(whole.labels, whole.labels)
    parts = [(_fitted(methods, whole.take(fit)), whole.take(test)) for fit, test in cuts]
    return _evaluation(_fitted(methods, whole), parts, whole, folds)


def _fitted(methods: Mapping[Method, Calibrator], data: LogitSet) -> dict[Method, Calibrator]:
    return {method: clone(calibrator).fit(data.logits, data.labels) for method, calibrator in methods.items()}


def _evaluation(
    fits: dict[Method, Calibrator],
    parts: list[tuple[dict[Method, Calibrator], LogitSet]],
    fitted_on: LogitSet,
    folds: int = 0,
) -> Evaluation:
    """From the fits to keep, and the (fits, samples to test on) of each part."""
    scores, classwise, lowered = {}, {}, {}
    for method in (AS_GIVEN, *fits):
        chunks = [chunk for own, data in parts for chunk in _scored(own.get(method), data)]
        found, gaps, low = zip(*chunks, strict=True)
        scores[method] = SampleScores.concatenate(found)
        n = len(scores[method].correct)
        gap, square, variance = np.sum(gaps, axis=0)
        classwise[method] = classwise_ece_interval_of(ClassGaps(gap, square, variance, n))
        if getattr(fits.get(method), "gamma_", 0.0):
            lowered[method] = sum(low) / n
    unseen = set(range(fitted_on.classes)) - set(np.unique(fitted_on.labels).tolist())
    return Evaluation(
        fits, scores, classwise, lowered, len(fitted_on), n, fitted_on.classes, tuple(sorted(unseen)), folds
    )


def _scored(fit: Any, data: LogitSet) -> list[tuple[SampleScores, tuple[np.ndarray, ...], int]]:
    """Scores, sums of class gaps, and number of samples whose top probability the map lowers, chunk by chunk."""

    def chunk(z: Tensor, y: Tensor) -> tuple[SampleScores, tuple[np.ndarray, ...], int]:
        log_p = torch.log_softmax(z, -1) if fit is None else fit.predict_log_proba(z)
        p = log_p.exp()
        *gaps, _ = sum_class_gaps(p, y)
        log_loss = -log_p.gather(-1, y[:, None])[:, 0].numpy()  # p may underflow, log p does not
        scores, lowered = replace(sample_scores(p, y), log_loss=log_loss), 0
        if getattr(fit, "gamma_", 0.0):
            before = torch.softmax(z / fit.temperature_, -1).amax(-1)
            lowered = int(np.count_nonzero(scores.confidence < before.numpy()))
        return scores, tuple(gaps), lowered

    return Samples(data.logits, data.labels).map(chunk)


# --- metrics and differences -----------------------------------------------------------


def measure(evaluation: Evaluation, *, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """For each method and metric the value, its 95 % interval and how that was made, in the units of METRICS.

    Intervals of error, NLL and Brier score are percentile bootstrap; those of the binned errors invert a simulated
    test, since their bootstrap does not cover (focal_lib.metrics.ece_interval). Of the smooth ECE none is given.
    """
    rows = []
    for method, scores in evaluation.scores.items():
        found = {
            "error": _mean_interval(1 - scores.correct, resamples, seed),
            "nll": _mean_interval(scores.log_loss, resamples, seed),
            "brier": _mean_interval(scores.brier, resamples, seed),
            "ece": ece_interval_of(scores.confidence, scores.correct),
            "adaptive-ece": adaptive_ece_interval_of(scores.confidence, scores.correct),
            "classwise-ece": evaluation.classwise[method],
            "smooth-ece": Interval(smooth_ece_of(scores.confidence, scores.correct), np.nan, np.nan),
            "mce": mce_interval_of(scores.confidence, scores.correct),
        }
        for name, metric in METRICS.items():
            i = found[name].scaled(metric.unit)
            rows.append((*method, name, i.estimate, i.low, i.high, i.kind))
    return pd.DataFrame(rows, columns=["method", "objective", "metric", "value", "low", "high", "interval"])


def _mean_interval(values: np.ndarray, resamples: int, seed: int) -> Interval:
    if not np.isfinite(values).all():  # a label of probability 0
        return Interval(float(values.mean()), np.nan, np.nan)
    count = _affordable(resamples, len(values))
    return bootstrap_draws(lambda draws: values[draws].mean(-1), len(values), resamples=count, seed=seed)


def _affordable(resamples: int, n: int) -> int:
    return int(max(50, min(resamples, _DRAWN // n)))


def differences(evaluation: Evaluation, *, resamples: int = 1000, level: float = 0.05, seed: int = 0) -> pd.DataFrame:
    """Adaptive ECE (equal mass, per cent) and NLL: each method minus AS_GIVEN and minus the first, over same samples.

    `p` is two-sided from the standard error that the 95 % interval of the percentile bootstrap implies. `significant`
    says whether it is at that level after Holm's correction for all the rows. A method that gives a label probability
    0 has an infinite NLL, and p = 0.
    """
    first = next(iter(evaluation.fits))
    others = [method for method in evaluation.fits if method != first]
    count = _affordable(resamples, evaluation.n_test)
    rows = []
    for one, two in [(method, AS_GIVEN) for method in evaluation.fits] + [(method, first) for method in others]:
        a, b = evaluation.scores[one], evaluation.scores[two]
        ece = bootstrap_adaptive_ece_difference(
            (a.confidence, a.correct), (b.confidence, b.correct), resamples=count, seed=seed
        )
        with np.errstate(invalid="ignore"):
            gap = a.log_loss - b.log_loss
        nll = _mean_interval(gap, count, seed)
        for name, spread in (("adaptive-ece", ece), ("nll", nll)):
            i = spread.scaled(METRICS[name].unit)
            rows.append((*one, two.name, name, i.estimate, i.low, i.high, i.kind, _p_value(spread)))
    columns = ["method", "objective", "reference", "metric", "difference", "low", "high", "interval", "p"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(significant=_holm(found["p"].to_numpy(), level))


def _p_value(spread: Interval) -> float:
    if np.isinf(spread.estimate):
        return 0.0
    error = (spread.high - spread.low) / (2 * norm.ppf((1 + spread.level) / 2))
    known = error > 1e-9 * abs(spread.estimate)  # else rounding: all samples alike, too few to say anything
    return float(2 * norm.sf(abs(spread.estimate) / error)) if known else 1.0


def _holm(p: np.ndarray, level: float) -> np.ndarray:
    """Which hypotheses fall, the smallest p against level / m, the next against level / (m - 1), ..."""
    order = np.argsort(p)
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    significant = np.zeros(len(p), dtype=bool)
    significant[order] = np.logical_and.accumulate(passed)
    return significant
