r"""Calibration of the probability of an event, the positive class of two: is a 0.3 a 0.3?

The top-label ECE of a rare event says little: nearly every prediction is 'no event', and right. Here the probability
of the event itself is compared with its outcome: in bins (`positive_ece`), and in sum (`observed_expected`).

The observed events O are a sum of Bernoulli variables, whose variance V is below a binomial's if the probabilities
differ. The interval of their expected number has the exact ends (Clopper & Pearson 1934) of the binomial with mean O
and variance V, that of :math:`n' = O^2/(O - V)` trials, and 1 - O/n in place of O/n where events are the more frequent
outcome. At V = O (1 - O/n), n' is n; for rare events the ends are Poisson's (Garwood 1936). With weights or groups they
are those of a gamma variable with the same mean and variance (Fay & Feuer 1997), V from the jackknife over groups.

V is the largest of three: the squared residuals of the model with its intercept recalibrated, their expectation under
that model, and 10, since so few surprises may have stayed out by chance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from focal_lib.arrays import to_numpy
from focal_lib.metrics.bins import (
    DEFAULT_BINS,
    Binning,
    Bins,
    adaptive_ece_of,
    ece_of,
    reliability_bins_of,
)
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.ece_interval import adaptive_ece_interval_of, ece_interval_of
from focal_lib.metrics.intervals import Interval, exact_binomial_ends
from focal_lib.metrics.scores import checked_samples
from focal_lib.validation import check_level, check_weights

CLIP = 1e-8  # probabilities of 0 and 1 have no logit; the value of CalibrationCurves (De Cock Campo 2023)
_FEW = 10.0  # least variance of a count


def positive_ece(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> float:
    r"""Calibration error of the positive class: :math:`\sum_b \frac{n_b}{n}\,|\bar p_b - \bar y_b|`.

    With the mean probability of the event :math:`\bar p_b` and its observed share :math:`\bar y_b` in each bin, as in
    Naeini et al. (2015).

    Args:
        probs: (n,) probabilities of the event, or (n, 2) with the event last.
        labels: (n,) of 0 and 1, integers or truth values.
        binning: bins of equal 'width' or of equal 'mass'.
        weights: (n,), sample weights.

    Raises:
        ValueError: probs not in [0, 1] or of more than two classes, labels not 0 or 1, n_bins < 1, another binning.

    >>> round(positive_ece([0.1, 0.1, 0.1, 0.7], [0, 0, 1, 1]), 4)  # 3/4 |0.1 - 1/3| + 1/4 |0.7 - 1|
    0.25
    """
    p, y = checked_event(probs, labels, "positive_ece")
    value = {"width": ece_of, "mass": adaptive_ece_of}[_check_binning(binning)]
    design, p, y = checked_design(len(p), weights).counted(p, y)
    return value(p, y, n_bins, design.given)


def positive_ece_interval(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> Interval:
    """`positive_ece` with its confidence interval, by inversion of a test as `ece_interval`; same arguments and errors.

    Args:
        groups: (n,), a label for each sample; samples with the same label may be dependent.

    >>> found = positive_ece_interval([0.9] * 100, [1] * 50 + [0] * 50)  # 0.4 -+ 1.96 * 0.05
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.4, 0.3, 0.5)
    """
    p, y = checked_event(probs, labels, "positive_ece_interval")
    design = checked_design(len(p), weights, groups)
    return positive_ece_interval_of(p, y, n_bins, binning=binning, level=level, design=design)


def positive_ece_interval_of(
    p: np.ndarray,
    y: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`positive_ece_interval` of probabilities (n,) and outcomes (n,), 0 or 1.

    The interval of `ece_interval_of`, its high end moved up by as many events as the exact end of their number lies
    beyond the normal one: a rare event that the model underrates has a skewed count, and most of it in one bin.

    >>> round(positive_ece_interval_of(np.full(100, 0.9), np.repeat([1, 0], 50)).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
    interval = {"width": ece_interval_of, "mass": adaptive_ece_interval_of}[_check_binning(binning)]
    found = interval(p, y, n_bins, level=level, design=design)
    if np.isnan(found.high):
        return found
    design, p, y = design.counted(p, y)
    count = event_count(p, y, level=level, design=design)
    skewed = max(count.high - count.events, count.events - count.low) - count.reach
    return replace(found, high=min(1.0, found.high + max(0.0, skewed) / len(p)))


def positive_reliability_bins(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> Bins:
    """Count, mean probability and observed share of the event in each non-empty bin; errors as `positive_ece`.

    >>> bins = positive_reliability_bins([0.1, 0.1, 0.1, 0.7], [0, 0, 1, 1])
    >>> bins.count.tolist(), bins.confidence.round(2).tolist(), bins.accuracy.round(2).tolist()
    ([3, 1], [0.1, 0.7], [0.33, 1.0])
    """
    p, y = checked_event(probs, labels, "positive_reliability_bins")
    design, p, y = checked_design(len(p), weights).counted(p, y)
    return reliability_bins_of(p, y, n_bins, binning=binning, weights=design.given)


def observed_expected(
    probs: Any, labels: Any, *, weights: Any = None, groups: Any = None, level: float = 0.95
) -> Interval:
    r"""Observed events over expected ones, :math:`O/E = \sum y_i / \sum p_i`, with its interval: 1 if calibrated.

    Below 1 the model promises too many events. Without an event the interval is from 0 to a finite end, about 3.7 / E.

    Arguments as `positive_ece_interval`.

    Raises:
        ValueError: as positive_ece; probabilities that are all 0; level not in (0, 1).

    >>> found = observed_expected([0.02] * 1000, [1] * 10 + [0] * 990)  # 10 of 20
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.5, 0.24, 0.92)
    """
    p, y = checked_event(probs, labels, "observed_expected")
    if not p.any():
        raise ValueError("probs must not all be 0. Got no expected event.")
    return observed_expected_of(p, y, level=level, design=checked_design(len(p), weights, groups))


def observed_expected_of(p: np.ndarray, y: np.ndarray, *, level: float = 0.95, design: Design = PLAIN) -> Interval:
    """`observed_expected` of probabilities (n,) and outcomes (n,), 0 or 1; infinite where all are nearly 0.

    >>> observed_expected_of(np.full(4, 0.5), np.array([1, 0, 0, 0])).estimate
    0.5
    """
    design, p, y = design.counted(p, y)
    found = event_count(p, y, level=level, design=design)
    expected = float(found.weights @ p)
    if expected <= CLIP * len(p):
        low, high = (end if np.isnan(end) else np.inf if end > 0 else 0.0 for end in (found.low, found.high))
        return Interval(np.inf if found.events > 0 else np.nan, low, high, found.kind, level)
    return Interval(found.events / expected, found.low / expected, found.high / expected, found.kind, level)


class EventCount(NamedTuple):
    """Weighted number of events, interval of its expectation, and what it was computed from."""

    events: float
    low: float
    high: float
    kind: str
    reach: float  # half the width of the normal interval
    shift: float  # of all logits, after which as many events are expected
    weights: np.ndarray  # (n,), of mean 1


def event_count(p: np.ndarray, y: np.ndarray, *, level: float, design: Design) -> EventCount:
    """The expected number of events, from probabilities (n,) and outcomes (n,); ends nan for a single group."""
    check_level(level)
    n, tail = len(p), (1 - level) / 2
    weights = np.ones(n) if design.weights is None else design.weights
    events = float(weights @ y)
    shift = shift_to(event_logits(p), events, weights)
    if design.independent(n) < 2:
        return EventCount(events, np.nan, np.nan, "", np.nan, shift, weights)
    rarer = y if events <= n / 2 else 1 - y
    fitted = scipy.special.expit(event_logits(p) + shift)
    ends = _binomial_ends if design.is_plain else _gamma_ends
    low, high, reach = ends(rarer, y - fitted, fitted * (1 - fitted), tail, design)
    if events > n / 2:
        low, high = n - high, n - low
    kind = "binomial" if design.is_plain else design.named("gamma")
    return EventCount(events, max(0.0, low), min(float(n), high), kind, reach, shift, weights)


def _binomial_ends(
    outcome: np.ndarray, residual: np.ndarray, variance: np.ndarray, tail: float, design: Design
) -> tuple[float, float, float]:
    """Ends of the expected number of the outcome (n,), at most half of which are 1, and the normal half width."""
    n, count, seen = len(outcome), float(outcome.sum()), float(residual @ residual)
    most = count * (1 - count / n)  # of a binomial: Hoeffding (1956)
    spread = min(most, max(seen, float(variance.sum()), _FEW))
    trials = count**2 / (count - spread) if count else float(n)
    low, high = exact_binomial_ends(count, trials, tail)
    return float(low) * trials, float(high) * trials, float(scipy.stats.norm.isf(tail) * np.sqrt(seen))


def _gamma_ends(
    outcome: np.ndarray, residual: np.ndarray, variance: np.ndarray, tail: float, design: Design
) -> tuple[float, float, float]:
    """Ends of the expected weighted number of the outcome (n,), at most half of which are 1, and the t half width."""
    n, weights = len(outcome), np.ones(len(outcome)) if design.weights is None else design.weights
    totals, held = design.totals(outcome.astype(np.float64)), design.totals(np.ones(n))
    count = float(totals.sum())
    if count == 0:  # groups may be wholly dependent
        step = float(held @ held) / n
        return 0.0, float(-step * np.log(tail)), 0.0
    step = float(totals @ totals) / count  # weight of an event, seen or next
    found = design.mean_interval(residual, level=1 - 2 * tail)
    reach = n * (found.high - found.low) / 2
    seen = (reach / scipy.stats.norm.isf(tail)) ** 2
    spread = max(seen, min(float(weights**2 @ variance), count * step), min(_FEW * step**2, count * step))
    low = scipy.stats.gamma.ppf(tail, count**2 / spread, scale=spread / count)
    more, wide = count + step, spread + step**2
    return float(low), float(scipy.stats.gamma.isf(tail, more**2 / wide, scale=wide / more)), reach


# --- samples of an event ------------------------------------------------------------------


def event_logits(p: np.ndarray) -> np.ndarray:
    """Log odds of probabilities clipped to [1e-8, 1 - 1e-8]."""
    return scipy.special.logit(np.clip(p, CLIP, 1 - CLIP))


def shift_to(logits: np.ndarray, total: float, weights: np.ndarray, start: float | None = None) -> float:
    """The a with sum w expit(logits + a) = total, by Newton's method within a bracket; infinite at total 0 and n."""
    most = float(weights.sum())
    if not 0 < total < most * (1 - 1e-15):
        return -np.inf if total <= 0 else np.inf
    centre = float(scipy.special.logit(total / most))
    low, high = centre - float(logits.max()), centre - float(logits.min())
    a = centre - float(np.average(logits, weights=weights)) if start is None else start
    a = float(np.clip(a, low, high))
    for _ in range(200):
        q = scipy.special.expit(logits + a)
        excess, slope = float(weights @ q) - total, float(weights @ (q * (1 - q)))
        low, high = (low, a) if excess > 0 else (a, high)
        last, a = a, a - excess / slope if slope > 0 else np.nan
        if not low <= a <= high:
            a = (low + high) / 2
        if abs(a - last) <= 1e-13 * (1 + abs(a)):
            break
    return a


def checked_event(probs: Any, labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the event and its outcome, 0 or 1, float64 (n,) each.

    Args:
        probs: (n,) probabilities of the event, or (n, 2).
        labels: (n,) of 0 and 1, integers or truth values.
        name: of the caller, in a message.

    Raises:
        ValueError: anything else.
    """
    shape = tuple(probs.shape) if hasattr(probs, "shape") else np.shape(probs)
    if len(shape) == 2 and shape[1] > 2:
        raise ValueError(f"{name} is of two classes; classwise_ece is of more. Got probs of shape {shape}.")
    if len(shape) != 1 and shape[1:] != (2,):
        raise ValueError(f"probs must have shape (n,) or (n, 2). Got {shape}.")
    p, y = checked_samples(probs, labels).gather(_last_column)
    return p, y


def _last_column(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(p[:, 1].astype(np.float64), 1), y.astype(np.float64)


def checked_design(n: int, weights: Any = None, groups: Any = None) -> Design:
    """The design of n samples; ValueError unless weights and groups are (n,)."""
    if groups is not None:
        groups = np.asarray(to_numpy(groups))
        if groups.shape != (n,):
            raise ValueError(f"groups must have shape (n,) = ({n},). Got {groups.shape}.")
    return Design(None if weights is None else check_weights(weights, n), groups)


def _check_binning(binning: str) -> str:
    if binning not in ("width", "mass"):
        raise ValueError(f"binning must be 'width' or 'mass'. Got {binning!r}.")
    return binning
