r"""When the focal calibration map raises the top probability (KK24 Prop. 5 and its correction).

With h = 1/g (`gain`) the map is p_i proportional to q_i h(q_i), so

.. math:: \hat p_{\max} \ge q_{\max} \iff \sum_i q_i h(q_i) \le h(q_{\max}).

The top probability never falls where q_max >= tau(gamma) (`gain.confidence_threshold`). For n classes it falls nowhere
if gamma >= gamma*(1/(n-1)) (`gain.critical_gamma`).
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from focal_lib.theory.gain import log_gain, log_gain_of_logit, peak_probability
from focal_lib.theory.maps import focal_log_probs
from focal_lib.validation import check_probs


def confidence_change(probs: np.ndarray, gamma: float) -> np.ndarray:
    """Change of the top class' probability by the map: (..., K) -> (...). A negative change violates KK24 Prop. 5.

    Raises:
        ValueError: probs that are not distributions with positive entries, or gamma < -1.

    Examples:
        >>> round(float(confidence_change([0.6266, 0.3734], gamma=2.0)), 4)  # from 0.6266 to 0.8
        0.1734
        >>> round(float(confidence_change([0.24, 0.24, 0.24, 0.24, 0.04], gamma=1.0)), 4)
        -0.0001
    """
    probs = np.asarray(probs, dtype=np.float64)
    check_probs(probs)
    if not (probs > 0).all():
        raise ValueError(f"probs must be positive: the map takes their logarithms. Got {probs.min():g}.")
    after = np.exp(focal_log_probs(np.log(probs), gamma))
    top = probs.argmax(-1)[..., None]
    return np.take_along_axis(after - probs, top, -1)[..., 0]


def top_probability_bounds(
    logit_top: np.ndarray, p_top: np.ndarray, gamma: float, classes: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bounds (low, high) on the calibrated top probability of these samples when the temperature changes.

    As T rises, q_top falls in each sample. low bounds p_top from below at every lower T, high from above at every
    higher T. By gamma:

    * gamma = 0, and two classes: p_top is an increasing function of q_top, so both are p_top itself.
    * gamma > 0: for q_top >= p* the elasticity of w is largest at the top class, so p_top rises with q_top. Below p*,
      where 1 <= g <= g(p*), it lies between q_top / g(p*) and g(p*) q_top.
    * -1 < gamma < 0: :math:`p_{top} = w_1 / (w_1 + \sum_{j>1} q_j h_j)` with h = 1/g and w_1 = q_top h(q_top),
      increasing in q_top. Every q_j is at most 1/2, where h lies between 1 and h(p*), or h(1/2) if p* > 1/2. (h rises
      from 1 to h(p*), then falls, since :math:`b'(q)(1-q) - \gamma b - 1` decreases: b is concave and increasing.
      At 1/2, :math:`-\log h = \log(1 + \gamma\log 2) - \gamma\log 2 < 0`.) So p_top lies between two increasing
      functions, :math:`w_1 / (w_1 + (1 - q_{top}) h(p^*))` and the same with 1.

    Args:
        logit_top: logit of q_top, (n,).
        p_top: the top probability after the map, (n,).
        gamma: > -1.
        classes: K >= 2.

    Returns:
        low, high, each (n,).

    Raises:
        ValueError: gamma <= -1.
    """
    if gamma == 0 or classes == 2:
        return p_top, p_top
    peak = min(peak_probability(gamma), 0.5)  # every other class has at most 1/2
    log_extreme = log_gain(peak, gamma)  # log g(p*)
    if gamma > 0:
        q_top, extreme = scipy.special.expit(logit_top), math.exp(log_extreme)
        below = q_top < peak
        high = np.where(below, extreme * q_top, np.maximum(p_top, extreme * peak))
        return np.where(below, q_top / extreme, p_top), high
    far = np.minimum(logit_top, 750.0)  # where 1 - q_top is 0
    log_odds = far - log_gain_of_logit(far, gamma)  # log w_1 / (1 - q_top)
    return scipy.special.expit(log_odds + log_extreme), scipy.special.expit(log_odds)


def sample_simplex(n: int, seed: int, count: int = 4_000) -> np.ndarray:
    """Random distributions over n classes on which to search for extremes, largest probability first: (m, n).

    `count` of them have groups of tied classes: up to four levels, with random sizes and distances. As many are
    Dirichlet samples of several concentrations.
    """
    rng = np.random.default_rng(seed)
    logits = []
    for _ in range(count):
        cuts = np.sort(rng.integers(1, n + 1, size=3))
        sizes = np.diff([0, *cuts, n])
        levels = -np.cumsum(rng.exponential(10.0 ** rng.uniform(-4, 1.2, size=4)))
        logits.append(np.repeat(levels, sizes))
    tied = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
    spread = np.concatenate([rng.dirichlet(np.full(n, a), count // 4) for a in (0.3, 1.0, 10.0, 100.0)])
    both = np.sort(np.concatenate([tied / tied.sum(-1, keepdims=True), np.maximum(spread, 1e-300)]), axis=-1)[:, ::-1]
    return both / both.sum(-1, keepdims=True)
