r"""The gradient factor g(q) = (1-q)^gamma (1 + gamma b(q)), focal loss over cross-entropy, and derived quantities.

M20 Prop. 1; b is in `entropy_ratio`. For gamma > 0, g rises from 1 at q = 0 to its maximum at p* and falls to 0. It is
1 again at tau(gamma) in (p*, 1/2): focal loss has the smaller gradient exactly for q > tau. The focal calibration map
has the weights w(q) = q / g(q) (KK24 Eq. (1)); w is concave up to an inflection and convex after it.

`lambert_gamma` is gamma*(p0), the gamma with tau(gamma) = p0 (M20 Prop. 2). `critical_gamma` is its value at 1/(n-1):
for gamma at or above it, the map never lowers the top probability of n classes (`confidence`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_curvature, bernoulli_slope
from focal_lib.validation import check_gamma, check_level

# --- g ------------------------------------------------------------------------------------


def log_gain(q: Any, gamma: float) -> Any:
    """Logarithm of the gradient factor g, focal loss's gradient over cross-entropy's (M20 Prop. 1).

    log g(q) = gamma log(1-q) + log(1 + gamma b(q)) for 0 < q < 1, a number or an array.

    Examples:
        >>> round(math.exp(log_gain(0.8, 3.0)), 4)  # focal loss has a twentieth of cross-entropy's gradient
        0.0294
    """
    functions = math if isinstance(q, float) else np
    return gamma * functions.log1p(-q) + functions.log1p(gamma * bernoulli(-functions.log(q)))


def log_gain_of_logit(s: np.ndarray, gamma: float) -> np.ndarray:
    """log g at q = sigmoid(s), elementwise: exact also where q rounds to 1."""
    return -gamma * np.logaddexp(0, s) + np.log1p(gamma * bernoulli(np.logaddexp(0, -s)))


def peak_probability(gamma: float) -> float:
    """Probability p*(gamma) at which the gradient factor g is largest (smallest for gamma < 0).

    The root of 2 (1-q)/log q + 1 - gamma q.

    M20's k has the same sign as g' (Eq. (9)). p* tends to 0.2032 as gamma -> 0 and is e^-2 at gamma = 1.

    Raises:
        ValueError: gamma <= -1 or not finite.

    Examples:
        >>> round(peak_probability(1.0), 4)
        0.1353
    """
    check_gamma(gamma, above=-1.0)
    return float(
        scipy.optimize.brentq(lambda q: 2 * (1 - q) / math.log(q) + 1 - gamma * q, 1e-15, 1 - 1e-13, xtol=1e-16)
    )


# --- where g = 1: tau(gamma) and its inverse ----------------------------------------------


def confidence_threshold(gamma: float) -> float:
    """Smallest top probability tau(gamma) from which the map never lowers it, for any number of classes (KK24 Prop. 5).

    The root of g = 1 above p*.

    A top probability below tau falls for large n if the other classes are equal. tau(1) = 1/e, and tau tends to 1/2 as
    gamma -> 0.

    Raises:
        ValueError: gamma <= 0 or not finite.

    Examples:
        >>> round(confidence_threshold(1.0), 4)
        0.3679
    """
    check_gamma(gamma, above=0.0)
    peak = peak_probability(gamma)
    if gamma < 1e-9:  # g - 1 is rounding; tau = 1/2 - O(gamma)
        return 0.5
    return float(scipy.optimize.brentq(lambda q: log_gain(q, gamma), peak, 0.5, xtol=1e-16, rtol=1e-15))


def lambert_gamma(p0: float) -> float:
    r"""Gamma at which focal loss and cross-entropy have equal gradients at p0: above p0 that of focal loss is smaller.

    gamma*(p0), the solution of g(p0) = 1.

    :math:`\gamma^* = \frac ab + \frac{1}{\log a}W_{-1}\big(-\tfrac{1}{b}a^{1-a/b}\log a\big)` with a = 1 - p0,
    b = p0 log p0 (M20 Prop. 2). It is 0 for p0 >= 1/2, where every gamma > 0 suffices.

    Raises:
        ValueError: p0 not in (0, 1).

    Examples:
        >>> round(lambert_gamma(0.2), 4), round(lambert_gamma(1 / math.e), 4)
        (4.8506, 1.0)
    """
    check_level(p0, "p0")
    if p0 >= 0.5:
        return 0.0
    a, b = 1 - p0, p0 * math.log(p0)
    log_a = math.log1p(-p0)
    start = a / b + float(scipy.special.lambertw(-math.exp((1 - a / b) * log_a) * log_a / b, -1).real) / log_a
    ratio = bernoulli(-math.log(p0))
    # W is ill-conditioned near p0 = 1/2: polish log g = 0 by Newton from the right of its peak
    right = 2 * (-1 / log_a - 1 / ratio)
    gamma = max(start, right) if math.isfinite(start) else right
    for _ in range(50):
        change = log_gain(p0, gamma) / (log_a + ratio / (1 + gamma * ratio))
        gamma -= change
        if abs(change) <= 1e-15 * gamma:
            break
    return gamma


def critical_gamma(n: int) -> float:
    """Smallest gamma for which the map never lowers the top probability of n classes (KK24 Prop. 5).

    gamma*(1/(n-1)), see `lambert_gamma`.

    It is 0 for n = 2 and 3. For n >= 4 and a smaller gamma, n - 1 tied classes are a counterexample.

    Raises:
        ValueError: n < 2.

    Examples:
        >>> [round(critical_gamma(n), 4) for n in (3, 4, 10)]
        [0.0, 1.4289, 12.7984]
    """
    if n < 2:
        raise ValueError(f"n must be at least 2 classes. Got {n}.")
    return lambert_gamma(1 / (n - 1)) if n > 3 else 0.0


# --- w = q/g ------------------------------------------------------------------------------


def elasticity(q: float, gamma: float) -> float:
    """Inverse temperature of the map between two classes nearly tied at the probability q.

    e(q) = q w'(q)/w(q) for 0 < q < 1.

    Examples:
        >>> round(elasticity(0.5, 3.0), 4)  # beta_at_zero(3.0)
        3.6237
    """
    x = -math.log(q)
    return 1 + gamma * (q / (1 - q) + bernoulli_slope(x) / (1 + gamma * bernoulli(x)))


def elasticity_minimum(gamma: float) -> tuple[float, float]:
    """(q, e(q)) where the elasticity of w is smallest, below p*.

    Raises:
        ValueError: gamma <= 0 or not finite.
    """
    check_gamma(gamma, above=0.0)
    top = math.log(peak_probability(gamma))  # e = 1 at p*, and below it e < 1
    found = scipy.optimize.minimize_scalar(
        lambda x: elasticity(math.exp(x), gamma), bounds=(top - 12, top), method="bounded", options={"xatol": 1e-9}
    )
    return math.exp(found.x), float(found.fun)


def weight_curvature(q: float, gamma: float) -> float:
    """w''(q)/w(q) = (e (e-1) + q e')/q^2 with the elasticity e, for 0 < q < 1."""
    x = -math.log(q)
    scale = 1 + gamma * bernoulli(x)
    pull = bernoulli_slope(x) / scale
    e = 1 + gamma * (q / (1 - q) + pull)
    slope = gamma * (q / (1 - q) ** 2 - bernoulli_curvature(x) / scale + gamma * pull**2)  # q e'
    return (e * (e - 1) + slope) / q**2


def weight_inflection(gamma: float) -> float:
    """Probability at which the weight w of the map turns convex: KK24's f = -w is not concave on (0, 1).

    Raises:
        ValueError: gamma <= 0 or not finite.

    Examples:
        >>> round(weight_inflection(3.0), 4)
        0.0492
    """
    check_gamma(gamma, above=0.0)
    return float(scipy.optimize.brentq(lambda q: weight_curvature(q, gamma), 1e-6, 0.3, xtol=1e-15))
