r"""Second derivatives of focal loss, in the prediction (KK24 Prop. 1) and in its logit (KN24).

.. math:: L''(q) = (1-q)^{\gamma-2}\Big[\gamma^2(-\log q) + \gamma\Big(\frac{2(1-q)}{q} + \log q\Big)
                   + \Big(\frac{1-q}{q}\Big)^2\Big]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope
from focal_lib.validation import check_gamma


def convexity_factor(q: Any, gamma: Any, log: Any = np.log) -> Any:
    """Factor that gives the second derivative of focal loss its sign (KK24 Prop. 1).

    `log` lets sympy and Arb use the same formula.

    Examples:
        >>> round(float(convexity_factor(0.5, 3.0)), 4), round(float(convexity_factor(0.8, -0.5)), 4)
        (11.1589, -0.0201)
    """
    odds = (1 - q) / q
    return gamma * gamma * -log(q) + gamma * (2 * odds + log(q)) + odds * odds


def second_derivative(q: Any, gamma: float) -> Any:
    """Second derivative L''(q) of focal loss in the probability of the true class, 0 < q < 1 (KK24 Prop. 1).

    Raises:
        ValueError: gamma < -1 or not finite.

    Examples:
        >>> second_derivative([0.5, 0.8], gamma=0.0).round(4)  # cross-entropy: 1/q^2
        array([4.    , 1.5625])
    """
    check_gamma(gamma)
    q = np.asarray(q, dtype=np.float64)
    return (1 - q) ** (gamma - 2) * convexity_factor(q, gamma)


def convexity_limit(gamma: float) -> float:
    """Probability above which focal loss is concave, the root of L'', for -1 < gamma < 0 (KK24 Prop. 1).

    Raises:
        ValueError: gamma not in (-1, 0).

    Examples:
        >>> round(convexity_limit(-0.5), 4)
        0.7357
    """
    if not -1 < gamma < 0:
        raise ValueError(f"gamma must lie in (-1, 0): for gamma >= 0 the loss is convex. Got {gamma}.")
    return float(scipy.optimize.brentq(convexity_factor, 1e-3, 1 - 1e-9, args=(gamma,), xtol=1e-15))


def probability_curvature_ratio(q: Any, gamma: float) -> Any:
    """Second derivative of focal loss over cross-entropy's, in the probability of the true class (KN24).

    q^2 L''(q) = g - q g'; arguments as `second_derivative`.

    Examples:
        >>> round(float(probability_curvature_ratio(0.8, gamma=3.0)), 4)
        0.3714
    """
    return np.asarray(q, dtype=np.float64) ** 2 * second_derivative(q, gamma)


def logit_curvature_ratio(q: Any, gamma: float) -> Any:
    """Second derivative of focal loss over cross-entropy's, in the logit of the true class (KN24).

    g - (1-q) g'.

    Arguments and errors are those of second_derivative.

    Examples:
        >>> round(float(logit_curvature_ratio(0.8, gamma=3.0)), 4)
        0.1149
    """
    check_gamma(gamma)
    q = np.asarray(q, dtype=np.float64)
    rest, x = 1 - q, -np.log(q)
    return rest**gamma * ((1 + gamma) * (1 + gamma * bernoulli(x)) + gamma * rest / q * bernoulli_slope(x))
