r"""Second derivatives of focal loss, in the prediction (KK24 Prop. 1) and in its logit (KN24).

.. math:: L''(q) = (1-q)^{\gamma-2}\Big[\gamma^2(-\log q) + \gamma\Big(\frac{2(1-q)}{q} + \log q\Big)
                   + \Big(\frac{1-q}{q}\Big)^2\Big]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope
from focal_lib.validation import check_gamma


def convexity_factor(q: Any, gamma: Any, log: Any = np.log) -> Any:
    """The bracket of L'' (KK24 Prop. 1), which decides its sign. `log` lets sympy and Arb use the same line."""
    odds = (1 - q) / q
    return gamma * gamma * -log(q) + gamma * (2 * odds + log(q)) + odds * odds


def second_derivative(q: Any, gamma: float) -> Any:
    """L''(q) for 0 < q < 1, elementwise (KK24 Prop. 1).

    Raises:
        ValueError: gamma < -1 or not finite.
    """
    check_gamma(gamma)
    q = np.asarray(q, dtype=np.float64)
    return (1 - q) ** (gamma - 2) * convexity_factor(q, gamma)


def convexity_limit(gamma: float) -> float:
    """The q in (0, 1) above which L is concave, for -1 < gamma < 0; there L'' = 0.

    Raises:
        ValueError: gamma not in (-1, 0).
    """
    if not -1 < gamma < 0:
        raise ValueError(f"gamma must lie in (-1, 0): for gamma >= 0 the loss is convex. Got {gamma}.")
    return float(brentq(convexity_factor, 1e-3, 1 - 1e-9, args=(gamma,), xtol=1e-15))


def probability_curvature_ratio(q: Any, gamma: float) -> Any:
    """q^2 L''(q) = g - q g': the second derivative in q over that of cross-entropy, 0 < q < 1 (KN24).

    Raises:
        ValueError: gamma < -1 or not finite.
    """
    return np.asarray(q, dtype=np.float64) ** 2 * second_derivative(q, gamma)


def logit_curvature_ratio(q: Any, gamma: float) -> Any:
    """g - (1-q) g': the second derivative in the logit of the true class over that of cross-entropy, 0 < q < 1 (KN24).

    Raises:
        ValueError: gamma < -1 or not finite.
    """
    check_gamma(gamma)
    q = np.asarray(q, dtype=np.float64)
    rest, x = 1 - q, -np.log(q)
    return rest**gamma * ((1 + gamma) * (1 + gamma * bernoulli(x)) + gamma * rest / q * bernoulli_slope(x))
