r"""Focal loss as a proper loss after a map: minimisers, conditional risks, the proper part (KK24 section 3)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, is_torch_array, logsumexp, total
from focal_lib.theory.entropy_ratio import bernoulli
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.theory.temperature_bounds import beta_at_zero
from focal_lib.validation import check_gamma, check_log_probs, check_number, check_probs

_LN2 = math.log(2)


def focal_minimiser(probs: Any, gamma: float) -> Any:
    r"""The prediction that minimises the expected focal loss under the true posterior p (KK24 section 3.1, Prop. 4).

    It is the q that minimises :math:`-\sum_i p_i (1-q_i)^\gamma\log q_i`, the inverse of the focal calibration map.
    Classes of probability 0 stay at 0.

    Args:
        probs: (..., K) distributions, NumPy or torch.
        gamma: >= 0; for K = 2 >= -1.

    Returns:
        (..., K), NumPy or torch as the input.

    Raises:
        ValueError: probs that are not distributions, or gamma out of range.

    Examples:
        >>> [focal_minimiser([0.8, 0.2], gamma).round(2).tolist() for gamma in (0.0, 2.0, 3.0)]
        [[0.8, 0.2], [0.63, 0.37], [0.59, 0.41]]
    """
    if not is_torch_array(probs):
        probs = np.asarray(probs, dtype=np.float64)
    check_probs(probs)
    check_gamma(gamma)
    xp = array_namespace(probs)
    if bool((probs > 0).all()):
        return xp.exp(inverse_focal_log_probs(xp.log(probs / total(probs)), gamma))
    points = probs.reshape(-1, probs.shape[-1])
    out = xp.zeros_like(points)
    for point, target in zip(points, out, strict=True):  # on a face of the simplex the map is the map of fewer classes
        support = point > 0
        target[support] = focal_minimiser(point[support], gamma) if int(support.sum()) > 1 else 1.0
    return out.reshape(probs.shape)


def focal_calibration_minimiser(probs: Any, gamma: float, lam: Any) -> np.ndarray:
    r"""The prediction that minimises the expected focal calibration loss under p (L25 Def. 3.1, App. A.5).

    It is the q that minimises :math:`\sum_i p_i L(q_i) + \lambda\lVert q - p\rVert^2`, the same as with the one-hot
    label, up to a constant. At q, p_i L'(q_i) + 2 lam (q_i - p_i) is the same number for every class. It increases in
    q_i, so q_i and that number are found by bisection.

    Args:
        probs: (..., K) distributions with positive entries.
        gamma: >= 0.
        lam: >= 0, a number or an array (...) that broadcasts against the distributions.

    Returns:
        (..., K).

    Raises:
        ValueError: probs that are not distributions with positive entries, or a negative gamma or lam.

    Examples:
        >>> focal_calibration_minimiser([0.8, 0.2], gamma=2.0, lam=1.0).round(4)  # lam = 0: 0.6266
        array([0.7011, 0.2989])
    """
    probs = np.asarray(probs, dtype=np.float64)
    check_probs(probs)
    check_gamma(gamma, minimum=0.0)
    lams = np.asarray(lam, dtype=np.float64)
    for number in lams.ravel():
        check_number(number, "lam", minimum=0.0)
    if not (probs > 0).all():
        raise ValueError("probs must be positive: a class of probability 0 has no stationarity condition.")
    shape = np.broadcast_shapes(probs.shape[:-1], lams.shape)
    probs, weight = np.broadcast_to(probs, (*shape, probs.shape[-1])), 2 * lams[..., None]

    def slope(log_q: np.ndarray) -> np.ndarray:  # of the risk in each class: p L'(q) = -p g(q)/q
        focal = np.exp(gamma * np.log(-np.expm1(log_q)) - log_q) * (1 + gamma * bernoulli(-log_q))
        return -probs * focal + weight * (np.exp(log_q) - probs)

    def log_q_with(level: np.ndarray) -> np.ndarray:  # where slope = level, by bisection
        low, high = np.full(probs.shape, -745.0), np.full(probs.shape, -1e-16)
        for _ in range(80):
            middle = (low + high) / 2
            above = slope(middle) > level[..., None]
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (low + high) / 2

    span = np.full(shape, 1.0)
    while (short := np.exp(log_q_with(-span)).sum(-1) > 1).any():
        span = np.where(short, 2 * span, span)
    low, high = -span, np.full(shape, 2 * lams)
    for _ in range(80):
        middle = (low + high) / 2
        above = np.exp(log_q_with(middle)).sum(-1) > 1
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    q = np.exp(log_q_with((low + high) / 2))
    return q / q.sum(-1, keepdims=True)


def focal_calibration_log_probs(log_probs: Any, gamma: float, lam: float) -> np.ndarray:
    r"""Calibration map of the focal calibration loss: log of its prediction q -> log of the posterior p (L25).

    It is the inverse of `focal_calibration_minimiser`. With g as in M20 Prop. 1,

    .. math:: \begin{gathered}
              p_i = q_i\,\frac{2\lambda q_i + \bar g}{2\lambda q_i + g(q_i)}, \\
              \bar g = \frac{\sum_j v_j g(q_j)}{\sum_j v_j}, \qquad v_j = \frac{q_j}{2\lambda q_j + g(q_j)}.
              \end{gathered}

    For lam = 0 it is the focal calibration map of KK24 Eq. (1), for gamma = 0 the identity. No digits cancel.

    Args:
        log_probs: (..., K), q > 0.
        gamma, lam: >= 0.

    Returns:
        (..., K).

    Raises:
        ValueError: gamma or lam negative, or log_probs that are not log-probabilities.

    Examples:
        >>> np.exp(focal_calibration_log_probs(np.log([0.7011, 0.2989]), gamma=2.0, lam=1.0)).round(4)
        array([0.8, 0.2])
    """
    log_q = np.asarray(log_probs, dtype=np.float64)
    check_log_probs(log_q)
    check_gamma(gamma, minimum=0.0)
    check_number(lam, "lam", minimum=0.0)
    with np.errstate(divide="ignore"):
        log_g = scipy.special.xlogy(gamma, -np.expm1(log_q)) + np.log1p(gamma * bernoulli(-log_q))
        log_square = np.log(2 * lam) + log_q
    log_sum = np.logaddexp(log_square, log_g)
    log_v = log_q - log_sum
    log_mean = logsumexp(log_v + log_g) - logsumexp(log_v)
    return log_v + np.logaddexp(log_square, log_mean)


def focal_loss_values(probs: Any, gamma: float) -> Any:
    """Focal loss of each class if it were the true one, elementwise (KK24 section 2).

    L(q) = -(1-q)^gamma log q, which is 0 at q = 1.

    `losses.focal` computes it from log-probabilities for training; its tests compare the two.

    Raises:
        ValueError: gamma < -1 or not finite.

    Examples:
        >>> [round(float(focal_loss_values(0.8, gamma)), 4) for gamma in (0.0, 2.0)]
        [0.2231, 0.0089]
    """
    check_gamma(gamma)
    probs = np.asarray(probs, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(probs >= 1, 0.0, -((1 - probs) ** gamma) * np.log(probs))


def proper_focal_loss(probs: Any, gamma: float) -> np.ndarray:
    r"""The proper part :math:`L^*(p)_i = -(1-q_i)^\gamma\log q_i`, q the focal minimiser of p.

    KK24 Props. 2 and 4. It has no closed form and is computed through the inverse map: (..., K) -> (..., K), entry i
    the loss if class i is true. Arguments and errors are those of focal_minimiser.

    Examples:
        >>> proper_focal_loss([0.8, 0.2], gamma=2.0).round(4)
        array([0.0652, 0.3868])
    """
    return focal_loss_values(focal_minimiser(np.asarray(probs, dtype=np.float64), gamma), gamma)


def regret_constant(gamma: Any, log2: Any = _LN2) -> Any:
    r"""The largest c with excess risk >= (c/8) ||p-hat(q) - p||_1^2 for every prediction q, truth p and class count.

    The excess is over the least conditional risk of focal loss under p, and p-hat the map of KK24 Eq. (1).

    :math:`c = 2^{2-\gamma}(1+\gamma\log2)/\beta(0)`, which is 4 for cross-entropy (Pinsker's inequality).

    `log2` lets sympy use the same formula.

    Examples:
        >>> [round(regret_constant(gamma), 4) for gamma in (0.0, 1.0, 3.0)]
        [4.0, 1.9112, 0.4249]
    """
    return 2 ** (2 - gamma) * (1 + gamma * log2) / beta_at_zero(gamma, log2)


def brier_values(probs: Any) -> np.ndarray:
    """Brier score of each class if it were the true one, (..., K) -> (..., K): squared distance to its one-hot vector.

    Examples:
        >>> brier_values([0.8, 0.2]).round(4)
        array([0.08, 1.28])
    """
    probs = np.asarray(probs, dtype=np.float64)
    return np.square(probs).sum(-1, keepdims=True) - 2 * probs + 1


def conditional_risk(values: Any, probs: Any) -> np.ndarray:
    """Expected loss under the true distribution, sum_i p_i values_i: (..., K), (..., K) -> (...) (KK24 section 3.3).

    Classes of true probability 0 contribute nothing, even with infinite loss.

    Raises:
        ValueError: probs that are not distributions.

    Examples:
        >>> q = np.array([[0.63, 0.37], [0.8, 0.2]])  # focal loss prefers 0.63 to the true 0.8
        >>> conditional_risk(focal_loss_values(q, gamma=2.0), [[0.8, 0.2], [0.8, 0.2]]).round(4)
        array([0.1295, 0.2131])
    """
    probs = np.asarray(probs, dtype=np.float64)
    check_probs(probs)
    values = np.asarray(values, dtype=np.float64)
    return np.where(probs > 0, probs * np.where(probs > 0, values, 0.0), 0.0).sum(-1)
