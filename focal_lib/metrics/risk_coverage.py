r"""Selective prediction: answer where the confidence is above a threshold, and leave the rest to someone else.

Of the answers, the share that are wrong is the selective risk; the share of samples that are answered is the coverage
(El-Yaniv & Wiener 2010). A threshold is certified where an upper bound of its risk, not the estimate, is small enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.metrics.scores import top_label
from focal_lib.validation import check_number

STEPS = 50  # coverages at which the risk is bounded


@dataclass(frozen=True)
class Threshold:
    """Answer where the confidence is above `threshold`.

    Attributes:
        threshold: of the confidence, rounded up (see risk_coverage); 0 where all samples are answered.
        coverage: share of the samples that are answered.
        risk: share of the answers that are wrong.
        bound: what the risk of the model, not of the sample, is at most, with the probability that was asked for.
    """

    threshold: float
    coverage: float
    risk: float
    bound: float


@dataclass(frozen=True)
class RiskCoverage:
    """Selective risk at up to 50 coverages, rising, with upper bounds that hold together; arrays (m,).

    Attributes:
        threshold, coverage, risk, bound: as of Threshold.
        level: with which probability all bounds hold.
        aurc: area under the curve of all coverages.
        aurc_at_best: that of confidences which put every error last.
        samples: their number.
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
        """The largest coverage whose bound is at most `risk`; None where no coverage has one.

        The bounds hold together, so `risk` may be chosen after looking, and more than once.

        Raises:
            ValueError: risk not in (0, 1).
        """
        if not 0 < risk < 1:
            raise ValueError(f"risk must lie in (0, 1). Got {risk}.")
        good = np.flatnonzero(self.bound <= risk)
        if not len(good):
            return None
        return Threshold(
            *(float(values[good[-1]]) for values in (self.threshold, self.coverage, self.risk, self.bound))
        )


def risk_coverage(probs: Any, labels: Any, *, level: float = 0.95) -> RiskCoverage:
    r"""The risk-coverage curve of the top label's confidence, with upper bounds that all hold with probability `level`.

    A coverage is :math:`j/50` of the samples at most, those of the largest confidence; the threshold is the confidence
    of the next, rounded up to four digits, or to three of its distance to 1, so that it can be said in full. Given the
    next, and how many lie above the threshold, these are independent draws of the model's answers, so their
    errors are binomial, and the bound is exact (Clopper & Pearson 1934), at :math:`1 - (1 - \mathrm{level})/50` each:
    the Bonferroni form of Geifman & El-Yaniv (2017) and of Learn then Test (Angelopoulos et al. 2021).

    Args:
        probs: (n, K) distributions.
        labels: (n,) integers in 0 ... K-1; samples independent, and none of them fitted on.

    Raises:
        ValueError: as metrics.top_label; level not in (0, 1).
    """
    return risk_coverage_of(*top_label(probs, labels), level=level)


def risk_coverage_of(confidence: np.ndarray, correct: np.ndarray, *, level: float = 0.95) -> RiskCoverage:
    """`risk_coverage` of confidences (n,) and correctness (n,).

    Raises:
        ValueError: no samples; level not in (0, 1).
    """
    if not len(confidence):
        raise ValueError("confidence must not be empty. Got none.")
    if not 0 < check_number(level, "level") < 1:
        raise ValueError(f"level must lie in (0, 1). Got {level}.")
    n, wrong = len(confidence), 1 - correct
    order = np.argsort(-confidence, kind="stable")
    ordered, errors = confidence[order], np.r_[0, np.cumsum(wrong[order])]
    counts = np.unique([math.ceil(step * n / STEPS) for step in range(1, STEPS + 1)])
    thresholds = np.append(ordered, 0.0)[counts]  # of the next; of all, nothing is left out
    thresholds = _rounded_up(thresholds)
    thresholds[counts == n] = 0.0
    answered = np.searchsorted(-ordered, -thresholds, side="left")  # strictly above: none of those that tie
    answered[counts == n] = n
    answered, first = np.unique(answered, return_index=True)
    thresholds, bounded = thresholds[first][answered > 0], answered[answered > 0]
    found = errors[bounded]
    each = (1 - level) / len(counts)  # of all coverages that were asked for, whichever fell together
    bound = exact_binomial_ends(found, bounded, each)[1]
    best = aurc_of(1 - wrong, correct)
    return RiskCoverage(thresholds, bounded / n, found / bounded, bound, level, aurc_of(confidence, correct), best, n)


def _rounded_up(confidence: np.ndarray) -> np.ndarray:
    """To four decimals, or so many that three digits of the distance to 1 stay."""
    distance = np.maximum(1 - confidence, 1e-12)
    unit = 10.0 ** np.maximum(4, 2 + np.ceil(-np.log10(distance)))
    above = np.ceil(confidence * unit) / unit
    above = np.where(above < confidence, (np.ceil(confidence * unit) + 1) / unit, above)
    return np.where((np.rint(confidence * unit) / unit == confidence) | (above >= 1), confidence, above)


def certified_threshold(probs: Any, labels: Any, risk: float, *, level: float = 0.95) -> Threshold | None:
    """The largest coverage whose selective risk is at most `risk`, with probability `level`; None where there is none.

    Raises:
        ValueError: as risk_coverage; risk not in (0, 1).
    """
    return risk_coverage(probs, labels, level=level).certified(risk)


def certified_threshold_of(
    confidence: np.ndarray, correct: np.ndarray, risk: float, *, level: float = 0.95
) -> Threshold | None:
    """`certified_threshold` of confidences (n,) and correctness (n,); errors the same."""
    return risk_coverage_of(confidence, correct, level=level).certified(risk)


def aurc(probs: Any, labels: Any) -> float:
    """Area under the risk-coverage curve: the mean over m of the risk of the m surest (Geifman et al. 2019).

    Samples that tie count in the mean over all their orders.

    Raises:
        ValueError: as metrics.top_label.
    """
    return aurc_of(*top_label(probs, labels))


def aurc_of(confidence: np.ndarray, correct: np.ndarray) -> float:
    """`aurc` of confidences (n,) and correctness (n,), unchecked."""
    order = np.argsort(-confidence, kind="stable")
    ordered, wrong = confidence[order], 1 - correct[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=np.inf))
    sizes = np.diff(np.append(starts, len(ordered)))
    wrong = np.repeat(np.add.reduceat(wrong, starts) / sizes, sizes)  # of samples that tie each has its share
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())
