r"""Overconfidence and underconfidence apart: the two parts of an ECE.

.. math:: \mathrm{OCE} = \sum_b \frac{n_b}{n}\,(\mathrm{conf}_b - \mathrm{acc}_b)_+ , \qquad
          \mathrm{UCE} = \sum_b \frac{n_b}{n}\,(\mathrm{acc}_b - \mathrm{conf}_b)_+ , \qquad
          \mathrm{OCE} + \mathrm{UCE} = \mathrm{ECE} .

The overconfidence error of Thulasidasan et al. (2019) weights each gap by the bin's confidence in addition, so it has
no counterpart with which it adds up to the ECE.

The intervals invert the test of `ece_interval`. At the low end all gaps are moved towards 0 by a common number of
standard errors. At the high end those of the asked sign are moved away from 0, and the others add no noise. It is also
at least that of gaps with equally many standard errors, in all bins that may have the asked sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.bins import DEFAULT_BINS, Binning, binned
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.ece_interval import (
    CALM,
    FURTHEST,
    bin_gaps,
    interval_of_top_label,
    noise_draws,
    unseen_part,
)
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.scores import weighted_top_label
from focal_lib.validation import check_level

_SURELY = 3.0  # standard errors at which a gap surely has its sign


def overconfidence(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> float:
    """The part of the ECE from bins whose confidence exceeds their accuracy.

    Args:
        probs, labels: as in ece.
        binning: bins of equal 'width' or of equal 'mass'.
        weights: (n,), sample weights.

    Raises:
        ValueError: as ece; another binning.

    >>> probs = [[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2
    >>> round(overconfidence(probs, [0, 1, 0, 0]), 4)  # half of 0.9 - 0.5
    0.2
    """
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return _part(confidence, correct, n_bins, binning, weights, 1)


def underconfidence(
    probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, binning: Binning = "width", weights: Any = None
) -> float:
    """The part of the ECE from bins whose accuracy exceeds their confidence; arguments and errors as `overconfidence`.

    >>> probs = [[0.9, 0.1]] * 2 + [[0.6, 0.4]] * 2
    >>> round(underconfidence(probs, [0, 1, 0, 0]), 4)  # half of 1 - 0.6
    0.2
    """
    confidence, correct, weights = weighted_top_label(probs, labels, weights)
    return _part(confidence, correct, n_bins, binning, weights, -1)


def overconfidence_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: np.ndarray | None = None,
) -> float:
    """`overconfidence` of confidences (n,) and correctness (n,), or of an event's; unchecked.

    >>> overconfidence_of(np.full(4, 0.75), np.array([1, 1, 0, 0]))
    0.25
    """
    return _part(confidence, correct, n_bins, binning, weights, 1)


def underconfidence_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: np.ndarray | None = None,
) -> float:
    """`underconfidence` of confidences (n,) and correctness (n,), or of an event's; unchecked.

    >>> underconfidence_of(np.full(4, 0.25), np.array([1, 1, 0, 0]))
    0.25
    """
    return _part(confidence, correct, n_bins, binning, weights, -1)


def _part(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int,
    binning: Binning,
    weights: np.ndarray | None,
    sign: int,
) -> float:
    """Sum of the positive parts of sign times the gaps."""
    residual = sign * np.subtract(confidence, correct, dtype=np.float64)
    gaps = binned(confidence, n_bins, binning, weights).total(residual if weights is None else weights * residual)
    return float(np.maximum(gaps, 0).sum()) / (len(residual) if weights is None else float(weights.sum()))


def overconfidence_interval(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: Any = None,
    level: float = 0.95,
) -> Interval:
    """`overconfidence` with its confidence interval; arguments and errors as `ece_interval`.

    >>> found = overconfidence_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50)  # 0.4 -+ 1.96 * 0.05
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.4, 0.3, 0.5)
    """
    return interval_of_top_label(
        overconfidence_interval_of, probs, labels, weights, n_bins=n_bins, binning=binning, level=level
    )


def underconfidence_interval(
    probs: Any,
    labels: Any,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    weights: Any = None,
    level: float = 0.95,
) -> Interval:
    """`underconfidence` with its confidence interval; arguments and errors as `ece_interval`.

    >>> found = underconfidence_interval([[0.9, 0.1]] * 100, [0] * 50 + [1] * 50)
    >>> found.estimate, found.low, found.high < 0.01
    (0.0, 0.0, True)
    """
    return interval_of_top_label(
        underconfidence_interval_of, probs, labels, weights, n_bins=n_bins, binning=binning, level=level
    )


def overconfidence_interval_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`overconfidence_interval` of confidences (n,) and correctness (n,); arguments and errors as ece_interval_of.

    >>> round(overconfidence_interval_of(np.full(100, 0.9), np.repeat([1, 0], 50)).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
    return _interval(confidence, correct, n_bins, binning, level, design, 1)


def underconfidence_interval_of(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int = DEFAULT_BINS,
    *,
    binning: Binning = "width",
    level: float = 0.95,
    design: Design = PLAIN,
) -> Interval:
    """`underconfidence_interval` of confidences (n,) and correctness (n,); arguments and errors as ece_interval_of.

    >>> round(underconfidence_interval_of(np.full(100, 0.1), np.repeat([1, 0], 50)).low, 2)  # 0.4 - 1.96 * 0.05
    0.3
    """
    return _interval(confidence, correct, n_bins, binning, level, design, -1)


def _interval(
    confidence: np.ndarray,
    correct: np.ndarray,
    n_bins: int,
    binning: Binning,
    level: float,
    design: Design,
    sign: int,
) -> Interval:
    """Sum of the positive parts of sign times the gaps, with its interval."""
    check_level(level)
    design, confidence, correct = design.counted(confidence, correct)
    gaps, errors, _, noise = bin_gaps(confidence, correct, n_bins, binning, level, design)
    gaps, tail = sign * gaps, (1 - level) / 2
    observed = float(np.maximum(gaps, 0).sum())
    if noise is not None and np.isnan(noise).any():
        return Interval(observed, np.nan, np.nan, level=level)
    unseen = unseen_part(confidence, correct, n_bins, binning, level, design)
    if not errors.any():  # every probability 0 or 1, and right
        return Interval(observed, observed, min(1.0, observed + unseen), "inverted test", level, debiased=observed)
    noise = errors * noise_draws(len(gaps), level) if noise is None else noise

    def quantile(of: np.ndarray, probability: float, bins: np.ndarray | slice = slice(None)) -> float:
        return float(np.quantile(np.maximum(of + noise[:, bins], 0).sum(1), probability))

    def shrunk(a: float) -> np.ndarray:
        return np.sign(gaps) * np.maximum(np.abs(gaps) + a * errors, 0)

    none = max(-float(np.max(np.abs(gaps) / np.maximum(errors, 1e-300))), -1e6)  # at which every gap is 0

    def end(probability: float) -> float:
        a = _root(lambda a: quantile(shrunk(a), probability) - observed, none, FURTHEST)
        return float(np.maximum(shrunk(a), 0).sum()) if a > none else 0.0

    own, may = gaps > 0, gaps > -_SURELY * errors
    seen = max(observed, quantile(np.zeros(np.count_nonzero(may)), CALM, may))
    high = 0.0
    if own.any():
        a = _root(lambda a: quantile((gaps + a * errors)[own], tail, own) - seen, 0.0, FURTHEST)
        high = float((gaps + a * errors)[own].sum())
    if may.any():
        total = float(errors[may].sum())
        most = seen + 1e-9 * total  # the last of those under which all gaps may have come out with the other sign
        furthest = FURTHEST + 2 * seen / total
        high = max(high, total * _root(lambda t: quantile(t * errors[may], tail, may) - most, 0.0, furthest))
    low, middle = end((1 + level) / 2), end(0.5)
    high = min(1.0, max(high, low) + unseen)
    return Interval(observed, low, high, "inverted test", level, debiased=float(np.clip(middle, low, high)))


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function is 0, or the end that is nearer to it."""
    if excess(low) >= 0:
        return low
    return high if excess(high) <= 0 else float(scipy.optimize.brentq(excess, low, high, xtol=1e-3))
