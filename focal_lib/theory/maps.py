r"""The focal calibration map and its inverse, binary and on the simplex, in the log domain.

With :math:`L(q) = -(1-q)^\gamma \log q` the map is (KK24 Eq. (1), Props. 2 and 4)

.. math:: \hat p_i = \frac{w(q_i)}{\sum_j w(q_j)}, \qquad
          w(q) = -\frac{1}{L'(q)} = \frac{q}{(1-q)^\gamma\,(1 + \gamma b(q))}, \qquad
          b(q) = \frac{-q\log q}{1-q} \in (0, 1).

On float64 probabilities the formula gives exactly 1 from logit 12.7 (gamma = 2) and NaN from 36.8, where q rounds to 1.
Here everything is a function of x = -log q and log(1 - q), each computed without cancellation (b is in
`entropy_ratio`). Results are exact to rounding for logits up to 1e4 in size and gamma from -1 (binary) to 100.

The code follows the array API standard: NumPy in, NumPy out; torch in, torch out, with gradients. The maps compile
without a graph break under `torch.compile` and `torch.export`; their inverses iterate and do not. float64 and float32
keep their precision; half precision of torch is computed in float32.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import device, is_array_api_obj

from focal_lib.arrays import (
    array_namespace,
    is_compiling,
    is_torch_array,
    largest,
    log_sigmoid,
    log_softmax,
    logsumexp,
    sigmoid,
    total,
)
from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope, mirror_gap, one_minus_bernoulli_over_x
from focal_lib.validation import check_gamma, check_log_probs, check_logits

_NEWTON_STEPS = 200  # a bound: after the first two, each pair of steps bisects or halves


def _same_kind(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of floating-point arrays also accept numbers, lists, integers and half precision."""

    @functools.wraps(function)
    def wrapper(values: Any, gamma: Any) -> Any:
        if is_torch_array(values):
            torch = sys.modules["torch"]
            half = values.dtype in (torch.float16, torch.bfloat16)
            return function(values.float(), gamma).to(values.dtype) if half else function(values, gamma)
        if is_array_api_obj(values) and not isinstance(values, np.ndarray | np.generic):
            return function(values, gamma)
        array = np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{function.__name__} takes real numbers. Got dtype {array.dtype}.")
        wide = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
        with np.errstate(divide="ignore", over="ignore"):  # of values that `where` discards
            return np.asarray(function(wide, gamma))[()]

    return wrapper


# --- the weight of one class ---------------------------------------------------------


def _log_one_plus_gamma_b(x: Any, log_x: Any, gamma: Any) -> Any:
    """log(1 + gamma b); for gamma < 0 log((1 + gamma) + |gamma| (1 - b)), which does not cancel."""
    xp = array_namespace(x)
    if _value(gamma) >= 0:
        return xp.log1p(gamma * bernoulli(x))
    log_one_minus_b = log_x + xp.log(one_minus_bernoulli_over_x(x))
    if _value(gamma) == -1:
        return log_one_minus_b
    gamma = xp.zeros_like(x) + gamma
    return xp.logaddexp(xp.log1p(gamma), xp.log(-gamma) + log_one_minus_b)


def _log_weight_of_logit(t: Any, gamma: Any) -> Any:
    """log w(q) for q = sigmoid(t)."""
    x = -log_sigmoid(t)
    return -x - gamma * log_sigmoid(-t) - _log_one_plus_gamma_b(x, _log_x(t), gamma)


def _log_weight_slope(t: Any, gamma: Any) -> Any:
    """d log w / dt: 1 as t -> -inf, gamma as t -> inf, positive for gamma >= 0."""
    x = -log_sigmoid(t)
    q, rest = sigmoid(t), sigmoid(-t)
    if _value(gamma) >= 0:
        pull = rest * bernoulli_slope(x) / (1 + gamma * bernoulli(x))
    elif _value(gamma) > -1:
        pull = rest * bernoulli_slope(x) / (1 + gamma - gamma * x * one_minus_bernoulli_over_x(x))
    else:  # (1 - q) / x is 1 where both underflow
        where = array_namespace(t).where
        ratio = where(t > 30, 1.0, rest / where(t > 30, 1.0, x))
        pull = ratio * bernoulli_slope(x) / one_minus_bernoulli_over_x(x)
    return rest + gamma * (q + pull)


def _log_x(t: Any) -> Any:
    """log(-log sigmoid(t)), also where -log sigmoid(t) underflows."""
    xp, tiny = array_namespace(t), t > 30
    near = xp.where(tiny, t, 30.0)  # exp of the others may overflow
    return xp.where(tiny, -near - xp.exp(-near) / 2, xp.log(xp.where(tiny, 1.0, -log_sigmoid(t))))


def _checked_gamma(gamma: Any, like: Any, minimum: float = -1.0) -> Any:
    """gamma as a float; a tensor stays a tensor, with its gradient, if `like` is one."""
    if is_torch_array(gamma) and is_torch_array(like):
        check_gamma(gamma, minimum=minimum)
        return gamma.to(like)
    if is_compiling():
        return gamma
    return check_gamma(gamma, minimum=minimum)


def _value(gamma: Any) -> float:
    return float(gamma.detach()) if is_torch_array(gamma) else gamma


def _no_gradient(values: Any) -> contextlib.AbstractContextManager[Any]:
    return sys.modules["torch"].no_grad() if is_torch_array(values) else contextlib.nullcontext()


# --- binary ----------------------------------------------------------------------------


@_same_kind
def focal_logit(logit: Any, gamma: float) -> Any:
    r"""Logit of the binary focal calibration map, as a function of the logit s.

    .. math:: \operatorname{logit}\hat p(q) = (\gamma + 1)\,s - R(s), \quad q = \frac1{1 + e^{-s}}, \\
              R(s) = \log\frac{1 + \gamma u(s)}{1 + \gamma u(-s)}, \quad u(s) = e^s\log(1 + e^{-s})

    KK24 Prop. 2. Odd and increasing, with slope in (max(1, gamma), gamma + 1) for gamma > 0.

    Args:
        logit: any shape, finite.
        gamma: a number >= -1; below it the map is not monotone.

    Raises:
        ValueError: non-finite logits, or gamma below -1 or not finite.

    Examples:
        >>> round(float(focal_logit(math.log(0.63 / 0.37), gamma=3.0)), 4)
        1.9291
        >>> [round(float(focal_logit(s, gamma=3.0)), 4) for s in (-1.0, 0.0, 1.0)]
        [-3.6276, 0.0, 3.6276]
    """
    check_logits(logit, classes=False)
    return _focal_logit(logit, _checked_gamma(gamma, logit))


def _focal_logit(s: Any, gamma: Any) -> Any:
    xp = array_namespace(s)
    a, minus = -log_sigmoid(s), -log_sigmoid(-s)  # -log q and -log(1-q)
    far = _log_one_plus_gamma_b(minus, _log_x(-s), gamma) - _log_one_plus_gamma_b(a, _log_x(s), gamma)
    near = xp.abs(s) < 1
    c = xp.where(near, s, 0.0)
    gap = mirror_gap(c, -log_sigmoid(c))
    close = -xp.log1p(gamma * gap / (1 + gamma * bernoulli(-log_sigmoid(-c))))
    return (gamma + 1) * s + xp.where(near, close, far)


@_same_kind
def focal_logit_slope(logit: Any, gamma: float) -> Any:
    r"""Derivative of :func:`focal_logit` by the logit: gamma + 1 - R'(s).

    KK24 gives no formula; it follows from Prop. 2. Arguments and errors are those of focal_logit.

    Examples:
        >>> round(float(focal_logit_slope(0.0, gamma=3.0)), 4)  # tends to gamma + 1 = 4
        3.6237
    """
    check_logits(logit, classes=False)
    return _focal_logit_slope(logit, _checked_gamma(gamma, logit))


def _focal_logit_slope(s: Any, gamma: Any) -> Any:
    return _log_weight_slope(s, gamma) + _log_weight_slope(-s, gamma)


@_same_kind
def inverse_focal_logit(logit: Any, gamma: float) -> Any:
    """Inverse of :func:`focal_logit` (KK24 Prop. 2): the logit s with logit FC(s) equal to the given one.

    Newton's method on abs(logit), inside the bracket from the bounds on R; exact to rounding. Gradients by the logit
    and by gamma are those of the implicit function (first order). Arguments and errors are those of focal_logit.

    Examples:
        >>> s = inverse_focal_logit(math.log(0.8 / 0.2), gamma=3.0)
        >>> round(float(s), 4), round(float(sigmoid(s)), 4)
        (0.3825, 0.5945)
    """
    check_logits(logit, classes=False)
    g, xp = _checked_gamma(gamma, logit), array_namespace(logit)
    with _no_gradient(logit):
        target = xp.abs(logit)
        if _value(g) > -1:
            one, two = target / (g + 1), (target + math.log1p(_value(g))) / (g + 1)
            low, high = xp.maximum(xp.minimum(one, two), xp.zeros_like(one)), xp.maximum(one, two)
        else:  # slope between 1 and 1.26
            low, high = target / 2, target
        root = _newton(lambda s: (_focal_logit(s, g) - target, _focal_logit_slope(s, g)), low, high, (low + high) / 2)
        root = xp.copysign(root, logit)
        slope = _focal_logit_slope(root, g)
    return root + (logit - _focal_logit(root, g)) / slope


def _newton(function: Callable[[Any], tuple[Any, Any]], low: Any, high: Any, start: Any) -> Any:
    """Root of an increasing function on [low, high].

    A step that leaves the bracket, or exceeds half the step before the last, is replaced by a bisection. Without the
    second rule the steps can oscillate forever, as they do for gamma = 30 and 50 classes.
    """
    xp, x = array_namespace(start), start
    tolerance = 4 * xp.finfo(x.dtype).eps
    last = before = high - low
    for _ in range(_NEWTON_STEPS):
        value, slope = function(x)
        high = xp.where(value > 0, x, high)
        low = xp.where(value > 0, low, x)
        step = x - value / slope
        small = xp.abs(step - x) <= tolerance * (1 + xp.abs(x))
        taken = small | ((step >= low) & (step <= high) & (2 * xp.abs(step - x) <= before))
        step = xp.where(taken, step, (low + high) / 2)
        last, before = xp.abs(step - x), last
        x = step
        if bool(xp.all(small)):
            break
    return x


# --- simplex ---------------------------------------------------------------------------


@_same_kind
def focal_log_probs(logits: Any, gamma: float) -> Any:
    r"""Log-probabilities after the focal calibration map, from logits.

    :math:`\log\hat p = \operatorname{log\,softmax}(\log w(q))`, q = softmax(logits); KK24 Eq. (1).
    gamma = 0 is log-softmax. To map probabilities, pass their logarithms. Tied classes stay tied, and no class gets a
    larger probability than those with the largest logit, rounding included.

    Args:
        logits: (..., K), K >= 2, finite.
        gamma: a number >= -1. For K > 2 it is the map of focal loss only for gamma >= 0.

    Returns:
        (..., K) log-probabilities; their exp sums to 1.

    Raises:
        ValueError: wrong shape, empty, non-finite logits, or gamma below -1.

    Examples:
        >>> np.exp(focal_log_probs(np.log([0.6266, 0.3734]), gamma=2.0)).round(4)
        array([0.8, 0.2])
    """
    check_logits(logits)
    return log_softmax(_log_weights(logits, _checked_gamma(gamma, logits)))


@_same_kind
def log_weight(logits: Any, gamma: float) -> Any:
    """Logarithm of the unnormalised weight of each class in the map, from logits (..., K) -> (..., K) (KK24 Eq. (1)).

    Arguments and errors are those of :func:`focal_log_probs`.

    Examples:
        >>> weights = np.exp(log_weight(np.log([0.6266, 0.3734]), gamma=2.0))
        >>> (weights / weights.sum()).round(4)
        array([0.8, 0.2])
    """
    check_logits(logits)
    return _log_weights(logits, _checked_gamma(gamma, logits))


def _log_weights(logits: Any, gamma: Any) -> Any:
    """Only a unique top class can have q near 1; its weight is computed from its logit, without cancellation."""
    xp = array_namespace(logits)
    z = logits - largest(logits)
    tops = z == 0
    alone = total(xp.astype(tops, z.dtype)) == 1
    is_top = tops & alone
    rest = logsumexp(xp.where(is_top, -xp.inf, z))
    log_q = z - xp.where(alone, -log_sigmoid(-rest), rest)
    log_q = xp.where(is_top, math.log(0.5), log_q)  # replaced below; every other q is at most 1/2
    q = xp.exp(log_q)
    weights = log_q - gamma * xp.log1p(-q) - xp.log1p(-gamma * q * log_q / (1 - q))
    return _at_most_the_tops(xp.where(is_top, _log_weight_of_logit(-rest, gamma), weights), tops)


def _at_most_the_tops(values: Any, tops: Any) -> Any:
    """Values (..., K), none above that of the top classes: rounding must not put a class that is nearly tied on top."""
    xp = array_namespace(values)
    most = largest(xp.where(tops, values, -xp.inf))
    return xp.where(values > most, most, values)


@_same_kind
def inverse_focal_log_probs(log_probs: Any, gamma: float) -> Any:
    r"""Inverse of the focal calibration map: log p -> log q, the prediction of focal loss for p (KK24 Prop. 4).

    q_i = w^{-1}(c p_i), where c is the unique number that makes q sum to 1 (KK24 A.4 omits this step).
    The unknown is the logit t of the top class: its weight gives c, and c gives every other class.
    log sum_{i != top} q_i - log(1 - q_top) increases in t and does not saturate.

    Args:
        log_probs: (..., K), K >= 2, with logsumexp 0.
        gamma: a number >= 0; for K = 2 a number >= -1.

    Returns:
        (..., K) log-probabilities. Gradients are first order, by the implicit function.

    Raises:
        ValueError: wrong shape, log_probs that are not distributions, or gamma out of range.

    Examples:
        >>> np.exp(inverse_focal_log_probs(np.log([0.8, 0.2]), gamma=2.0)).round(4)
        array([0.6266, 0.3734])
    """
    check_log_probs(log_probs)
    binary = log_probs.shape[-1] == 2
    g = _checked_gamma(gamma, log_probs, minimum=-1.0 if binary else 0.0)
    if binary:
        t = inverse_focal_logit(log_probs[..., :1] - log_probs[..., 1:], g)
        return log_sigmoid(array_namespace(t).concat([t, -t], axis=-1))
    if _value(g) == 0 and not getattr(g, "requires_grad", False):
        return log_softmax(log_probs)
    xp = array_namespace(log_probs)
    with _no_gradient(log_probs):
        t = _solve_simplex(log_probs, g)
        slope = _log_weight_slope(t, g)
        # q (1 - q) / slope, normalised; in logarithms, because every q (1 - q) may underflow
        share = xp.exp(log_softmax(log_sigmoid(t) + log_sigmoid(-t) - xp.log(slope)))
    error = log_probs - _log_weight_of_logit(t, g)
    found = log_sigmoid(t + (error - total(share * error)) / slope)
    return _at_most_the_tops(found, log_probs == largest(log_probs))


def _solve_simplex(log_p: Any, gamma: Any) -> Any:
    """Logits t of q with log w(q_i) - log p_i the same for all i and sum q_i = 1."""
    xp, k = array_namespace(log_p), log_p.shape[-1]
    is_top = xp.arange(k, device=device(log_p)) == xp.argmax(log_p, axis=-1, keepdims=True)
    top = largest(log_p)
    log_ratio = log_p - top  # <= 0, so t_i <= t_top
    floor = -math.log1p(_value(gamma))
    warm: Any = None  # the classes' logits at the previous trial of the top one

    def bent(y: Any) -> Any:  # inverse of t -> t below 0, gamma t above
        return xp.where(y > 0, y / gamma, y)

    def classes(t_top: Any) -> Any:
        nonlocal warm
        target = _log_weight_of_logit(t_top, gamma) + log_ratio
        # log w(t) lies between bent^-1(t) - log 2 - log(1 + gamma) and bent^-1(t) + gamma log 2,
        # and is below t + 1 for t < floor.
        low = xp.maximum(xp.where(target < floor, target, floor) - 2, bent(target - gamma * math.log(2)))
        high = xp.minimum(t_top + 1, bent(target + math.log(2) - floor))  # t_i <= t_top, with room
        high = xp.maximum(high, low)
        start = xp.minimum(xp.maximum(target if warm is None else warm, low), high)
        t = _newton(lambda x: (_log_weight_of_logit(x, gamma) - target, _log_weight_slope(x, gamma)), low, high, start)
        warm = t
        return xp.where(log_ratio == 0, t_top, t)

    def excess(t_top: Any) -> tuple[Any, Any]:
        t = classes(t_top)
        log_q = xp.where(is_top, -xp.inf, log_sigmoid(t))
        rest = logsumexp(log_q)
        pull = xp.exp(log_q - rest) * sigmoid(-t) / _log_weight_slope(t, gamma)
        slope = total(pull) * _log_weight_slope(t_top, gamma) + sigmoid(t_top)
        return rest - log_sigmoid(-t_top), slope

    margin = top - logsumexp(xp.where(is_top, -xp.inf, log_p))
    # At least the uniform distribution's logit. At most this: w(q) / q, which falls from 1 and then rises, is at least
    # 1/(1 + gamma), and at most 1 for a class where it is larger than at the top one. Both with room for rounding.
    low = xp.full_like(margin, -math.log(k - 1) - 1e-3)
    high = margin - floor + 1e-3
    start = xp.minimum(xp.maximum(margin / (1 + gamma), low), high)
    return classes(_newton(excess, low, high, start))
