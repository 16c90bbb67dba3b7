r"""An interval of a sum of many absolute gaps, each of which may be made of few samples.

Let x be the summed gap of a cell, :math:`\theta` its mean and v its variance. Noise only adds, and no more than itself,

.. math:: |\theta| \le E|x| \le |\theta| + E|x - \theta|, \qquad
          E|x - \theta| = s\sqrt{2/\pi} = 2 e^{-v} v^{\lfloor v\rfloor + 1} / \lfloor v\rfloor!

by Poisson's distribution, which defines s; and for normal x, :math:`E|x| = s\,h(|\theta|/s)` with
:math:`h(t) = \sqrt{2/\pi}\,e^{-t^2/2} + t\,\mathrm{erf}(t/\sqrt 2)`. h is convex: of all means for which the sum T of
the |x| has one mean, those with equal :math:`t = |\theta|/s` have the largest sum.

* High end: :math:`t\sum s` for the largest t at which T is not too small, where counts make x normal; T itself and its
  noise where they are fewer, since such a gap may be noise or none of it.
* Low end: T without all the noise there may be. A second sum, of gaps beyond s alone, has less noise to take away; the
  higher of the two ends counts, each at half the error.

The classes of one sample exclude each other, so cells depend: the variance of T is taken as that of independent cells
times :math:`1 + \mathrm{erf}^2(t/\sqrt 2)`, whose limit 2 is the bound of Efron and Stein (1981). It covers at least as
often as its level says, and mostly more: `coverage` measures it.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats
from scipy.optimize import brentq

_NORMAL = 4.0  # variance of a cell from which its gap is taken as normal
_H0 = float(np.sqrt(2 / np.pi))  # h(0)
_BEYOND = 0.25  # mean of _beyond of a standard normal variable, from above; its variance is 0.28


def bound_sum(sums: np.ndarray, variances: np.ndarray, level: float) -> tuple[float, float, float]:
    """Low end, high end and an estimate with less bias of the sum of absolute means.

    Args:
        sums: of each cell, (cells,).
        variances: of these sums, (cells,), some of them positive.
    """
    size, noise = np.abs(sums), mean_absolute_poisson(variances)
    low, high = _low_end(size, noise, variances, level), _high_end(size, noise, variances, level)
    return low, high, min(max(low, _debiased(size, noise / _H0)), high)


def mean_absolute_poisson(variances: np.ndarray) -> np.ndarray:
    """Mean absolute deviation of Poisson variables from their means, which are their variances (Johnson 1957)."""
    whole, v = np.floor(variances), np.maximum(variances, 1e-300)
    return 2 * np.exp((whole + 1) * np.log(v) - v - special.gammaln(whole + 1))


def _h(t: np.ndarray | float) -> np.ndarray | float:
    """E|t + Z|."""
    return _H0 * np.exp(-np.square(t) / 2) + t * special.erf(t / np.sqrt(2))


def _high_end(size: np.ndarray, noise: np.ndarray, variances: np.ndarray, level: float) -> float:
    z, many = float(stats.norm.ppf((1 + level) / 2)), variances >= _NORMAL
    of_few = float(size[~many].sum()) + z * np.sqrt(variances[~many].sum())
    total, errors, variance = (float(part[many].sum()) for part in (size, noise / _H0, variances))

    def excess(t: float) -> float:
        spread = variance * (1 + t * t - _h(t) ** 2) * (1 + special.erf(t / np.sqrt(2)) ** 2)
        return float(errors * _h(t) - z * np.sqrt(spread) - total)

    if not many.any() or excess(0.0) >= 0:
        return of_few
    furthest = 2 * total / errors + 10 * (1 + z)
    return of_few + errors * float(brentq(excess, 0.0, furthest))


def _low_end(size: np.ndarray, noise: np.ndarray, variances: np.ndarray, level: float) -> float:
    z, variance, errors = float(stats.norm.ppf((3 + level) / 4)), float(variances.sum()), noise / _H0
    plain = float(size.sum() - noise.sum()) - z * np.sqrt((1 - _H0**2) * variance)
    beyond = float((_beyond(size, errors) - _BEYOND * errors).sum()) - z * np.sqrt(0.28 * variance)
    return max(0.0, plain, beyond)


def _beyond(size: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """0 up to one standard error, the gap itself from three on."""
    return np.clip(1.5 * (size - errors), 0, size)


def _debiased(size: np.ndarray, errors: np.ndarray) -> float:
    """The sum of the gaps, all moved towards 0 by one number of standard errors, whose noisy mean is what was seen."""
    errors = np.maximum(errors, max(1e-12 * float(size.max(initial=0.0)), 1e-300))  # brentq halves what lies between
    steps = size / errors

    def excess(a: float) -> float:
        return float((errors * _h(np.maximum(steps + a, 0)) - size).sum())

    furthest = -float(steps.max(initial=0.0))
    if excess(furthest) >= 0:
        return 0.0
    if excess(0.0) <= 0:  # but for rounding it is above: all gaps lie far beyond their noise
        return float(size.sum())
    return float((errors * np.maximum(steps + brentq(excess, furthest, 0.0), 0)).sum())
