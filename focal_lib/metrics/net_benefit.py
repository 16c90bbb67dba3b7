r"""Net benefit of acting on large probabilities: decision curves (Vickers & Elkin 2006).

To act at probability t and above is to weigh a needless action at t / (1 - t) of a needed one, so

.. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}(t)}{n} - \frac{\mathrm{FP}(t)}{n}\,\frac{t}{1 - t} ,

to be compared with acting always, and with never acting, whose net benefit is 0. The differences to both are
:math:`\pm(a - \mathrm{odds}\,b)`, with the shares a of needed and b of needless actions, taken or spared. Either share
may rest on few samples, so an interval of the difference combines the exact intervals of both (MOVER, Zou & Donner
2008, with the correlation of the shares).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.scores import checked_samples

THRESHOLDS = tuple(np.round(np.arange(0.05, 0.96, 0.05), 2).tolist())


@dataclass(frozen=True)
class NetBenefit:
    """Net benefit per sample at each threshold, arrays (m,); that of never acting is 0.

    Attributes:
        threshold: act where the probability is at least this.
        model, treat_all: net benefit of acting by the threshold, and of acting always.
        gain: model minus the better of acting always and never.
        low, high: pointwise interval of gain. It is the smaller of two differences, to always and to never, so low is
            the smaller of their lower ends, and high the smaller of their upper ends (Bonferroni).
        level: confidence level of each interval.
        prevalence: share of samples of the class.
        samples: number of samples.

    >>> curve = net_benefit([[0.2, 0.8]] * 2 + [[0.8, 0.2]] * 2, [1, 1, 0, 0], thresholds=[0.5])
    >>> curve.gain.tolist(), curve.prevalence
    ([0.5], 0.5)
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
    """Decision curve of one class against the others (Vickers & Elkin 2006).

    Args:
        probs, labels: as in top_label.
        positive: class whose probability is compared with the thresholds.
        thresholds: (m,), in (0, 1).
        level: confidence level of the interval at each threshold.

    Raises:
        ValueError: as metrics.top_label; positive not in 0 ... K-1; thresholds or level not in (0, 1).

    >>> probs, labels = [[0.2, 0.8]] * 2 + [[0.8, 0.2]] * 2, [1, 0, 0, 0]
    >>> net_benefit(probs, labels, thresholds=[0.25, 0.5]).model.round(4).tolist()  # 1/4 - 1/4 t / (1 - t)
    [0.1667, 0.0]
    """
    samples = checked_samples(probs, labels)
    if positive not in range(samples.classes):
        raise ValueError(f"positive must be one of the classes 0 ... {samples.classes - 1}. Got {positive}.")
    columns = samples.gather(lambda p, y: (p[:, positive].astype(np.float64), (y == positive).astype(np.float64)))
    return net_benefit_of(*columns, thresholds=thresholds, level=level)


def net_benefit_of(
    probability: np.ndarray, event: np.ndarray, *, thresholds: Any = THRESHOLDS, level: float = 0.95
) -> NetBenefit:
    """`net_benefit` of the probability (n,) of an event and its outcome (n,), 0 or 1; n >= 2."""
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
    # difference to always: actions spared; to never: actions taken. Both are means over samples.
    acted, spared = (events - missed, n - below - events + missed), (missed, below - missed)
    low = np.min([_interval(*acted, n, odds, level)[0], -_interval(*spared, n, odds, level)[1]], axis=0)
    wide = (1 + level) / 2
    high = np.min([_interval(*acted, n, odds, wide)[1], -_interval(*spared, n, odds, wide)[0]], axis=0)
    return NetBenefit(t, model, always, model - np.maximum(always, 0), low, high, level, events / n, n)


def _interval(
    needed: np.ndarray, needless: np.ndarray, n: int, odds: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of a - odds b, where a and b are the shares of needed and needless actions, (m,) each."""
    a, b = needed / n, needless / n
    (low_a, high_a), (low_b, high_b) = (exact_binomial_ends(count, n, (1 - level) / 2) for count in (needed, needless))
    with np.errstate(divide="ignore", invalid="ignore"):
        together = np.nan_to_num(np.sqrt(a * b / ((1 - a) * (1 - b))), nan=1.0).clip(max=1)  # minus their correlation
    value = a - odds * b

    def reach(of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        return np.sqrt(of_a**2 + of_b**2 + 2 * together * of_a * of_b)

    return value - reach(a - low_a, odds * (high_b - b)), value + reach(high_a - a, odds * (b - low_b))
