r"""g(q) = (1-q)^gamma (1 + gamma b(q)), the focal gradient over that of cross-entropy, and what follows from it.

g rises from 1 to its maximum at p* and falls to 0; it is 1 again at tau(gamma) in (p*, 1/2). The map is
p_i proportional to w(q_i) = q_i / g(q_i) (KK24 Eq. (1); M20 Prop. 1).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw

from focal_lib.validation import check_gamma

__all__ = [
    "confidence_threshold",
    "critical_gamma",
    "elasticity",
    "inflection",
    "lambert_gamma",
    "log_gain",
    "log_gain_of_logit",
    "lowest_elasticity",
    "peak_probability",
    "weight_curvature",
]


def log_gain(q: float, gamma: float) -> float:
    """log g(q) for 0 < q < 1."""
    return gamma * math.log1p(-q) + math.log1p(-gamma * q * math.log(q) / (1 - q))


def log_gain_of_logit(s: np.ndarray, gamma: float) -> np.ndarray:
    """log g at q = sigmoid(s), elementwise and stable for large logits."""
    soft = np.logaddexp(0, -s)  # -log q
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.where(s > 36, 1.0, soft / np.expm1(np.minimum(soft, 700)))  # b = x/(e^x - 1)
    return -gamma * np.logaddexp(0, s) + np.log1p(gamma * ratio)


def peak_probability(gamma: float) -> float:
    """p*(gamma): where g is largest (smallest for gamma < 0), the root of 2 (1-q)/log q + 1 - gamma q.

    M20 Prop. 1's k has the same sign; .2032 as gamma -> 0. Raises ValueError unless gamma > -1.
    """
    check_gamma(gamma, above=-1.0)
    return float(brentq(lambda q: 2 * (1 - q) / math.log(q) + 1 - gamma * q, 1e-15, 1 - 1e-13, xtol=1e-16))


def confidence_threshold(gamma: float) -> float:
    """tau(gamma), the root of g above p*: a top probability of at least tau never falls, for any n.

    Below tau it falls for large n (the other classes equal). tau(1) = 1/e; 1/2 as gamma -> 0.
    Raises ValueError unless gamma > 0.
    """
    check_gamma(gamma, above=0.0)
    peak = peak_probability(gamma)
    if gamma < 1e-9:  # g - 1 is rounding; tau = 1/2 - O(gamma)
        return 0.5
    return float(brentq(lambda q: log_gain(q, gamma), peak, 0.5, xtol=1e-16, rtol=1e-15))


def lambert_gamma(p0: float) -> float:
    r"""The gamma with g(p0, gamma) = 1, so that focal loss has the smaller gradient for every p >= p0.

    :math:`\gamma^* = \frac ab + \frac{1}{\log a}W_{-1}\big(-\tfrac{1}{b}a^{1-a/b}\log a\big)` with a = 1 - p0,
    b = p0 log p0 (M20 Prop. 2). 0 for p0 >= 1/2, where every gamma will do.

    Raises:
        ValueError: p0 not in (0, 1).
    """
    if not 0 < p0 < 1:
        raise ValueError(f"p0 must lie in (0, 1). Got {p0}.")
    if p0 >= 0.5:
        return 0.0
    a, b = 1 - p0, p0 * math.log(p0)
    log_a = math.log1p(-p0)
    start = a / b + float(lambertw(-math.exp((1 - a / b) * log_a) * log_a / b, -1).real) / log_a
    ratio = -b / a  # W is ill-conditioned near p0 = 1/2: polish log g = 0 by Newton from the right of its peak
    right = 2 * (-1 / log_a - 1 / ratio)
    gamma = max(start, right) if math.isfinite(start) else right
    for _ in range(50):
        change = log_gain(p0, gamma) / (log_a + ratio / (1 + gamma * ratio))
        gamma -= change
        if abs(change) <= 1e-15 * gamma:
            break
    return gamma


def critical_gamma(n: int) -> float:
    """gamma*(1/(n-1)): the smallest gamma for which Prop. 5 holds on the whole simplex of n classes.

    0 for n = 2 and 3; 1.4289 for n = 4. Below it (4 <= n) a row of n - 1 tied classes is a
    counterexample. Raises ValueError for n < 2.
    """
    if n < 2:
        raise ValueError(f"n must be at least 2 classes. Got {n}.")
    return lambert_gamma(1 / (n - 1)) if n > 3 else 0.0


def elasticity(q: float, gamma: float) -> float:
    """e(q) = q w'(q)/w(q) for 0 < q < 1: the local inverse temperature between classes tied at q."""
    rest, log_q = 1 - q, math.log(q)
    ratio, slope = -q * log_q / rest, -(rest + log_q) / rest**2  # b, b'
    return 1 + gamma * q * (1 / rest - slope / (1 + gamma * ratio))


def lowest_elasticity(gamma: float) -> tuple[float, float]:
    """(q, e(q)) where the elasticity of w is smallest, below p*. Raises ValueError unless gamma > 0."""
    top = math.log(peak_probability(gamma))  # e = 1 at p*, and below it e < 1
    found = minimize_scalar(
        lambda x: elasticity(math.exp(x), gamma), bounds=(top - 12, top), method="bounded", options={"xatol": 1e-9}
    )
    return math.exp(found.x), float(found.fun)


def weight_curvature(q: float, gamma: float) -> float:
    """A number with the sign of w''(q), 0 < q < 1: from w = -1/L' and three derivatives of L."""
    log_q, r = math.log(q), 1 - q
    d1 = gamma * r ** (gamma - 1) * log_q - r**gamma / q
    d2 = -gamma * (gamma - 1) * r ** (gamma - 2) * log_q + 2 * gamma * r ** (gamma - 1) / q + r**gamma / q**2
    d3 = (
        gamma * (gamma - 1) * (gamma - 2) * r ** (gamma - 3) * log_q
        - 3 * gamma * (gamma - 1) * r ** (gamma - 2) / q
        - 3 * gamma * r ** (gamma - 1) / q**2
        - 2 * r**gamma / q**3
    )
    return (2 * d2**2 - d3 * d1) / d1**2


def inflection(gamma: float) -> float:
    """q_i: w is concave below, convex above, so KK24's f = -w is not concave on (0, 1)."""
    check_gamma(gamma, above=0.0)
    return float(brentq(lambda q: weight_curvature(q, gamma), 1e-6, 0.3, xtol=1e-15))
