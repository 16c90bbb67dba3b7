r"""Net benefit of acting where a probability is large: decision curves of Vickers & Elkin (2006).

Whoever acts at probability t and above holds a needless action to be worth t / (1 - t) of a needed one, so

.. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}(t)}{n} - \frac{\mathrm{FP}(t)}{n}\,\frac{t}{1 - t} ,

which is to be compared with acting always, and with never acting, whose net benefit is 0. The differences to both are
:math:`\pm(a - \mathrm{odds}\,b)`, with the shares a of needed and b of needless actions, taken or spared. Either may
be of few samples, or of none, so intervals of the difference are made from the exact ones of both shares (the MOVER of
Zou & Donner 2008, with the correlation that the two shares have).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.scores import checked_samples

THRESHOLDS = tuple(np.round(np.arange(0.05, 0.96, 0.05), 2).tolist())


@dataclass(frozen=True)
class NetBenefit:
    """Net benefit at thresholds, per sample; arrays (m,). That of never acting is 0.

    Attributes:
        threshold: act where the probability is at least this.
        model, treat_all: net benefit of acting so, and of acting always.
        low, high: of the difference to the better of acting always and never, an interval for each threshold alone.
            Which is the better is not certain either, so the difference is the smaller of two, to always and to never,
            and these are the smaller of their lower and of their upper ends, the upper ones by Bonferroni.
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
    # minus always: what is spared where one does not act; minus never: what acting brings. Both are means over samples.
    acted, spared = (events - missed, n - below - events + missed), (missed, below - missed)
    low = np.min([_interval(*acted, n, odds, level)[0], -_interval(*spared, n, odds, level)[1]], axis=0)
    wide = (1 + level) / 2
    high = np.min([_interval(*acted, n, odds, wide)[1], -_interval(*spared, n, odds, wide)[0]], axis=0)
    return NetBenefit(t, model, always, model - np.maximum(always, 0), low, high, level, events / n, n)


def _interval(
    needed: np.ndarray, needless: np.ndarray, n: int, odds: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends for a - odds b, where a and b are the shares of two kinds of n samples, (m,) each."""
    a, b = needed / n, needless / n
    (low_a, high_a), (low_b, high_b) = (exact_binomial_ends(count, n, (1 - level) / 2) for count in (needed, needless))
    with np.errstate(divide="ignore", invalid="ignore"):
        together = np.nan_to_num(np.sqrt(a * b / ((1 - a) * (1 - b))), nan=1.0).clip(max=1)  # minus their correlation
    value = a - odds * b

    def reach(of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        return np.sqrt(of_a**2 + of_b**2 + 2 * together * of_a * of_b)

    return value - reach(a - low_a, odds * (high_b - b)), value + reach(high_a - a, odds * (b - low_b))
