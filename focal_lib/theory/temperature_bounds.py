r"""Temperatures between which the binary focal calibration map lies (KK24 Prop. 3, made sharp).

logit FC(s) = beta(s) s, so the map lies between the temperatures 1/sup beta and 1/inf beta:

.. math:: \beta(s) = \gamma + 1 - \frac{R(s)}{s}, \qquad
          \beta(0) = \gamma + 1 - \gamma\,\frac{2\ln 2 - 1}{1 + \gamma\ln 2}, \qquad
          \beta(\infty) = \gamma + 1.

beta increases in abs(s) for gamma up to gamma_c = 5.635...; above it beta first dips below beta(0). For more classes
`top_temperature_bounds` gives temperatures between which the top probability lies.

`beta` repeats R of `maps.focal_logit` for a single number, because temperature_bounds calls it tens of times and an
array call costs as much as all of them. tests/reproduction/theorems/test_one_formula.py compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope, mirror_gap
from focal_lib.theory.gain import critical_gamma, elasticity, elasticity_minimum, log_gain
from focal_lib.theory.maps import focal_logit
from focal_lib.validation import check_gamma

_LN2 = math.log(2)


def beta(s: float, gamma: float) -> float:
    """Inverse temperature of the binary focal calibration map at a logit, even in it (KK24 Prop. 3).

    beta(s) = logit FC(s) / s.

    Examples:
        >>> [round(beta(s, 3.0), 4) for s in (0.0, 1.0, 10.0, 100.0)]  # tends to gamma + 1 = 4
        [3.6237, 3.6276, 3.8615, 3.9861]
    """
    a = abs(s)
    if a < 1e-5:  # R/s changes by O(s^2)
        return beta_at_zero(gamma)
    x, mirrored = _minus_log_probs(a)
    if a < 1:
        return gamma + 1 - math.log1p(gamma * mirror_gap(a, x) / (1 + gamma * bernoulli(mirrored))) / a
    return gamma + 1 - (math.log1p(gamma * bernoulli(x)) - math.log1p(gamma * bernoulli(mirrored))) / a


def _minus_log_probs(s: float) -> tuple[float, float]:
    """-log q and -log(1-q) for q = sigmoid(s), s >= 0."""
    x = math.log1p(math.exp(-s))
    return x, x + s


def beta_at_zero(gamma: Any, log2: Any = _LN2) -> Any:
    """Slope of the binary map at the logit 0.

    beta(0) = gamma + 1 - gamma (2 ln 2 - 1)/(1 + gamma ln 2).

    `log2` lets sympy use the same formula.

    Examples:
        >>> round(beta_at_zero(3.0), 4)
        3.6237
    """
    return gamma + 1 - gamma * (2 * log2 - 1) / (1 + gamma * log2)


def largest_monotone_gamma(log2: Any = _LN2, sqrt: Callable[[Any], Any] = math.sqrt) -> Any:
    r"""Largest gamma for which the inverse temperature beta of the binary map increases with abs(s).

    gamma_c = 5.635...; above it R'''(0) > 0 and beta dips.

    With a = ln 2 - 1/2, b = ln 2 - 3/4 and t = gamma / (1 + gamma ln 2), R'''(0) = 0 where
    2 a^3 t^2 - 3 a b t + b = 0. `log2` and `sqrt` let sympy use the same formulas.

    Examples:
        >>> round(largest_monotone_gamma(), 4)
        5.6354
    """
    a, b = (2 * log2 - 1) / 2, (4 * log2 - 3) / 4
    # b < 0: one root is negative
    t = (3 * a * b + sqrt(9 * a * a * b * b - 8 * a**3 * b)) / (4 * a**3)
    return t / (1 - t * log2)


_GAMMA_C = largest_monotone_gamma()


def _beta_slope_sign(s: float, gamma: float) -> float:
    """R(s) - s R'(s), which has the sign of d beta / d s, for s > 0."""
    x, mirrored = _minus_log_probs(s)
    q, rest = math.exp(-x), math.exp(-mirrored)
    slope = rest * bernoulli_slope(x) / (1 + gamma * bernoulli(x))
    slope += q * bernoulli_slope(mirrored) / (1 + gamma * bernoulli(mirrored))  # R' = -gamma slope
    return (gamma + 1 - beta(s, gamma)) * s + s * gamma * slope


def beta_minimum(gamma: float) -> tuple[float, float]:
    """(s, beta(s)) where beta is smallest over s >= 0, for gamma >= 0: s = 0 up to gamma_c, s > 0 above it."""
    start = 0.01  # a dip that ends below this s is shallower than 1e-12
    if gamma <= _GAMMA_C or _beta_slope_sign(start, gamma) >= 0:
        return 0.0, beta_at_zero(gamma)
    # beta is flat at its minimum: 1e-7 in s is far below rounding in beta
    s = float(scipy.optimize.brentq(_beta_slope_sign, start, 3 + 2 * math.log1p(gamma), args=(gamma,), xtol=1e-7))
    return s, beta(s, gamma)


def temperature_bounds(gamma: float, radius: float = math.inf) -> tuple[float, float]:
    """Sharpest temperatures between which the binary map lies (KK24 Prop. 3, made sharp).

    (T_low, T_high) with sigma(s/T_high) <= FC(s) <= sigma(s/T_low) for 0 <= s <= radius.

    For s < 0 the inequalities are reversed (the map is odd in logits). This corrects KK24 Prop. 3,
    whose T_high is not sharp. For radius = inf, T_low = 1/(gamma+1) is not attained.

    Args:
        gamma: > -1. For gamma < 0 beta decreases in abs(s) from beta(0) to gamma + 1.
        radius: largest abs(logit), > 0.

    Raises:
        ValueError: gamma <= -1 or not finite, or radius not positive.

    Examples:
        >>> tuple(round(T, 4) for T in temperature_bounds(3.0))
        (0.25, 0.276)
    """
    if check_gamma(gamma) == -1:
        raise ValueError("gamma must be > -1: at -1 the map's inverse temperature does not tend to gamma + 1.")
    if not radius > 0:
        raise ValueError(f"radius must be > 0. Got {radius}.")
    at_end = gamma + 1 if math.isinf(radius) else beta(radius, gamma)
    if gamma < 0:
        return 1 / beta_at_zero(gamma), 1 / at_end
    s, low = beta_minimum(gamma)
    if s > radius:  # the dip lies outside
        low = at_end
    return 1 / max(at_end, beta_at_zero(gamma)), 1 / low


def printed_temperature_bounds(gamma: float) -> tuple[float, float]:
    """(T_low, T_high) as KK24 Prop. 3 prints them: 1/(gamma+1) and 1/(gamma + 1 - log(gamma+1)/2).

    Raises:
        ValueError: gamma < 0 or not finite.

    Examples:
        >>> tuple(round(T, 4) for T in printed_temperature_bounds(3.0))  # sharp: 0.276
        (0.25, 0.3024)
    """
    check_gamma(gamma, minimum=0.0)
    return 1 / (gamma + 1), 1 / (gamma + 1 - math.log1p(gamma) / 2)


def temperature_bounds_by_search(
    gamma: float, radius: float = 20.0, *, logit_step: float = 0.001, temperature_step: float = 0.001
) -> tuple[float, float]:
    """Temperature bounds by KK24's brute force (section 3.2): every temperature up to 2 on every logit.

    Returns the largest T on the grid whose temperature scaling is at least as sharp as the map
    at every logit, and the smallest that is at most as sharp. It reproduces Fig. 3; otherwise use
    temperature_bounds, which is exact and many thousand times faster.

    Raises:
        ValueError: gamma < 0, or a radius or step that is not positive.

    Examples:
        >>> found = temperature_bounds_by_search(3.0, radius=5.0, logit_step=0.01, temperature_step=0.01)
        >>> tuple(round(T, 2) for T in found)  # temperature_bounds: 0.2672, 0.276
        (0.26, 0.28)
    """
    check_gamma(gamma, minimum=0.0)
    if not (radius > 0 and logit_step > 0 and temperature_step > 0):
        raise ValueError(f"radius and steps must be > 0. Got {radius}, {logit_step}, {temperature_step}.")
    s = np.arange(-radius + logit_step, radius, logit_step)
    s = s[np.abs(s) > logit_step / 2]
    sign = np.sign(s)
    mapped = 1 / (1 + np.exp(-focal_logit(s, gamma)))
    lower, upper = 0.0, math.inf
    for k in range(1, round(2 / temperature_step) + 1):
        scaled = 1 / (1 + np.exp(np.minimum(-s / (k * temperature_step), 700)))
        excess = sign * (scaled - mapped)
        if excess.min() >= 0:
            lower = k * temperature_step
        if excess.max() <= 0 and math.isinf(upper):
            upper = k * temperature_step
    return lower, upper


def top_temperature_bounds(gamma: float, n: int) -> tuple[float, float]:
    """Temperatures (T_low, T_high) between which the top probability after the map lies, for n classes.

    Scaling with T_low is at least as confident as the map, scaling with T_high at most. n = 2 is temperature_bounds.
    For n >= 3, T_low = 1/(gamma+1) is sharp. T_high is sharp for n <= 1/q_e, where the elasticity is smallest at q_e;
    every n <= 13 is. There 1/T_high is the smallest `beta_of_two_levels` of n - 1 tied classes and one below them. It
    is 1 where confidence never falls (n = 3, or gamma >= critical_gamma(n)). For more classes 1/T_high is the smallest
    elasticity, which is below the sharp one by less than 5e-6.

    Raises:
        ValueError: gamma not > 0, or n < 2.

    Examples:
        >>> [round(T, 4) for n in (3, 10) for T in top_temperature_bounds(3.0, n)]
        [0.25, 1.0, 0.25, 1.0658]
    """
    check_gamma(gamma, above=0.0)
    if n < 2:
        raise ValueError(f"n must be at least 2 classes. Got {n}.")
    if n == 2:
        return temperature_bounds(gamma)
    if gamma >= critical_gamma(n):
        return 1 / (gamma + 1), 1.0
    q, lowest = elasticity_minimum(gamma)
    return 1 / (gamma + 1), 1 / (_lowest_beta(n, gamma) if n * q <= 1 else lowest)


def _lowest_beta(n: int, gamma: float) -> float:
    """Smallest `beta_of_two_levels` of n - 1 tied classes and one below them."""
    even = -math.log(n)
    found = scipy.optimize.minimize_scalar(
        lambda x: beta_of_two_levels((1 - math.exp(x)) / (n - 1), math.exp(x), gamma),
        bounds=(even - 40, even),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return min(float(found.fun), elasticity(1 / n, gamma))


def beta_of_two_levels(top: float, last: float, gamma: float) -> float:
    """Inverse temperature of the map of classes that have one of two probabilities, 0 < last <= top < 1."""
    spread = math.log(top / last)
    if spread <= 1e-6:
        return elasticity(top, gamma)
    return 1 + (log_gain(last, gamma) - log_gain(top, gamma)) / spread
