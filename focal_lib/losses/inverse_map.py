"""The inverse of the focal calibration map as one operation, with derivatives of every order: it can be compiled."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from focal_lib.losses.base import one_hot
from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope
from focal_lib.theory.maps import inverse_focal_log_probs


@torch.library.custom_op("focal_lib::focal_prediction", mutates_args=())
def focal_prediction(log_p: Tensor, gamma: Tensor) -> Tensor:
    """`focal_lib.theory.inverse_focal_log_probs`, whose steps depend on values, which a graph cannot hold.

    Args:
        log_p: (n, K).
        gamma: one number >= 0.
    """
    return (inverse_focal_log_probs(log_p, float(gamma)) if len(log_p) else log_p).clone()


@focal_prediction.register_fake
def _(log_p: Tensor, gamma: Tensor) -> Tensor:
    return torch.empty_like(log_p)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(output, inputs[1])


def _gradient(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None]:
    r"""By the implicit function, from :math:`\log w(q_i) = \log p_i + c` and :math:`\sum_i q_i = 1`:

    :math:`d\log q_i = r_i\,(d\log p_i - \partial_\gamma\log w(q_i)\,d\gamma + dc)` with
    :math:`1/r_i = d\log w/d\log q_i`, and :math:`dc` such that :math:`\sum_i q_i\,d\log q_i = 0`.
    """
    log_q, gamma = ctx.saved_tensors
    x, log_rest = -log_q, _log_complement(log_q)
    tiny = torch.finfo(log_q.dtype).tiny
    b, rest = bernoulli(x), log_rest.exp().clamp(min=tiny)
    # of the logit; (1 - q) / slope is r
    slope = (rest + gamma * (log_q.exp() + rest * bernoulli_slope(x) / (1 + gamma * b))).clamp(min=tiny)
    taken = grad * rest / slope
    share = torch.softmax(log_q + log_rest - slope.log(), -1)  # q r, normalised; each may underflow
    of_log_p = taken - share * taken.sum(-1, keepdim=True)
    if not ctx.needs_input_grad[1]:
        return of_log_p, None
    return of_log_p, (of_log_p * (log_rest + b / (1 + gamma * b))).sum().reshape(gamma.shape)


def _log_complement(log_q: Tensor) -> Tensor:
    """log(1 - q), also of a q that rounds to 1: what the other classes have."""
    top = one_hot(log_q.argmax(-1), log_q).bool()
    others = log_q.masked_fill(top, -math.inf).logsumexp(-1, keepdim=True)
    return torch.where(top, others, torch.log1p(-log_q.masked_fill(top, math.log(0.5)).exp()))


focal_prediction.register_autograd(_gradient, setup_context=_keep)
