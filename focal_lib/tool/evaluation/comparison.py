"""Calibration methods compared on one model's logits: metrics with intervals, differences tested for significance."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import NOTHING, LogitSet, in_order, raise_zeros, slices_of
from focal_lib.calibration.methods import AS_GIVEN, Method, refuse_counting_samples
from focal_lib.metrics.bins import adaptive_ece_of, ece_of
from focal_lib.metrics.by_name import EVENT_METRICS, METRICS
from focal_lib.metrics.calibration_slope import calibration_intercept_of, calibration_slope_of
from focal_lib.metrics.calibration_test import calibration_p_value_of, p_value_over_groups
from focal_lib.metrics.design import Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval_of,
    as_counts,
    classwise_ece_interval_of,
    ece_interval_of,
    mce_interval_of,
)
from focal_lib.metrics.intervals import Interval, bootstrap_draws
from focal_lib.metrics.positive import observed_expected_of, positive_ece_interval_of
from focal_lib.metrics.scores import SampleScores
from focal_lib.metrics.smooth import smooth_ece_of
from focal_lib.tool.evaluation.possible_labels import PossibleLabels
from focal_lib.tool.evaluation.scoring import Scored, event, score

PROPER: dict[str, Callable[[SampleScores], np.ndarray]] = {"nll": lambda s: s.log_loss, "brier": lambda s: s.brier}
OFF = 0.05  # size of the test of calibration
_DRAWN = 4e8  # samples that all resamples of one statistic may have together: of large test sets there are fewer


@dataclass(frozen=True)
class Evaluation:
    """Fitted methods, and the scores of their probabilities on held-out samples.

    Attributes:
        fits: each method, fitted on all samples to fit on.
        scores: scores of each test sample, for AS_GIVEN and each method, in the same order.
        classwise: classwise ECE of AS_GIVEN and each method.
        lowered: share of test samples whose top probability the focal calibration map lowers.
        changed: number of test samples whose predicted class differs from that of the logits as given.
        n_fit, n_test, n_classes: number of samples to fit on, of test samples and of classes.
        unseen: classes without a sample to fit on.
        folds: number of folds of cross-fitting; 0 for separate sets.
        by_label: for a method, or a method and its reference, the moments of scores or of their differences under
            other possible labels.
        parts: for each fold, the fits on the other folds and its samples; else the fits and the test samples.
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
    by_label: dict[tuple[Method, ...], PossibleLabels] = field(default_factory=dict)
    parts: tuple[tuple[dict[Method, Calibrator], LogitSet], ...] = ()

    @functools.cached_property
    def design(self) -> Design:
        """Weights and groups of the test samples, in the order of the scores."""
        columns = ([getattr(data, name) for _, data in self.parts] for name in ("weights", "groups"))
        given = (own if own and all(values is not None for values in own) else None for own in columns)
        return Design(*(None if own is None else np.concatenate(own) for own in given))

    @functools.cached_property
    def slices(self) -> dict[str, np.ndarray]:
        """Name of each slice -> mask of its test samples, (n,); {} without slices."""
        return slices_of([data for _, data in self.parts])

    @property
    def units(self) -> tuple[int, str]:
        """Number of independent units tested on, and what they are: 'samples' or 'groups'."""
        return self.design.independent(self.n_test), "samples" if self.design.groups is None else "groups"

    @functools.cached_property
    def is_binary(self) -> bool:
        """Whether there are two classes, so that the probability of class 1 is what is judged."""
        return self.n_classes == 2 and all(data.is_binary for _, data in self.parts)

    def judged(self, method: Method) -> tuple[np.ndarray, np.ndarray]:
        """A probability for each test sample and whether what it is of came true, (n,) each.

        Of class 1 for two classes, else of the most probable class.
        """
        if not self.is_binary:
            return self.scores[method].confidence, self.scores[method].correct
        if method not in self._events:  # not from the log loss, by which equal probabilities would differ by label
            parts = [event(fits.get(method), data) for fits, data in self.parts]
            self._events[method] = np.concatenate([p for p, _ in parts]), np.concatenate([y for _, y in parts])
        return self._events[method]

    @functools.cached_property
    def _events(self) -> dict[Method, tuple[np.ndarray, np.ndarray]]:
        """What `judged` found of two classes."""
        return {}

    @property
    def floor(self) -> float | None:
        """What the fits read a probability of 0 as; None: as it stands."""
        return next((data.floor for _, data in self.parts if data.floor is not None), None)

    @property
    def zeros(self) -> np.ndarray:
        """Which test samples have a label of probability 0 as given, (n,)."""
        return self.scores[AS_GIVEN].log_loss >= -NOTHING

    @functools.cached_property
    def event(self) -> str:
        """Name of class 1 of two: '1' unless there are names."""
        return next((data.event for _, data in self.parts if data.event), "1")

    def calibration_p(self, method: Method) -> float:
        """p-value of the hypothesis that what is judged comes true as often as the method says.

        Tested over groups, if samples have them; nan with too few groups.
        """
        if method not in self._p_values:
            judged = self.judged(method)
            plain = self.design.groups is None
            self._p_values[method] = (
                calibration_p_value_of(*judged) if plain else p_value_over_groups(*judged, self.design)
            )
        return self._p_values[method]

    @functools.cached_property
    def _p_values(self) -> dict[Method, float]:
        """Those that were asked for: each is a simulation."""
        return {}

    def observed_expected(self, method: Method) -> Interval:
        """Observed over expected events of two classes."""
        return observed_expected_of(*self.judged(method), design=self.design)

    def shown_off(self, method: Method) -> tuple[str, ...]:
        """What shows that a method is miscalibrated: 'p', and of two classes 'observed/expected'; () if nothing."""
        found = ("p",) if self.calibration_p(method) < OFF else ()
        if not self.is_binary:
            return found
        ratio = self.observed_expected(method)
        return (*found, "observed/expected") if ratio.high < 1 or ratio.low > 1 else found

    @property
    def bins(self) -> str:
        """Bins of the ECE that tables and sentences show: as of the class, else as of the confidence."""
        return "equal width" if self.is_binary else "equal mass"

    def calibration_error(self, method: Method) -> float:
        """ECE of what is judged, in these bins, a fraction."""
        of = ece_of if self.is_binary else adaptive_ece_of
        return of(*self.judged(method), weights=self.design.given)

    def adaptive_ece(self, method: Method) -> float:
        """ECE (equal mass) of a method, a fraction."""
        scores = self.scores[method]
        return adaptive_ece_of(scores.confidence, scores.correct, weights=self.design.given)


def hold_out(
    validation: LogitSet,
    test: LogitSet,
    methods: Mapping[Method, Calibrator],
    *,
    before_fit: Callable[[Method], None] | None = None,
) -> Evaluation:
    """Fit on one set, score on the other.

    Args:
        methods: calibrators, which are not changed; the first is the reference of the others.
        before_fit: called before each fit with its method.

    Raises:
        ValueError: bad data, see the calibrators.
    """
    refuse_counting_samples(methods, validation.weights)
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
    """Score each sample by methods fitted on the other folds; the fits to keep are those on all samples.

    No group is split between folds.

    Raises:
        ValueError: fewer than 2 folds; more folds than groups or than samples of the most frequent class; fewer than
            two samples of the second most frequent class; a fold whose other folds hold one class only.
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2. Got {folds}.")
    *_, second, most = sorted((0, *np.bincount(whole.labels).tolist()))
    if folds > most:
        raise ValueError(f"folds must be at most {most}, the samples of the most frequent class. Got {folds}.")
    if second < 2:
        came = f"{second} of the second" if second else f"only class {whole.labels[0]}"
        raise ValueError(f"two classes must have at least 2 samples each for folds. Got {came}.")
    refuse_counting_samples(methods, whole.weights)
    cuts = _cuts(whole, folds, seed)
    parts = [(_fitted(methods, whole.take(fit), before_fit), whole.take(test)) for fit, test in cuts]
    return _evaluation(_fitted(methods, whole, before_fit), parts, whole, folds)


def _cuts(whole: LogitSet, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Indices to fit on and to test on, for each fold."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if whole.groups is None:
        order = in_order(whole)
        with warnings.catch_warnings():  # of a class that is not in every fold
            warnings.simplefilter("ignore", UserWarning)
            parts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(order, whole.labels[order]))
        return [(order[fit], order[test]) for fit, test in parts]
    if folds > (groups := len(np.unique(whole.groups))):
        raise ValueError(f"folds must be at most {groups}, the groups. Got {folds}.")
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    cuts = [(fit, test) for fit, test in splitter.split(whole.labels, whole.labels, whole.groups) if len(test)]
    if any(len(np.unique(whole.labels[fit])) < 2 for fit, _ in cuts):
        raise ValueError("groups must leave two classes to fit on in each fold. Got one class in all groups but some.")
    return cuts


def _fitted(
    methods: Mapping[Method, Calibrator], data: LogitSet, before_fit: Callable[[Method], None] | None
) -> dict[Method, Calibrator]:
    from sklearn.base import clone

    fits, logits = {}, raise_zeros(data.logits, data.floor)
    for method, calibrator in methods.items():
        if before_fit is not None:
            before_fit(method)
        weighted = {} if data.weights is None else {"sample_weight": data.weights}
        fits[method] = clone(calibrator).fit(logits, data.labels, **weighted)
        fits[method].floor_ = data.floor
    return fits


def _evaluation(
    fits: dict[Method, Calibrator],
    parts: list[tuple[dict[Method, Calibrator], LogitSet]],
    fitted_on: LogitSet,
    folds: int = 0,
) -> Evaluation:
    """From the fits to keep, and the (fits, samples to test on) of each part."""
    first, n = next(iter(fits)), sum(len(data) for _, data in parts)
    unseen = set(range(fitted_on.classes)) - set(np.unique(fitted_on.labels).tolist())
    found = Evaluation(
        fits, {}, {}, {}, {}, len(fitted_on), n, fitted_on.classes, tuple(sorted(unseen)), folds, parts=tuple(parts)
    )
    design = found.design
    ends = np.cumsum([len(data) for _, data in parts])[:-1]
    weights = [None for _ in parts] if design.weights is None else np.split(design.weights, ends)
    for method in (AS_GIVEN, *fits):
        references = () if method == AS_GIVEN else (AS_GIVEN,) if method == first else (AS_GIVEN, first)
        scored = Scored.concatenate(
            [
                score(own.get(method), data, w, [own.get(one) for one in references])
                for (own, data), w in zip(parts, weights, strict=True)
            ]
        )
        found.scores[method], found.changed[method] = scored.scores, scored.changed
        loss, together = scored.scores.log_loss, _together(scored.scores, design)
        errors = _total(1 - scored.scores.correct, design)
        found.by_label[(method,)] = PossibleLabels(scored.of_scores, _total(loss, design), errors, n, together)
        for reference, moments in zip(references, scored.of_differences, strict=True):
            with np.errstate(invalid="ignore"):
                seen = _total(loss - found.scores[reference].log_loss, design)
            found.by_label[method, reference] = PossibleLabels(moments, seen, errors, n, together)
        classwise = classwise_ece_interval_of(as_counts(scored.gaps, design))
        is_known = design.groups is None
        found.classwise[method] = classwise if is_known else Interval(classwise.estimate, np.nan, np.nan)
        if getattr(fits.get(method), "gamma_", 0.0):
            found.lowered[method] = scored.lowered / n
    return found


def _total(values: np.ndarray, design: Design) -> float:
    return float(design.totals(values).sum())


def _together(scores: SampleScores, design: Design) -> float:
    """Kish's design effect, >= 1: by how much sums over labels vary more than those of independent samples.

    It is 1 + (m - 1) rho for groups of m, with the largest correlation rho of errors that the data allow. Residuals are
    errors minus expected errors; these are proportional to 1 - confidence and have the same sum.
    """
    n, wrong, doubt = len(scores.correct), 1 - scores.correct, 1 - scores.confidence
    of_all, expected = design.mean(wrong), design.mean(doubt)
    residuals = wrong - (np.minimum(1, doubt * (of_all / expected)) if expected > 0 else of_all)
    most = Design(design.weights).effective(n) / design.effective(n)
    return 1 + (most - 1) * design.correlation_at_most(residuals)


# --- metrics and differences -----------------------------------------------------------


def measure(evaluation: Evaluation, *, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Value, 95 % interval and kind of interval for each method and metric, in the units of METRICS.

    Sample weights apply. Two classes have the metrics of the probability of class 1, too; slope and intercept as given
    read a probability of 0 as the fits do. `debiased` is an estimate with less bias for a binned error, else the value.

    The interval of the error is exact binomial. Those of NLL and Brier score are percentile bootstrap, widened to the
    means of all labels that the samples do not contradict (possible_labels). Those of the binned errors invert a
    simulated test, since their bootstrap does not cover (focal_lib.metrics.ece_interval). The classwise ECE of more
    than two classes has bounds (focal_lib.metrics.gap_bounds); the smooth ECE has no interval.
    With weights or groups the intervals are Wilson's and t intervals, with standard errors of the delete-one-group
    jackknife (focal_lib.metrics.design); where no such interval is known to cover, there is none.
    """
    rows, design = [], evaluation.design
    for method, scores in evaluation.scores.items():
        top = scores.confidence, scores.correct
        possible = evaluation.by_label[(method,)].means(0.95)
        found = {
            "error": design.share_interval(1 - scores.correct),
            "nll": _mean(scores.log_loss, design, possible["nll"], resamples, seed),
            "brier": _mean(scores.brier, design, possible["brier"], resamples, seed),
            "ece": ece_interval_of(*top, design=design),
            "adaptive-ece": adaptive_ece_interval_of(*top, design=design),
            "classwise-ece": evaluation.classwise[method],
            "smooth-ece": Interval(smooth_ece_of(top[0], design.weighted_correct(*top)), np.nan, np.nan),
            "mce": mce_interval_of(*top, design=design),
        }
        table = METRICS
        if evaluation.is_binary:
            of_event, table = evaluation.judged(method), METRICS | EVENT_METRICS
            of_odds = _as_fitted(of_event[0], evaluation.floor if method == AS_GIVEN else None), of_event[1]
            found |= {
                "positive-ece": positive_ece_interval_of(*of_event, design=design),
                "observed/expected": evaluation.observed_expected(method),
                "calibration-slope": calibration_slope_of(*of_odds, design=design),
                "calibration-intercept": calibration_intercept_of(*of_odds, design=design),
            }
        for name, metric in table.items():
            i = found[name].scaled(metric.unit)
            debiased = i.estimate if i.debiased is None else i.debiased
            rows.append((*method, name, i.estimate, i.low, i.high, _kind(i, design, evaluation.n_test), debiased))
    return pd.DataFrame(rows, columns=["method", "objective", "metric", "value", "low", "high", "interval", "debiased"])


def _as_fitted(p: np.ndarray, floor: float | None) -> np.ndarray:
    """Probabilities (n,) of class 1 of two, those of 0 and 1 with the odds that the fits read (raise_zeros)."""
    return p if floor is None else np.clip(p, floor / (1 + floor), 1 / (1 + floor))


def _kind(found: Interval, design: Design, n: int) -> str:
    """Kind of an interval, or the reason if groups rule it out."""
    if found.kind or np.isinf(found.estimate) or design.groups is None:
        return design.named(found.kind) if found.kind else ""
    few = design.effective(n) < LEAST_GROUPS
    why = f"groups are worth fewer than {LEAST_GROUPS} of equal size" if few else "none is known over groups"
    return f"no interval: {why}"


def _mean(values: np.ndarray, design: Design, possible: tuple[float, float], resamples: int, seed: int) -> Interval:
    """Interval of the mean that contains the possible means; none if these are unknown or a value is infinite."""
    if not np.isfinite(values).all() or np.isnan(possible).any():  # a label of probability 0, or one that may come
        return Interval(design.mean(values), np.nan, np.nan)
    if not design.is_plain:
        return _widened(design.mean_interval(values), possible)
    values = np.sort(values)  # resamples do not depend on the order of the samples
    affordable = int(max(50, min(resamples, _DRAWN // len(values))))
    draws = bootstrap_draws(lambda index: values[index].mean(-1), len(values), resamples=affordable, seed=seed)
    return _widened(draws, possible)


def _widened(found: Interval, possible: tuple[float, float]) -> Interval:
    return replace(found, low=min(found.low, possible[0]), high=max(found.high, possible[1]))


def differences(evaluation: Evaluation, *, level: float = 0.95) -> pd.DataFrame:
    """Paired differences of NLL, Brier score and adaptive ECE: each method minus AS_GIVEN and minus the first.

    Differences of proper scores are means over samples and have t intervals, simultaneous with probability `level`
    (Bonferroni); `significant` means that the interval excludes 0. With weights or groups the jackknife gives the
    intervals (focal_lib.metrics.design). They contain the means of all labels that the samples do not contradict
    (possible_labels). Differences of the ECE (equal mass, per cent) have no interval, since the bootstrap does not
    cover. There is no interval of the NLL if a method gives probability 0 to a label that occurs or may occur, and
    no interval at all where fewer than three errors are expected.
    """
    first = next(iter(evaluation.fits))
    pairs = [(m, AS_GIVEN) for m in evaluation.fits] + [(m, first) for m in evaluation.fits if m != first]
    each = 1 - (1 - level) / (len(pairs) * len(PROPER))
    eces, design = {method: evaluation.adaptive_ece(method) for method in evaluation.scores}, evaluation.design
    rows = []
    for one, two in pairs:
        a, b = evaluation.scores[one], evaluation.scores[two]
        possible = evaluation.by_label[one, two].means(each)
        found = {name: _paired(of(a), of(b), each, design, possible[name]) for name, of in PROPER.items()}
        found["adaptive-ece"] = Interval(eces[one] - eces[two], np.nan, np.nan)
        for name, spread in found.items():
            i = spread.scaled(METRICS[name].unit)
            apart = bool(np.isinf(i.estimate) or i.low > 0 or i.high < 0)
            rows.append((*one, two.name, name, i.estimate, i.low, i.high, i.kind and design.named(i.kind), apart))
    columns = ["method", "objective", "reference", "metric", "difference", "low", "high", "interval", "significant"]
    return pd.DataFrame(rows, columns=columns)


def _paired(
    first: np.ndarray, second: np.ndarray, level: float, design: Design, possible: tuple[float, float]
) -> Interval:
    """Interval of the mean of first - second that contains the possible means; none if these are unknown."""
    with np.errstate(invalid="ignore"):
        gap = first - second
    found = design.mean_interval(gap, level=level)
    if np.isnan(found.estimate):  # both give a label probability 0
        return replace(found, estimate=design.mean(first) - design.mean(second))
    unknown = np.isnan(possible).any()
    return replace(found, low=np.nan, high=np.nan, kind="") if unknown else _widened(found, possible)
