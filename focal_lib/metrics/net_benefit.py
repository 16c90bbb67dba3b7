r"""Net benefit of acting where a probability is large: decision curves of Vickers & Elkin (2006).

Whoever acts at probability t and above holds a needless action to be worth t / (1 - t) of a needed one, so

.. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}(t)}{n} - \frac{\mathrm{FP}(t)}{n}\,\frac{t}{1 - t} ,

which is to be compared with acting always, and with never acting, whose net benefit is 0.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from torch import Tensor

from focal_lib.metrics.scores import checked_samples

__all__ = ["NetBenefit", "net_benefit", "net_benefit_of"]

THRESHOLDS = tuple(np.round(np.arange(0.05, 0.96, 0.05), 2).tolist())


@dataclass(frozen=True)
class NetBenefit:
    """Net benefit at thresholds, per sample; arrays (m,). That of never acting is 0.

    Attributes:
        threshold: act where the probability is at least this.
        model, treat_all: net benefit of acting so, and of acting always.
        low, high: of the difference to the better of acting always and never, an interval for each threshold. Which
            is the better is not certain either, so the difference is the smaller of two, to always and to never, and
            these are the smaller of their lower and of their upper ends, the upper ones by Bonferroni.
        gain: that difference.
        level: of each interval.
        prevalence: share of samples that are of the class.
        samples: their number.
    """

    threshold: np.ndarray
    model: np.ndarray
    treat_all: np.ndarray
    gain: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    prevalence: float
    samples: int


def net_benefit(
    probs: Any, labels: Any, positive: int = 1, *, thresholds: Any = THRESHOLDS, level: float = 0.95
) -> NetBenefit:
    """The decision curve of one class against the others.

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1.
        positive: the class at whose probability one acts.
        thresholds: (m,), in (0, 1).
        level: of the interval at each threshold.

    Raises:
        ValueError: as metrics.top_label; positive not in 0 ... K-1; thresholds or level not in (0, 1).
    """
    samples = checked_samples(probs, labels)
    if positive not in range(samples.classes):
        raise ValueError(f"positive must be one of the classes 0 ... {samples.classes - 1}. Got {positive}.")
    return net_benefit_of(*samples.gather(functools.partial(_column, positive)), thresholds=thresholds, level=level)


def _column(positive: int, p: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return p[:, positive].double(), (y == positive).double()


def net_benefit_of(
    probability: np.ndarray, event: np.ndarray, *, thresholds: Any = THRESHOLDS, level: float = 0.95
) -> NetBenefit:
    """`net_benefit` of the probability (n,) of an event, and of whether it came, 0 or 1 (n,).

    Raises:
        ValueError: fewer than two samples; thresholds or level not in (0, 1).
    """
    t = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if len(probability) < 2:
        raise ValueError(f"samples must be at least 2. Got {len(probability)}.")
    if not ((t > 0) & (t < 1)).all() or not 0 < level < 1:
        raise ValueError(f"thresholds and level must lie in (0, 1). Got {thresholds} and {level}.")
    n, events = len(probability), float(event.sum())
    order = np.argsort(probability, kind="stable")
    below = np.searchsorted(probability[order], t, side="left")
    missed = np.r_[0.0, np.cumsum(event[order])][below]  # events where one does not act
    odds = t / (1 - t)
    model = (events - missed - (n - below - events + missed) * odds) / n
    always = (events - (n - events) * odds) / n
    # minus always: what is saved where one does not act; minus never: what acting brings. Both are means over samples.
    spared = _moments(missed, below - missed, n, odds, -1.0)
    acted = _moments(events - missed, n - below - events + missed, n, odds, 1.0)
    means, errors = np.stack([spared, acted], axis=1)
    below, above = stats.t.ppf([(1 + level) / 2, (3 + level) / 4], n - 1)
    low, high = np.min(means - below * errors, axis=0), np.min(means + above * errors, axis=0)
    return NetBenefit(t, model, always, np.min(means, axis=0), low, high, level, events / n, n)


def _moments(
    events: np.ndarray, others: np.ndarray, n: int, odds: np.ndarray, sign: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of what is 1 for events, -odds for others, times the sign, and 0 for the rest."""
    mean = (events - others * odds) / n
    square = (events + others * odds**2) / n
    return sign * mean, np.sqrt(np.maximum(square - mean**2, 0) / (n - 1))
