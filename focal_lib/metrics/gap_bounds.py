r"""Interval of a sum of many absolute gaps, each of which may rest on few samples.

Let x be the summed gap of a cell, :math:`\theta` its mean and v its variance. Noise increases the mean absolute gap, by
at most the mean absolute noise,

.. math:: |\theta| \le E|x| \le |\theta| + E|x - \theta|, \qquad
          E|x - \theta| = s\sqrt{2/\pi} = 2 e^{-v} v^{\lfloor v\rfloor + 1} / \lfloor v\rfloor!

where the last equality, for Poisson noise, defines s. For normal x, :math:`E|x| = s\,h(|\theta|/s)` with
:math:`h(t) = \sqrt{2/\pi}\,e^{-t^2/2} + t\,\mathrm{erf}(t/\sqrt 2)`. h is convex: among means with the same mean of T,
the sum of the |x|, those with equal :math:`t = |\theta|/s` have the largest sum.

* High end: over cells with counts large enough for normal x, :math:`t\sum s` for the largest t at which T is not too
  small. The other cells add T and its noise, since their gaps may contain no noise.
* Low end: T minus the largest plausible noise. A second sum, only of gaps beyond s, has less noise to subtract. The
  higher of the two ends is used, each at half the error rate.

Every sample has one label, so cells are dependent. The variance of T is taken as that of independent cells times
:math:`1 + \mathrm{erf}^2(t/\sqrt 2)`, whose limit 2 is the bound of Efron and Stein (1981). The reproduction measures
that the interval is conservative.
"""

from __future__ import annotations

import numpy as np
import scipy

_NORMAL = 4.0  # variance of a cell from which its gap is taken as normal
_H0 = float(np.sqrt(2 / np.pi))  # h(0)
_BEYOND = 0.25  # mean of _beyond of a standard normal variable, from above; its variance is 0.28


def bound_sum(sums: np.ndarray, variances: np.ndarray, level: float) -> tuple[float, float, float]:
    """Low end, high end and a less biased estimate of the sum of absolute means.

    Args:
        sums: summed gap of each cell, (cells,).
        variances: variances of these sums, (cells,), not all 0.
    """
    size, noise = np.abs(sums), mean_absolute_poisson(variances)
    low, high = _low_end(size, noise, variances, level), _high_end(size, noise, variances, level)
    return low, high, min(max(low, _debiased(size, noise / _H0)), high)


def mean_absolute_poisson(variances: np.ndarray) -> np.ndarray:
    """Mean absolute deviation of Poisson variables with these variances (Johnson 1957)."""
    whole, v = np.floor(variances), np.maximum(variances, 1e-300)
    return 2 * np.exp((whole + 1) * np.log(v) - v - scipy.special.gammaln(whole + 1))


def _h(t: np.ndarray | float) -> np.ndarray | float:
    """E|t + Z|."""
    return _H0 * np.exp(-np.square(t) / 2) + t * scipy.special.erf(t / np.sqrt(2))


def _high_end(size: np.ndarray, noise: np.ndarray, variances: np.ndarray, level: float) -> float:
    z, many = float(scipy.stats.norm.ppf((1 + level) / 2)), variances >= _NORMAL
    of_few = float(size[~many].sum()) + z * np.sqrt(variances[~many].sum())
    total, errors, variance = (float(part[many].sum()) for part in (size, noise / _H0, variances))

    def excess(t: float) -> float:
        spread = variance * (1 + t * t - _h(t) ** 2) * (1 + scipy.special.erf(t / np.sqrt(2)) ** 2)
        return float(errors * _h(t) - z * np.sqrt(spread) - total)

    if not many.any() or excess(0.0) >= 0:
        return of_few
    furthest = 2 * total / errors + 10 * (1 + z)
    return of_few + errors * float(scipy.optimize.brentq(excess, 0.0, furthest))


def _low_end(size: np.ndarray, noise: np.ndarray, variances: np.ndarray, level: float) -> float:
    z, variance, errors = float(scipy.stats.norm.ppf((3 + level) / 4)), float(variances.sum()), noise / _H0
    plain = float(size.sum() - noise.sum()) - z * np.sqrt((1 - _H0**2) * variance)
    beyond = float((_beyond(size, errors) - _BEYOND * errors).sum()) - z * np.sqrt(0.28 * variance)
    return max(0.0, plain, beyond)


def _beyond(size: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Shrunken gap: 0 up to one standard error, the gap itself from three on."""
    return np.clip(1.5 * (size - errors), 0, size)


def _debiased(size: np.ndarray, errors: np.ndarray) -> float:
    """Sum of gaps moved towards 0 by a common number of standard errors, whose mean noisy sum is the observed one."""
    errors = np.maximum(errors, max(1e-12 * float(size.max(initial=0.0)), 1e-300))  # brentq halves what lies between
    steps = size / errors

    def excess(a: float) -> float:
        return float((errors * _h(np.maximum(steps + a, 0)) - size).sum())

    furthest = -float(steps.max(initial=0.0))
    if excess(furthest) >= 0:
        return 0.0
    if excess(0.0) <= 0:  # only by rounding: all gaps lie far beyond their noise
        return float(size.sum())
    return float((errors * np.maximum(steps + scipy.optimize.brentq(excess, furthest, 0.0), 0)).sum())
