r"""Selective prediction: answer where the confidence is above a threshold, and abstain on the rest.

The share of wrong answers is the selective risk, the share of samples answered is the coverage (El-Yaniv & Wiener
2010). A threshold is certified if an upper bound of its risk, not the estimate, is small enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.scores import top_label
from focal_lib.validation import check_level

STEPS = 50  # coverages at which the risk is bounded


@dataclass(frozen=True)
class Threshold:
    """A threshold of the confidence, above which the model answers, with its coverage and risk.

    Attributes:
        threshold: rounded up (see risk_coverage); 0 if all samples are answered.
        coverage: share of the samples that are answered.
        risk: share of the answers that are wrong.
        bound: upper confidence bound of the risk.

    >>> probs, labels = [[0.9, 0.1]] * 100 + [[0.6, 0.4]] * 100, [0] * 150 + [1] * 50
    >>> found = risk_coverage(probs, labels).certified(risk=0.1)
    >>> found.threshold, found.coverage, found.risk, round(found.bound, 2)
    (0.6, 0.5, 0.0, 0.07)
    """

    threshold: float
    coverage: float
    risk: float
    bound: float


@dataclass(frozen=True)
class RiskCoverage:
    """Selective risk at up to 50 coverages, increasing, with simultaneous upper bounds; arrays (m,).

    Attributes:
        threshold, coverage, risk, bound: as in Threshold.
        level: probability that all bounds hold.
        aurc: area under the curve of all coverages.
        aurc_at_best: aurc of the best ranking, with every error last.
        samples: number of samples.

    >>> curve = risk_coverage([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]], [0, 0, 1, 0])
    >>> round(curve.aurc, 4), round(curve.aurc_at_best, 4)  # means of 0, 0, 1/3, 1/4 and of 0, 0, 0, 1/4
    (0.1458, 0.0625)
    """

    threshold: np.ndarray
    coverage: np.ndarray
    risk: np.ndarray
    bound: np.ndarray
    level: float
    aurc: float
    aurc_at_best: float
    samples: int

    def certified(self, risk: float) -> Threshold | None:
        """Threshold of the largest coverage whose bound is at most `risk`; None if there is none.

        The bounds hold simultaneously, so `risk` may be chosen after seeing them, and more than once.

        Raises:
            ValueError: risk not in (0, 1).
        """
        check_level(risk, "risk")
        good = np.flatnonzero(self.bound <= risk)
        columns = (self.threshold, self.coverage, self.risk, self.bound)
        return Threshold(*(float(values[good[-1]]) for values in columns)) if len(good) else None


def risk_coverage(probs: Any, labels: Any, *, level: float = 0.95) -> RiskCoverage:
    r"""Risk-coverage curve of the top label's confidence, with upper bounds that all hold with probability `level`.

    A coverage is at most :math:`j/50` of the samples, the most confident ones. The threshold is the confidence of the
    next sample, rounded up to four decimals, or to three digits of its distance to 1. Given that sample and the number
    above the threshold, the answers are independent draws, so their errors are binomial. The bound is exact (Clopper &
    Pearson 1934), at level :math:`1 - (1 - \mathrm{level})/50` each: the Bonferroni form of Geifman & El-Yaniv (2017)
    and of Learn then Test (Angelopoulos et al. 2021).

    Args:
        probs, labels: as in top_label, of independent samples that were not fitted on.

    Raises:
        ValueError: as metrics.top_label; level not in (0, 1).

    >>> curve = risk_coverage([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]], [0, 0, 1, 0])
    >>> curve.coverage.tolist(), curve.risk.round(4).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.3333, 0.25])
    """
    return risk_coverage_of(*top_label(probs, labels), level=level)


def risk_coverage_of(confidence: np.ndarray, correct: np.ndarray, *, level: float = 0.95) -> RiskCoverage:
    """`risk_coverage` of confidences (n,) and correctness (n,); same errors.

    >>> curve = risk_coverage_of(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1, 1, 0, 1]))
    >>> curve.risk.round(4).tolist(), curve.threshold.tolist()  # answer above the confidence of the next sample
    ([0.0, 0.0, 0.3333, 0.25], [0.8, 0.7, 0.6, 0.0])
    """
    if not len(confidence):
        raise ValueError("confidence must not be empty. Got none.")
    check_level(level)
    n, order = len(confidence), np.argsort(-confidence, kind="stable")
    ordered, errors = confidence[order], np.r_[0, np.cumsum(1 - correct[order])]
    counts = np.unique([math.ceil(step * n / STEPS) for step in range(1, STEPS + 1)])
    thresholds = _rounded_up(np.append(ordered, 0.0)[counts])  # confidence of the next sample
    thresholds[counts == n] = 0.0
    answered = np.searchsorted(-ordered, -thresholds, side="left")  # strictly above: no ties
    answered[counts == n] = n
    answered, first = np.unique(answered, return_index=True)
    thresholds, bounded = thresholds[first][answered > 0], answered[answered > 0]
    found = errors[bounded]
    each = (1 - level) / len(counts)  # over all requested coverages, also merged ones
    bound = exact_binomial_ends(found, bounded, each)[1]
    areas = aurc_of(confidence, correct), aurc_of(correct, correct)
    return RiskCoverage(thresholds, bounded / n, found / bounded, bound, level, *areas, n)


def _rounded_up(confidence: np.ndarray) -> np.ndarray:
    """Round up to four decimals, or to three digits of the distance to 1."""
    distance = np.maximum(1 - confidence, 1e-12)
    unit = 10.0 ** np.maximum(4, 2 + np.ceil(-np.log10(distance)))
    above = np.ceil(confidence * unit) / unit
    above = np.where(above < confidence, (np.ceil(confidence * unit) + 1) / unit, above)
    return np.where((np.rint(confidence * unit) / unit == confidence) | (above >= 1), confidence, above)


def certified_threshold(probs: Any, labels: Any, risk: float, *, level: float = 0.95) -> Threshold | None:
    """Confidence threshold of the largest coverage whose risk is at most `risk` with probability `level`, or None.

    Arguments and errors as risk_coverage and RiskCoverage.certified.

    >>> probs, labels = [[0.9, 0.1]] * 100 + [[0.6, 0.4]] * 100, [0] * 150 + [1] * 50
    >>> certified_threshold(probs, labels, risk=0.1).coverage  # the confident half is always right
    0.5
    """
    return risk_coverage(probs, labels, level=level).certified(risk)


def certified_threshold_of(
    confidence: np.ndarray, correct: np.ndarray, risk: float, *, level: float = 0.95
) -> Threshold | None:
    """`certified_threshold` of confidences (n,) and correctness (n,); same errors.

    >>> confidence, correct = np.repeat([0.9, 0.6], 100), np.repeat([1, 0], [150, 50])
    >>> certified_threshold_of(confidence, correct, risk=0.01) is None  # 100 samples cannot show so little
    True
    """
    return risk_coverage_of(confidence, correct, level=level).certified(risk)


def aurc(probs: Any, labels: Any) -> float:
    """Area under the risk-coverage curve: mean over m of the risk of the m most confident (Geifman et al. 2019).

    Tied samples are averaged over their orders. Errors as metrics.top_label.

    >>> probs, labels = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]], [0, 0, 1, 0]
    >>> round(aurc(probs, labels), 4)  # mean of 0, 0, 1/3, 1/4
    0.1458
    """
    return aurc_of(*top_label(probs, labels))


def aurc_of(confidence: np.ndarray, correct: np.ndarray) -> float:
    """`aurc` of confidences (n,) and correctness (n,), unchecked.

    >>> round(aurc_of(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1, 1, 0, 1])), 4)  # mean of 0, 0, 1/3, 1/4
    0.1458
    """
    order = np.argsort(-confidence, kind="stable")
    ordered, wrong = confidence[order], 1 - correct[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=np.inf))
    sizes = np.diff(np.append(starts, len(ordered)))
    wrong = np.repeat(np.add.reduceat(wrong, starts) / sizes, sizes)  # tied samples share their errors
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())
