r"""Slope and intercept of a model's calibration (Cox 1958), by logistic regression of the event on its log odds.

.. math:: \mathrm{logit}\,P(y = 1) = a + b\,\mathrm{logit}\,p .

* The slope b is 1 if calibrated, below 1 if the probabilities are too extreme, above 1 if not extreme enough.
* The intercept a, at b fixed at 1, is 'calibration in the large': 0 if as many events happen as expected, below 0 if
  fewer (Van Calster et al. 2019).

Both are maximum likelihood, without a penalty. Probabilities of 0 and 1 are clipped at 1e-8.

The slope's interval is that of the profile likelihood, which stays valid where the estimate is infinite: events all
above the others. The likelihood ratio is divided by what groups, weights or another shape of the curve add to the
variance of the slope (Kent 1982), at least 1. The score equation of the intercept has one statistic, the number of
events, so its ends are those shifts after which the ends of `observed_expected` are expected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.positive import checked_design, checked_event, event_count, event_logits, shift_to
from focal_lib.validation import check_level

_KIND = "profile likelihood"
_STEPS = 200  # most steps of a search; it takes about five


def calibration_intercept(
    probs: Any, labels: Any, *, weights: Any = None, groups: Any = None, level: float = 0.95
) -> Interval:
    """Calibration in the large: the shift of all log odds after which as many events are expected as were observed.

    Infinite if no sample or every sample is an event.

    Args:
        probs: (n,) probabilities of the event, or (n, 2) with the event last.
        labels: (n,) of 0 and 1, integers or truth values.
        weights: (n,), sample weights.
        groups: (n,), a label for each sample; samples with the same label may be dependent.

    Raises:
        ValueError: as positive_ece; level not in (0, 1).

    >>> found = calibration_intercept([0.5] * 100, [1] * 20 + [0] * 80)
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)  # log(0.2 / 0.8)
    (-1.3863, -1.93, -0.89)
    """
    p, y = checked_event(probs, labels, "calibration_intercept")
    return calibration_intercept_of(p, y, level=level, design=checked_design(len(p), weights, groups))


def calibration_intercept_of(p: np.ndarray, y: np.ndarray, *, level: float = 0.95, design: Design = PLAIN) -> Interval:
    """`calibration_intercept` of probabilities (n,) and outcomes (n,), 0 or 1.

    >>> round(calibration_intercept_of(np.full(5, 0.5), np.array([1, 0, 0, 0, 0])).estimate, 4)  # log(0.2 / 0.8)
    -1.3863
    """
    design, p, y = design.counted(p, y)
    found = event_count(p, y, level=level, design=design)
    if not found.kind:
        return Interval(found.shift, np.nan, np.nan, level=level)
    low, high = (shift_to(event_logits(p), end, found.weights) for end in (found.low, found.high))
    return Interval(found.shift, low, high, found.kind, level)


def calibration_slope(
    probs: Any, labels: Any, *, weights: Any = None, groups: Any = None, level: float = 0.95
) -> Interval:
    """Slope of the logistic regression of the event on the log odds of its probability; arguments as the intercept's.

    Infinite if all events lie above the others, with a finite lower end. nan if no sample or every sample is an event,
    or if all probabilities are equal.

    Raises:
        ValueError: as positive_ece; level not in (0, 1).

    >>> probs = [0.2] * 10 + [0.8] * 10
    >>> found = calibration_slope(probs, [1] * 3 + [0] * 7 + [1] * 7 + [0] * 3)
    >>> round(found.estimate, 4)  # log(0.7 / 0.3) / log(0.8 / 0.2): the probabilities are too extreme
    0.6112
    """
    p, y = checked_event(probs, labels, "calibration_slope")
    return calibration_slope_of(p, y, level=level, design=checked_design(len(p), weights, groups))


def calibration_slope_of(p: np.ndarray, y: np.ndarray, *, level: float = 0.95, design: Design = PLAIN) -> Interval:
    """`calibration_slope` of probabilities (n,) and outcomes (n,), 0 or 1.

    >>> round(calibration_slope_of(np.repeat([0.2, 0.8], 5), np.array([1, 0, 0, 0, 0, 1, 1, 1, 1, 0])).estimate, 4)
    1.0
    """
    check_level(level)
    design, p, y = design.counted(p, y)
    weights = np.ones(len(p)) if design.weights is None else design.weights
    x, y = event_logits(p), np.asarray(y, dtype=np.float64)
    if y.min() == y.max() or x.min() == x.max():
        return Interval(np.nan, np.nan, np.nan, level=level)
    line = _Line(x - float(np.average(x, weights=weights)), y, weights)
    estimate, best = _separated(line) or _largest(line)
    if design.independent(len(p)) < 2:
        return Interval(estimate, np.nan, np.nan, level=level)
    tail = (1 - level) / 2
    distance = float(scipy.stats.norm.isf(tail) if design.is_plain else scipy.stats.t.isf(tail, design.degrees(len(p))))
    drop = distance**2 * _inflation(line, estimate if np.isfinite(estimate) else float(np.sign(estimate)), design) / 2
    low, high = (_end(line, estimate, best - drop, side) for side in (-1, 1))
    return Interval(estimate, low, high, design.named(_KIND), level)


class _Line(NamedTuple):
    """Centred log odds, outcomes and weights, (n,) each."""

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def at(self, slope: float, near: _Profile | None = None) -> _Profile:
        """The log likelihood at a slope, maximal in the intercept, which is sought from that of a slope nearby."""
        start = None if near is None else near.intercept - (slope - near.at) * near.mean
        logits = slope * self.x
        shift = shift_to(logits, float(self.weights @ self.y), self.weights, start)
        logits += shift
        q = scipy.special.expit(logits)
        value = float(self.weights @ (self.y * logits - np.logaddexp(0, logits)))
        weights = self.weights * q * (1 - q)
        mean = float(weights @ self.x) / max(float(weights.sum()), 1e-300)
        away = self.x - mean
        derivative = float((self.weights * self.x) @ (self.y - q))
        return _Profile(slope, shift, mean, value, derivative, float(weights @ away**2), q, away)


class _Profile(NamedTuple):
    at: float  # this slope
    intercept: float
    mean: float  # of the log odds, weighted by the variance
    value: float
    derivative: float
    information: float
    fitted: np.ndarray  # (n,)
    away: np.ndarray  # log odds minus their mean, (n,)


def _separated(line: _Line) -> tuple[float, float] | None:
    """The infinite slope and its log likelihood, where events and others are on two sides of a value; else None."""
    events, others = line.x[line.y == 1], line.x[line.y == 0]
    if events.min() >= others.max():
        sign, edge = np.inf, events.min()
    elif events.max() <= others.min():
        sign, edge = -np.inf, events.max()
    else:
        return None
    share = line.weights[line.x == edge] @ np.column_stack([line.y, 1 - line.y])[line.x == edge]
    return sign, float(scipy.special.xlogy(share, share / share.sum()).sum())


def _largest(line: _Line) -> tuple[float, float]:
    """The slope of maximum likelihood and its log likelihood: the root of a decreasing derivative."""
    b, low, high, found = 1.0, -np.inf, np.inf, line.at(1.0)
    for _ in range(_STEPS):
        low, high = (b, high) if found.derivative > 0 else (low, b)
        step = found.derivative / max(found.information, 1e-300)
        step = float(np.clip(step, -4 * (1 + abs(b)), 4 * (1 + abs(b))))
        last, b = b, b + step if low <= b + step <= high else (low + high) / 2
        found = line.at(b, found)
        if abs(b - last) <= 1e-10 * (1 + abs(b)):
            break
    return b, found.value


def _inflation(line: _Line, slope: float, design: Design) -> float:
    """Variance of the slope over that by its information: at least what weights alone add."""
    found = line.at(slope)
    scores = design.totals(found.away * (line.y - found.fitted))
    parts = len(scores)
    spread = float((scores**2).sum()) * parts / (parts - 1)
    least = float((line.weights * found.away) ** 2 @ (found.fitted * (1 - found.fitted)))
    return max(spread, least) / found.information


def _end(line: _Line, estimate: float, value: float, side: int) -> float:
    """The slope below or above the estimate at which the log likelihood has this value, by Newton's method.

    The log likelihood is concave: from outside, steps go towards the end and never beyond.
    """
    if estimate == side * np.inf:
        return estimate
    b = estimate if np.isfinite(estimate) else 0.0
    found = line.at(b)
    reach = float(np.sqrt(2 * (found.value - value) / found.information)) if np.isfinite(estimate) else 1.0
    while found.value > value:
        b, reach = b + side * reach, 2 * reach
        found = line.at(b, found)
    for _ in range(_STEPS):
        last, b = b, b + (value - found.value) / found.derivative
        if abs(b - last) <= 1e-9 * (1 + abs(b)):
            break
        found = line.at(b, found)
    return b
