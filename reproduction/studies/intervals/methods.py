r"""Intervals, tests and gates of the library, and two tests by their formulas: Cox (1958) and T-Cal.

Each has what it is of: an interval the error that it should contain, a test its null hypothesis. All judge what
`Sample.judged` returns, but for the classwise ECE.

* Cox: of :math:`\operatorname{logit} P(y) = a + b \operatorname{logit} p` the likelihood ratio to a = 0, b = 1, chi
  squared with two degrees of freedom.
* T-Cal (Lee, Huang, Hassani & Dobriban 2023): squared gaps of :math:`2, 4, \dots, 2^B` bins of equal width without
  their expectation, :math:`\frac1n \sum_b \frac1{n_b} \big[(\sum_{i \in b} r_i)^2 - \sum_{i \in b} r_i^2\big]` with
  :math:`r = p - y` and :math:`B = \lfloor 2 \log_2 (n / \sqrt{\log n}) \rfloor`, each against its quantile
  :math:`1 - \alpha / B` in consistency resamples, which draw scores and then labels by them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy
from scipy.special import expit, xlogy

from focal_lib.metrics.calibration_test import calibration_p_value_of
from focal_lib.metrics.ece_interval import classwise_ece_interval, ece_interval
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.positive import positive_ece_interval
from focal_lib.metrics.truthful import averaged_two_bin_error_interval_of
from focal_lib.tool.gate import check
from reproduction.studies.intervals.models import Model, Sample

ALPHA = 0.05  # of tests; intervals have level 1 - ALPHA
OURS = "focal_lib"
FORMULA = "formula"  # in place of a package: by its formula, here
PASS, FAIL, OPEN = "pass", "fail", "investigate"
_DRAWS = 499  # of calibration_p_value, a quarter of its default
_RESAMPLES = 500  # of T-Cal, whose published code has 3,000

Kind = Literal["interval", "test", "gate"]


class Method(NamedTuple):
    """An interval, a test or a gate.

    Attributes:
        name: for tables.
        kind: what `run` returns: 'interval' its ends (low, high), 'test' a p-value, 'gate' PASS, FAIL or OPEN.
        package: that it is from, as pip names it.
        of: the true error that an interval should contain, by its name in true_errors; the null hypothesis of a test.
        run: a sample and its model -> the result.
        draws: on how many of twenty draws it is run: slow ones on few.
    """

    name: str
    kind: Kind
    package: str
    of: str
    run: Callable[[Sample, Model], Any]
    draws: int = 20


def _ends(found: Interval) -> tuple[float, float]:
    return found.low, found.high


def _ece(sample: Sample, model: Model) -> tuple[float, float]:
    interval = positive_ece_interval if model.classes == 2 else ece_interval
    return _ends(interval(sample.probs, sample.labels, level=1 - ALPHA))


def _classwise(sample: Sample, model: Model) -> tuple[float, float]:
    return _ends(classwise_ece_interval(sample.probs, sample.labels, level=1 - ALPHA))


def _truthful(sample: Sample, model: Model) -> tuple[float, float]:
    return _ends(averaged_two_bin_error_interval_of(*sample.judged(), level=1 - ALPHA))


def _monte_carlo(sample: Sample, model: Model) -> float:
    return calibration_p_value_of(*sample.judged(), draws=_DRAWS)


def _check(sample: Sample, model: Model) -> str:
    found = check((sample.probs, sample.labels), model.limit, given="probs", level=1 - ALPHA)
    return found.outcome.name.lower()


def _cox(sample: Sample, model: Model) -> float:
    p, y = sample.judged()
    return cox_p_value(p, y)


def _t_cal(sample: Sample, model: Model) -> float:
    p, y = sample.judged()
    return t_cal_p_value(p, y, np.random.default_rng(0))


def cox_p_value(p: np.ndarray, y: np.ndarray) -> float:
    """Likelihood-ratio test of intercept 0 and slope 1; nan where all outcomes are alike.

    >>> p = np.repeat([0.2, 0.8], 50)
    >>> y = np.r_[np.repeat([1, 0], [10, 40]), np.repeat([1, 0], [40, 10])]  # as predicted
    >>> round(cox_p_value(p, y), 3)
    1.0
    """
    if y.min() == y.max():
        return float("nan")
    clipped = np.clip(p, 1e-8, 1 - 1e-8)
    logit = np.log(clipped / (1 - clipped))
    design = np.stack([np.ones_like(logit), logit], 1)

    def lost(beta: np.ndarray) -> tuple[float, np.ndarray]:
        fitted = expit(design @ beta)
        value = -float((xlogy(y, fitted) + xlogy(1 - y, 1 - fitted)).sum())
        return value, design.T @ (fitted - y)

    start = np.array([0.0, 1.0])
    fit = scipy.optimize.minimize(lost, start, jac=True, method="BFGS")
    return float(scipy.stats.chi2.sf(max(0.0, 2 * (lost(start)[0] - fit.fun)), 2))


def t_cal_p_value(p: np.ndarray, y: np.ndarray, rng: np.random.Generator, resamples: int = _RESAMPLES) -> float:
    """The least alpha at which adaptive T-Cal rejects: B times the least share of resamples at least as large.

    >>> p = np.repeat([0.2, 0.8], 50)
    >>> t_cal_p_value(p, 1 - (p > 0.5), np.random.default_rng(0), 999) < 0.05
    True
    """
    n = len(p)
    scales = int(2 * np.log2(n / np.sqrt(np.log(n))))
    drawn = rng.integers(0, n, (resamples, n))
    residuals = p[drawn] - (rng.random((resamples, n)) < p[drawn])
    least = 1.0
    for scale in range(1, scales + 1):
        _, cell = np.unique(np.floor(2**scale * p), return_inverse=True)
        observed = _debiased(cell[None], (p - y)[None])[0]
        simulated = _debiased(cell[drawn], residuals)
        least = min(least, (1 + np.count_nonzero(simulated >= observed - 1e-12)) / (1 + resamples))
    return min(1.0, scales * least)


def _debiased(cell: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """T-Cal's statistic of each row: cells and residuals (m, n) -> (m,)."""
    rows, width = len(cell), int(cell.max()) + 1
    flat = (cell + width * np.arange(rows)[:, None]).ravel()
    count, sums, squares = (
        np.bincount(flat, weights, rows * width) for weights in (None, residual.ravel(), residual.ravel() ** 2)
    )
    return ((sums**2 - squares) / np.maximum(count, 1)).reshape(rows, width).sum(1) / cell.shape[1]


IN_BINS = "in each of 15 bins of equal mass as many events as expected"
OWN = (
    Method("ECE, inverted test", "interval", OURS, "ece", _ece),
    Method("classwise ECE, bounds", "interval", OURS, "classwise", _classwise),
    Method("averaged two-bin error, inverted test", "interval", OURS, "truthful", _truthful),
    Method("Monte Carlo test of the ECE", "test", OURS, IN_BINS, _monte_carlo),
    Method("check", "gate", OURS, "ece", _check),
    Method("Cox", "test", FORMULA, "intercept 0 and slope 1 of a logistic recalibration", _cox),
    Method("T-Cal, adaptive", "test", FORMULA, "in bins of many widths as many events as expected", _t_cal, 1),
)
