r"""The focal calibration map and its inverse, binary and on the simplex, in the log domain.

With :math:`L(q) = -(1-q)^\gamma \log q` the map is (KK24 Eq. (1), Props. 2 and 4)

.. math:: \hat p_i = \frac{w(q_i)}{\sum_j w(q_j)}, \qquad
          w(q) = -\frac{1}{L'(q)} = \frac{q}{(1-q)^\gamma\,(1 + \gamma b(q))}, \qquad
          b(q) = \frac{-q\log q}{1-q} \in (0, 1).

Evaluated on probabilities in float64 the formula is exactly 1 from logit 12.7 on (gamma = 2) and NaN from 36.8 on,
where q rounds to 1. Here everything is a function of x = -log q and log(1 - q), each computed without cancellation
(b is that of `entropy_ratio`), so logits up to 1e4 in size and gamma from -1 (binary) to 100 are exact to rounding.

Torch in, torch out, with gradients; NumPy in, NumPy out. float64 is honoured, float32 stays
float32, half precision is computed in float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from focal_lib.theory.entropy_ratio import (
    bernoulli,
    bernoulli_slope,
    mirror_gap,
    one_minus_bernoulli_over_x,
)
from focal_lib.validation import check_gamma, check_log_probs, check_logits

_NEWTON_STEPS = 200  # of any two after the first two one bisects, or the steps halve
_HALF = (torch.float16, torch.bfloat16)


def _array_in_array_out(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """Let a torch function take a NumPy array (or a number) and give one back."""

    @functools.wraps(function)
    def wrapper(values: Any, gamma: Any) -> Any:
        if isinstance(values, Tensor):
            wide = values.float() if values.dtype in _HALF else values
            return function(wide, gamma).to(values.dtype)
        array = np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{function.__name__} takes real numbers. Got dtype {array.dtype}.")
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
        with torch.no_grad():
            return function(torch.from_numpy(np.array(array)), gamma).numpy()[()]

    return wrapper


# --- the weight of one class ---------------------------------------------------------


def _log_one_plus_gamma_b(x: Tensor, log_x: Tensor, gamma: Tensor) -> Tensor:
    """log(1 + gamma b). For gamma < 0 it is log((1 + gamma) + |gamma| (1 - b)): nothing cancels."""
    if float(gamma.detach()) >= 0:
        return torch.log1p(gamma * bernoulli(x))
    log_one_minus_b = log_x + torch.log(one_minus_bernoulli_over_x(x))
    if float(gamma.detach()) == -1:
        return log_one_minus_b
    return torch.logaddexp(torch.log1p(gamma), torch.log(-gamma) + log_one_minus_b)


def _log_weight_of_logit(t: Tensor, gamma: Tensor) -> Tensor:
    """log w(q) for q = sigmoid(t)."""
    x = -logsigmoid(t)
    return -x - gamma * logsigmoid(-t) - _log_one_plus_gamma_b(x, _log_x(t), gamma)


def _log_weight_slope(t: Tensor, gamma: Tensor) -> Tensor:
    """d log w / dt: 1 as t -> -inf, gamma as t -> inf, positive for gamma >= 0."""
    x = -logsigmoid(t)
    q, rest = torch.sigmoid(t), torch.sigmoid(-t)
    if float(gamma.detach()) >= 0:
        pull = rest * bernoulli_slope(x) / (1 + gamma * bernoulli(x))
    elif float(gamma.detach()) > -1:
        pull = rest * bernoulli_slope(x) / (1 + gamma - gamma * x * one_minus_bernoulli_over_x(x))
    else:  # (1 - q) / x is 1 where both underflow
        ratio = torch.where(t > 30, 1.0, rest / torch.where(t > 30, 1.0, x))
        pull = ratio * bernoulli_slope(x) / one_minus_bernoulli_over_x(x)
    return rest + gamma * (q + pull)


def _log_x(t: Tensor) -> Tensor:
    """log(-log sigmoid(t)), also where -log sigmoid(t) underflows."""
    x = -logsigmoid(t)
    tiny = t > 30
    return torch.where(tiny, -t - torch.exp(-t) / 2, torch.log(torch.where(tiny, 1.0, x)))


def _scalar(gamma: Any, like: Tensor, minimum: float = -1.0) -> Tensor:
    check_gamma(gamma, minimum=minimum)
    return torch.as_tensor(gamma, dtype=like.dtype, device=like.device)


# --- binary ----------------------------------------------------------------------------


@_array_in_array_out
def focal_logit(logit: Tensor, gamma: float) -> Tensor:
    r"""Logit of the binary focal calibration map, as a function of the logit s.

    .. math:: \operatorname{logit} FC(s) = (\gamma + 1)\,s - R(s), \\
              R(s) = \log\frac{1 + \gamma u(s)}{1 + \gamma u(-s)}, \quad u(s) = e^s\log(1 + e^{-s})

    KK24 Prop. 2. Odd and increasing, with slope in (max(1, gamma), gamma + 1) for gamma > 0.

    Args:
        logit: any shape, finite.
        gamma: a number >= -1; below it the map is not monotone.

    Raises:
        ValueError: non-finite logits, or gamma below -1 or not finite.
    """
    check_logits(logit, classes=False)
    return _focal_logit(logit, _scalar(gamma, logit))


def _focal_logit(s: Tensor, gamma: Tensor) -> Tensor:
    a, minus = -logsigmoid(s), -logsigmoid(-s)  # -log q and -log(1-q)
    far = _log_one_plus_gamma_b(minus, _log_x(-s), gamma) - _log_one_plus_gamma_b(a, _log_x(s), gamma)
    near = s.abs() < 1
    c = torch.where(near, s, 0.0)
    gap = mirror_gap(c, -logsigmoid(c))
    close = -torch.log1p(gamma * gap / (1 + gamma * bernoulli(-logsigmoid(-c))))
    return (gamma + 1) * s + torch.where(near, close, far)


@_array_in_array_out
def focal_logit_slope(logit: Tensor, gamma: float) -> Tensor:
    r"""Derivative of :func:`focal_logit` by the logit: gamma + 1 - R'(s).

    KK24 gives no formula; it follows from Prop. 2. Same arguments and errors as focal_logit.
    """
    check_logits(logit, classes=False)
    g = _scalar(gamma, logit)
    return _focal_logit_slope(logit, g)


def _focal_logit_slope(s: Tensor, gamma: Tensor) -> Tensor:
    return _log_weight_slope(s, gamma) + _log_weight_slope(-s, gamma)


@_array_in_array_out
def inverse_focal_logit(logit: Tensor, gamma: float) -> Tensor:
    """Inverse of :func:`focal_logit`: the logit s with logit FC(s) equal to the given one.

    Newton on abs(logit) inside the bracket that R's bounds give; exact to rounding. Gradients, by
    the logit and by gamma, are those of the implicit function (first order).

    Raises:
        ValueError: as focal_logit.
    """
    check_logits(logit, classes=False)
    g = _scalar(gamma, logit)
    with torch.no_grad():
        target = logit.abs()
        if float(g.detach()) > -1:
            ends = target / (g + 1), (target + torch.log1p(g)) / (g + 1)
            low, high = torch.minimum(*ends).clamp(min=0), torch.maximum(*ends)
        else:  # slope between 1 and 1.26
            low, high = target / 2, target
        root = _newton(lambda s: (_focal_logit(s, g) - target, _focal_logit_slope(s, g)), low, high, (low + high) / 2)
        root = torch.copysign(root, logit)
        slope = _focal_logit_slope(root, g)
    return root + (logit - _focal_logit(root, g)) / slope


def _newton(function: Callable[[Tensor], tuple[Tensor, Tensor]], low: Tensor, high: Tensor, start: Tensor) -> Tensor:
    """Root of an increasing function on [low, high].

    A step that leaves the bracket, or is more than half the step before the last, is bisected instead: without the
    second rule the steps can go to and fro for ever, as they do for gamma = 30 and 50 classes.
    """
    x = start
    tolerance = 4 * torch.finfo(x.dtype).eps
    last = before = high - low
    for _ in range(_NEWTON_STEPS):
        value, slope = function(x)
        high = torch.where(value > 0, x, high)
        low = torch.where(value > 0, low, x)
        step = x - value / slope
        small = (step - x).abs() <= tolerance * (1 + x.abs())
        taken = small | ((step >= low) & (step <= high) & (2 * (step - x).abs() <= before))
        step = torch.where(taken, step, (low + high) / 2)
        last, before = (step - x).abs(), last
        x = step
        if bool(small.all()):
            break
    return x


# --- simplex ---------------------------------------------------------------------------


@_array_in_array_out
def focal_log_probs(logits: Tensor, gamma: float) -> Tensor:
    r"""Log-probabilities after the focal calibration map, from logits.

    :math:`\log\hat p = \operatorname{log\,softmax}(\log w(q))`, q = softmax(logits); KK24 Eq. (1).
    gamma = 0 is log-softmax. To map probabilities, pass their logarithms.

    Args:
        logits: (..., K), K >= 2, finite.
        gamma: a number >= -1. On the simplex the map is the focal loss' own for gamma >= 0.

    Returns:
        (..., K) log-probabilities; their exp sums to 1.

    Raises:
        ValueError: wrong shape, empty, non-finite logits, or gamma below -1.
    """
    check_logits(logits)
    g = _scalar(gamma, logits)
    return torch.log_softmax(_log_weights(logits, g), dim=-1)


@_array_in_array_out
def log_weight(logits: Tensor, gamma: float) -> Tensor:
    """The unnormalised log w(q_i) of :func:`focal_log_probs`, from logits: (..., K) -> (..., K). Errors as there."""
    check_logits(logits)
    return _log_weights(logits, _scalar(gamma, logits))


def _log_weights(logits: Tensor, gamma: Tensor) -> Tensor:
    z = logits - logits.amax(-1, keepdim=True).detach()
    top = z.argmax(-1, keepdim=True)
    others = z.scatter(-1, top, -math.inf)
    # Only the top class can have q near 1; its logit against the rest loses nothing there.
    t = z.gather(-1, top) - torch.logsumexp(others, -1, keepdim=True)
    log_q = z - torch.logsumexp(z, -1, keepdim=True)
    log_q = log_q.scatter(-1, top, math.log(0.5))  # replaced below; every other q is at most 1/2
    weights = log_q - gamma * torch.log1p(-torch.exp(log_q))
    weights = weights - _log_one_plus_gamma_b(-log_q, torch.log(-log_q), gamma)
    return weights.scatter(-1, top, _log_weight_of_logit(t, gamma))


@_array_in_array_out
def inverse_focal_log_probs(log_probs: Tensor, gamma: float) -> Tensor:
    r"""Inverse of the focal calibration map: log p -> log q, what focal loss predicts for p.

    q_i = w^{-1}(c p_i) with the one c that makes q sum to 1 (the step KK24 A.4 leaves out).
    The unknown is the logit t of the top class: its weight gives c, c gives every other class,
    and log sum_{i != top} q_i - log(1 - q_top) is increasing in t and does not saturate.

    Args:
        log_probs: (..., K), K >= 2, with logsumexp 0.
        gamma: a number >= 0; for K = 2 a number >= -1.

    Returns:
        (..., K) log-probabilities. Gradients are first order, by the implicit function.

    Raises:
        ValueError: wrong shape, log_probs that are no distributions, or gamma out of range.
    """
    check_log_probs(log_probs)
    binary = log_probs.shape[-1] == 2
    g = _scalar(gamma, log_probs, minimum=-1.0 if binary else 0.0)
    if binary:
        t = inverse_focal_logit(log_probs[..., :1] - log_probs[..., 1:], gamma)
        return logsigmoid(torch.cat([t, -t], -1))
    if float(g.detach()) == 0 and not g.requires_grad:
        return torch.log_softmax(log_probs, -1)
    with torch.no_grad():
        t = _solve_simplex(log_probs, g)
        slope = _log_weight_slope(t, g)
        # q (1 - q) / slope, normalised; as logarithms, for every q (1 - q) may underflow
        share = torch.softmax(logsigmoid(t) + logsigmoid(-t) - torch.log(slope), -1)
    error = log_probs - _log_weight_of_logit(t, g)
    return logsigmoid(t + (error - (share * error).sum(-1, keepdim=True)) / slope)


def _solve_simplex(log_p: Tensor, gamma: Tensor) -> Tensor:
    """Logits t of q with log w(q_i) - log p_i the same for all i and sum q_i = 1."""
    top = log_p.argmax(-1, keepdim=True)
    log_ratio = log_p - log_p.gather(-1, top)  # <= 0, so t_i <= t_top
    is_top = torch.zeros_like(log_p, dtype=torch.bool).scatter(-1, top, True)
    floor = -torch.log1p(gamma)
    warm: Tensor | None = None  # the classes' logits at the previous trial of the top one

    def bent(y: Tensor) -> Tensor:  # inverse of t -> t below 0, gamma t above
        return torch.where(y > 0, y / gamma, y)

    def classes(t_top: Tensor) -> Tensor:
        nonlocal warm
        target = _log_weight_of_logit(t_top, gamma) + log_ratio
        # log w(t) lies between bent^-1(t) - log 2 - log(1 + gamma) and bent^-1(t) + gamma log 2,
        # and is below t + 1 for t < floor.
        low = torch.maximum(torch.minimum(target, floor) - 2, bent(target - gamma * math.log(2)))
        high = torch.minimum(t_top + 1, bent(target + math.log(2) - floor))  # t_i <= t_top, with room
        high = torch.maximum(high, low)
        start = torch.minimum(torch.maximum(target if warm is None else warm, low), high)
        t = _newton(lambda x: (_log_weight_of_logit(x, gamma) - target, _log_weight_slope(x, gamma)), low, high, start)
        warm = t
        return torch.where(is_top, t_top, t)

    def excess(t_top: Tensor) -> tuple[Tensor, Tensor]:
        t = classes(t_top)
        log_q = logsigmoid(t).masked_fill(is_top, -math.inf)
        rest = torch.logsumexp(log_q, -1, keepdim=True)
        pull = torch.exp(log_q - rest) * torch.sigmoid(-t) / _log_weight_slope(t, gamma)
        slope = pull.sum(-1, keepdim=True) * _log_weight_slope(t_top, gamma) + torch.sigmoid(t_top)
        return rest - logsigmoid(-t_top), slope

    others = log_p.masked_fill(is_top, -math.inf)
    margin = log_p.gather(-1, top) - torch.logsumexp(others, -1, keepdim=True)
    # At least the uniform distribution's logit. At most this: w(q) / q, which falls from 1 and then rises, is at least
    # 1/(1 + gamma), and at most 1 for a class where it is larger than at the top one. Both with room for rounding.
    low = torch.full_like(margin, -math.log(log_p.shape[-1] - 1) - 1e-3)
    high = margin + torch.log1p(gamma) + 1e-3
    start = torch.minimum(torch.maximum(margin / (1 + gamma), low), high)
    return classes(_newton(excess, low, high, start))
