"""Calibration methods compared on one model's logits: metrics with intervals, differences tested for significance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.metrics.bins import ClassGaps, adaptive_ece_of, sum_class_gaps
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval_of,
    classwise_ece_interval_of,
    ece_interval_of,
    mce_interval_of,
)
from focal_lib.metrics.intervals import Interval, bootstrap_draws, t_interval
from focal_lib.metrics.samples import Samples
from focal_lib.metrics.scores import SampleScores, sample_scores
from focal_lib.metrics.smooth import smooth_ece_of

__all__ = ["PROPER", "Evaluation", "cross_fit", "differences", "hold_out", "measure"]

PROPER: dict[str, Callable[[SampleScores], np.ndarray]] = {"nll": lambda s: s.log_loss, "brier": lambda s: s.brier}
_DRAWN = 4e8  # samples that all resamples of one statistic may have together: of large test sets there are fewer


@dataclass(frozen=True)
class Evaluation:
    """Methods fitted, and what their probabilities score on samples that they have not seen.

    Attributes:
        fits: each method, fitted on all samples there are to fit on.
        scores: of each sample to test on, for AS_GIVEN and each method, in the same order.
        classwise: classwise ECE of each.
        lowered: share of the samples to test on whose top probability the focal calibration map makes smaller.
        changed: samples to test on whose predicted class is another than that of the logits as given.
        n_fit, n_test, n_classes: numbers of samples to fit on, of samples to test on, of classes.
        unseen: classes without a sample to fit on.
        folds: of cross-fitting; 0 where the sets are different.
        parts: of each fold the fits on the other ones with its samples; else the fits, and the samples tested on.
    """

    fits: dict[Method, Calibrator]
    scores: dict[Method, SampleScores]
    classwise: dict[Method, Interval]
    lowered: dict[Method, float]
    changed: dict[Method, int]
    n_fit: int
    n_test: int
    n_classes: int
    unseen: tuple[int, ...]
    folds: int = 0
    parts: tuple[tuple[dict[Method, Calibrator], LogitSet], ...] = ()


def hold_out(
    validation: LogitSet,
    test: LogitSet,
    methods: Mapping[Method, Calibrator],
    *,
    before_fit: Callable[[Method], None] | None = None,
) -> Evaluation:
    """Fit on the one set, score on the other.

    Args:
        methods: calibrators, which stay as they are; the first is what the others are compared with.
        before_fit: called before each fit with its method.

    Raises:
        ValueError: bad data, see the calibrators.
    """
    fits = _fitted(methods, validation, before_fit)
    return _evaluation(fits, [(fits, test)], validation)


def cross_fit(
    whole: LogitSet,
    methods: Mapping[Method, Calibrator],
    *,
    folds: int = 5,
    seed: int = 0,
    before_fit: Callable[[Method], None] | None = None,
) -> Evaluation:
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
    parts = [(_fitted(methods, whole.take(fit), before_fit), whole.take(test)) for fit, test in cuts]
    return _evaluation(_fitted(methods, whole, before_fit), parts, whole, folds)


def _fitted(
    methods: Mapping[Method, Calibrator], data: LogitSet, before_fit: Callable[[Method], None] | None
) -> dict[Method, Calibrator]:
    fits = {}
    for method, calibrator in methods.items():
        if before_fit is not None:
            before_fit(method)
        fits[method] = clone(calibrator).fit(data.logits, data.labels)
    return fits


def _evaluation(
    fits: dict[Method, Calibrator],
    parts: list[tuple[dict[Method, Calibrator], LogitSet]],
    fitted_on: LogitSet,
    folds: int = 0,
) -> Evaluation:
    """From the fits to keep, and the (fits, samples to test on) of each part."""
    scores, classwise, lowered, changed = {}, {}, {}, {}
    for method in (AS_GIVEN, *fits):
        chunks = [chunk for own, data in parts for chunk in _scored(own.get(method), data)]
        found, gaps, low, other = zip(*chunks, strict=True)
        scores[method] = SampleScores.concatenate(found)
        n = len(scores[method].correct)
        gap, square, variance = np.sum(gaps, axis=0)
        classwise[method] = classwise_ece_interval_of(ClassGaps(gap, square, variance, n))
        if getattr(fits.get(method), "gamma_", 0.0):
            lowered[method] = sum(low) / n
        changed[method] = sum(other)
    unseen = set(range(fitted_on.classes)) - set(np.unique(fitted_on.labels).tolist())
    return Evaluation(
        fits=fits,
        scores=scores,
        classwise=classwise,
        lowered=lowered,
        changed=changed,
        n_fit=len(fitted_on),
        n_test=n,
        n_classes=fitted_on.classes,
        unseen=tuple(sorted(unseen)),
        folds=folds,
        parts=tuple(parts),
    )


def _scored(fit: Any, data: LogitSet) -> list[tuple[SampleScores, tuple[np.ndarray, ...], int, int]]:
    """Chunk by chunk: scores, sums of class gaps, samples whose top probability the map lowers, whose class moves."""

    def chunk(z: Tensor, y: Tensor) -> tuple[SampleScores, tuple[np.ndarray, ...], int, int]:
        log_p = torch.log_softmax(z, -1) if fit is None else fit.predict_log_proba(z)
        p = log_p.exp()
        *gaps, _ = sum_class_gaps(p, y)
        log_loss = -log_p.gather(-1, y[:, None])[:, 0].numpy()  # p may underflow, log p does not
        scores, lowered = replace(sample_scores(p, y), log_loss=log_loss), 0
        if getattr(fit, "gamma_", 0.0):
            before = torch.softmax(z / fit.temperature_, -1).amax(-1)
            lowered = int(np.count_nonzero(scores.confidence < before.numpy()))
        changed = 0 if fit is None else int((p.argmax(-1) != z.argmax(-1)).sum())
        return scores, tuple(gaps), lowered, changed

    return Samples(data.logits, data.labels).map(chunk)


# --- metrics and differences -----------------------------------------------------------


def measure(evaluation: Evaluation, *, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """For each method and metric the value, its 95 % interval and how that was made, in the units of METRICS.

    `debiased` is an estimate with less bias where the value is a binned error; else the value.

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
            debiased = i.estimate if i.debiased is None else i.debiased
            rows.append((*method, name, i.estimate, i.low, i.high, i.kind, debiased))
    columns = ["method", "objective", "metric", "value", "low", "high", "interval", "debiased"]
    return pd.DataFrame(rows, columns=columns)


def _mean_interval(values: np.ndarray, resamples: int, seed: int) -> Interval:
    if not np.isfinite(values).all():  # a label of probability 0
        return Interval(float(values.mean()), np.nan, np.nan)
    count = _affordable(resamples, len(values))
    return bootstrap_draws(lambda draws: values[draws].mean(-1), len(values), resamples=count, seed=seed)


def _affordable(resamples: int, n: int) -> int:
    return int(max(50, min(resamples, _DRAWN // n)))


def differences(evaluation: Evaluation, *, level: float = 0.95) -> pd.DataFrame:
    """NLL, Brier score and adaptive ECE (equal mass, per cent): each method minus AS_GIVEN and minus the first.

    Over the same samples. The proper scores are means over samples, so their differences have t intervals; all of them
    hold together with probability `level` (Bonferroni), and `significant` says whether such an interval leaves out 0.
    Of a difference of two ECEs no interval is given: a bootstrap's does not cover. A method that gives a label
    probability 0 has an infinite NLL, and no interval.
    """
    first = next(iter(evaluation.fits))
    pairs = [(m, AS_GIVEN) for m in evaluation.fits] + [(m, first) for m in evaluation.fits if m != first]
    each = 1 - (1 - level) / (len(pairs) * len(PROPER))
    eces = {method: adaptive_ece_of(s.confidence, s.correct) for method, s in evaluation.scores.items()}
    rows = []
    for one, two in pairs:
        a, b = evaluation.scores[one], evaluation.scores[two]
        found = {name: _paired(of(a), of(b), each) for name, of in PROPER.items()}
        found["adaptive-ece"] = Interval(eces[one] - eces[two], np.nan, np.nan)
        for name, spread in found.items():
            i = spread.scaled(METRICS[name].unit)
            apart = bool(np.isinf(i.estimate) or i.low > 0 or i.high < 0)
            rows.append((*one, two.name, name, i.estimate, i.low, i.high, i.kind, apart))
    columns = ["method", "objective", "reference", "metric", "difference", "low", "high", "interval", "significant"]
    return pd.DataFrame(rows, columns=columns)


def _paired(first: np.ndarray, second: np.ndarray, level: float) -> Interval:
    with np.errstate(invalid="ignore"):
        gap = first - second
    if len(gap) < 2 or not np.isfinite(gap).all():  # a label of probability 0
        return Interval(float(first.mean() - second.mean()), np.nan, np.nan)
    return t_interval(gap, level=level)
