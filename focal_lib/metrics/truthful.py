r"""A truthful calibration error: averaged over all thresholds that cut the probabilities into two bins.

An error is truthful if no forecast has a smaller expected one than the true probabilities. Binned errors are not: of a
single sample with p = 0.3 the mean of :math:`|r - y|` is smallest for r = 0. The averaged two-bin calibration error
(ATB) of Hartline, Hu & Wu (2026) is,

.. math:: \mathrm{ATB} = \frac1{n^2}\int_0^1 \Big(\sum_{p_i < q} (p_i - y_i)\Big)^2
          + \Big(\sum_{p_i \ge q} (p_i - y_i)\Big)^2 dq ,

since whatever the bins, the variances of the outcomes add up to the same sum: its mean is the ATB of the forecast
against the true probabilities plus :math:`\sum \mathrm{Var}(y_i)/n^2`. It is a square; its root compares with an ECE.

The root is the norm of a curve in q, to which sampling adds a Gaussian curve. The interval contains the norms of those
multiples of the observed curve under which the observed norm is neither too large nor too small, by the same draws of
noise; the high end is also at least that of gaps with equally many standard errors. As for the ECE, the noise is at
least a calibrated model's, few events are skewed, and a norm smaller than most of a calibrated model's gets that
model's high end. `debiased` is the U-statistic, unbiased but for its clipping.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS
from focal_lib.metrics.ece_interval import CALM
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.positive import checked_design, checked_event, event_count
from focal_lib.validation import check_level

_CELLS = 64  # steps of the noise curve
_DRAWS, _MOST_DRAWS, _BEYOND = 2000, 20_000, 50  # draws; more at levels near 1, so that tails hold 50


def averaged_two_bin_error(probs: Any, labels: Any, *, weights: Any = None) -> float:
    """Averaged two-bin calibration error of the probability of an event (Hartline, Hu & Wu 2026).

    Of more than two classes, `averaged_two_bin_error_of` of what `top_label` returns is that of the confidence.

    Args:
        probs: (n,) probabilities of the event, or (n, 2) with the event last.
        labels: (n,) of 0 and 1, integers or truth values.
        weights: (n,), sample weights.

    Raises:
        ValueError: as positive_ece.

    >>> round(averaged_two_bin_error([0.4] * 4, [0, 0, 0, 1]), 4)  # one probability: (0.4 - 0.25)^2
    0.0225
    """
    p, y = checked_event(probs, labels, "averaged_two_bin_error")
    design, p, y = checked_design(len(p), weights).counted(p, y)
    return averaged_two_bin_error_of(p, y, design.weights)


def averaged_two_bin_error_of(p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """`averaged_two_bin_error` of probabilities (n,) and outcomes (n,), unchecked.

    >>> averaged_two_bin_error_of(np.array([0.5, 0.5]), np.array([1, 0]))
    0.0
    """
    order = np.argsort(p, kind="stable")
    values, gaps = p[order], (p - y)[order] if weights is None else (weights * (p - y))[order]
    curve = _curve(gaps, values)
    return float(curve @ curve) / (len(p) if weights is None else float(weights.sum())) ** 2


def averaged_two_bin_error_interval(
    probs: Any, labels: Any, *, weights: Any = None, groups: Any = None, level: float = 0.95
) -> Interval:
    """`averaged_two_bin_error` with its confidence interval; same arguments and errors.

    Args:
        groups: (n,), a label for each sample; samples with the same label may be dependent. With fewer than 10
            effective groups the ends are nan.
        level: in (0, 1), else ValueError.

    >>> found = averaged_two_bin_error_interval([0.9] * 100, [1] * 50 + [0] * 50)  # (0.4 -+ 1.96 * 0.05)^2
    >>> round(found.estimate, 4), round(found.low, 2), round(found.high, 2)
    (0.16, 0.09, 0.25)
    """
    p, y = checked_event(probs, labels, "averaged_two_bin_error_interval")
    return averaged_two_bin_error_interval_of(p, y, level=level, design=checked_design(len(p), weights, groups))


def averaged_two_bin_error_interval_of(
    p: np.ndarray, y: np.ndarray, *, level: float = 0.95, design: Design = PLAIN
) -> Interval:
    """`averaged_two_bin_error_interval` of probabilities (n,) and outcomes (n,), 0 or 1.

    >>> averaged_two_bin_error_interval_of(np.full(100, 0.5), np.repeat([1, 0], 50)).low
    0.0
    """
    check_level(level)
    design, p, y = design.counted(p, y)
    n, weights = len(p), np.ones(len(p)) if design.weights is None else design.weights
    estimate = averaged_two_bin_error_of(p, y, weights)
    if n < 2 or (design.groups is not None and design.effective(n) < LEAST_GROUPS):
        return Interval(estimate, np.nan, np.nan, level=level)
    observed, alike, noise = _cells(p, y, weights, design, level)
    apart, root = (noise * noise).sum(1), float(np.sqrt(estimate))
    count = event_count(p, y, level=level, design=design)
    skewed = max(0.0, max(count.high - count.events, count.events - count.low) - count.reach) / n

    def end(curve: np.ndarray, probability: float, seen: float) -> float:
        along = noise @ (curve / max(float(np.sqrt(curve @ curve)), 1e-300))

        def excess(size: float) -> float:
            return float(np.quantile(size * (size + 2 * along) + apart, probability)) - seen**2

        furthest = seen + 10 * float(np.sqrt(apart.max())) + 1e-12
        return 0.0 if excess(0.0) >= 0 else float(scipy.optimize.brentq(excess, 0.0, furthest, xtol=1e-9))

    calm = float(np.sqrt(np.quantile(apart, CALM)))
    low = end(observed, (1 + level) / 2, root)
    high = max(end(curve, (1 - level) / 2, max(root, calm)) for curve in (observed, alike)) + skewed
    own = design.totals(p - y)
    debiased = (estimate - float(own @ own) / n**2) * len(own) / (len(own) - 1)
    low, high = low**2, min(1.0, high**2)
    return Interval(estimate, low, high, "inverted test", level, debiased=float(np.clip(debiased, low, high)))


def _curve(gaps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums below and above every threshold, times the root of its width: (..., n) -> (..., 2 n + 1); its square is ATB.

    Args:
        gaps: summed p - y of each value, (..., n).
        values: (n,), increasing.
    """
    below, widths = np.cumsum(gaps, -1), np.sqrt(np.diff(values, append=1.0))
    total = below[..., -1:]
    return np.concatenate([np.sqrt(values[0]) * total, widths * below, widths * (total - below)], -1)


def _cells(
    p: np.ndarray, y: np.ndarray, weights: np.ndarray, design: Design, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The observed curve over cells of about equal mass, (m,), that of equal gaps, and draws of noise, (draws, m).

    Equal are gaps of equally many standard errors. Noise is largest along their curve, so the truth may be farthest.
    """
    n, gaps = len(p), weights * (p - y)
    edges = np.unique(np.quantile(p, np.arange(1, _CELLS) / _CELLS))
    index = np.searchsorted(edges, p)
    sums, mass, moment, calibrated, squares = (
        np.bincount(index, v, len(edges) + 1) for v in (gaps, weights, weights * p, weights**2 * p * (1 - p), gaps**2)
    )
    filled = mass > 0
    index = np.cumsum(filled)[index] - 1
    sums, calibrated, squares = sums[filled], calibrated[filled], squares[filled]
    cells = len(sums)
    covariance: np.ndarray = np.diag(squares)
    if design.groups is not None:
        groups = design.groups.max() + 1
        of_groups = np.bincount(design.groups * cells + index, gaps, groups * cells).reshape(groups, cells)
        covariance = of_groups.T @ of_groups
    parts = design.independent(n)
    covariance = (covariance - np.outer(sums, sums) / parts) * parts / (parts - 1)
    own = np.diag(covariance)
    effect = max(1.0, float(own.sum() / squares.sum())) if squares.any() and design.groups is not None else 1.0
    errors = np.sqrt(np.maximum(effect * calibrated, own))
    lengths, axes = np.linalg.eigh(covariance + np.diag(errors**2 - own))
    rng, draws = np.random.default_rng(0), int(np.clip(2 * _BEYOND / (1 - level), _DRAWS, _MOST_DRAWS))
    noise = (rng.standard_normal((draws, cells)) * np.sqrt(np.maximum(lengths, 0))) @ axes.T
    if not design.is_plain:  # few groups estimate a variance poorly
        degrees = design.degrees(n)
        noise *= np.sqrt(degrees / rng.chisquare(degrees, (draws, 1)))
    values = (moment / np.maximum(mass, 1e-300))[filled]
    return _curve(sums / n, values), _curve(errors, values), _curve(noise / n, values)
