r"""The part of a loss' Hessian in the weights that is not the network's own second derivative, sample by sample.

With logits :math:`s(w)`, their Jacobian J and the loss' Hessian H in the logits

.. math:: \nabla^2_w L = J^T H J + \sum_k \frac{\partial L}{\partial s_k}\nabla^2_w s_k,\qquad
          \operatorname{tr} J^T H J = \langle H, J J^T\rangle.

Of a network of linear layers, convolutions, ReLU, pooling and normalisation by fixed statistics, with weights that are
used in one place each, the logits are linear in every single weight, almost everywhere: the second sum has a diagonal
of 0, and the trace of the Hessian is that of its first part, exactly (Schraudolph 2002 on the Gauss-Newton matrix).
"""

from __future__ import annotations

import functools
import warnings

import torch
from torch import Tensor, nn
from torch.func import functional_call, hessian, jacrev, vmap

from focal_lib.losses.base import LogitLoss

_JACOBIANS = 2 << 30  # bytes of Jacobians in memory at once, by default; one sample's at least


@functools.cache
def load_forward_mode() -> None:
    """Compute a first forward derivative, and hide PyTorch's own warning about `torch.jit.script`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script`", FutureWarning)
        torch.func.jvp(torch.sin, (torch.zeros(1),), (torch.zeros(1),))


def logit_grams(model: nn.Module, inputs: Tensor, batch_size: int | None = None) -> Tensor:
    """J J^T of each sample, J the Jacobian of its logits in all weights: (n, K, K) float64.

    Args:
        batch_size: samples whose Jacobians, K times the weights each, are in memory at once; by default at most 25, and
            2 GiB of them, or one.
    """
    if batch_size is None:
        with torch.no_grad():
            each = model(inputs[:1]).numel() * sum(p.numel() * p.element_size() for p in model.parameters())
        batch_size = max(1, min(25, _JACOBIANS // each))
    load_forward_mode()
    model.eval()
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def logits(given: dict[str, Tensor], one: Tensor) -> Tensor:
        found: Tensor = functional_call(model, given, (one[None],))[0]
        return found

    jacobians, found = vmap(jacrev(logits), in_dims=(None, 0)), []
    for part in inputs.split(batch_size):
        blocks = [block.flatten(2) for block in jacobians(weights, part).values()]  # (m, K, weights of one tensor)
        found.append(sum((block @ block.mT).double() for block in blocks))
    return torch.cat(found)


def logit_hessians(loss: LogitLoss, logits: Tensor, labels: Tensor) -> Tensor:
    """Hessian of each sample's loss in its logits, at logits (n, K): (n, K, K) float64."""

    load_forward_mode()

    def value(row: Tensor, label: Tensor) -> Tensor:
        return loss.per_sample(row[None], label[None])[0]

    found: Tensor = vmap(hessian(value))(logits.detach().double(), labels)
    return found


def gauss_newton_traces(grams: Tensor, hessians: Tensor) -> Tensor:
    """Trace of J^T H J of each sample, (n,), from what the two functions above give.

    Raises:
        ValueError: other shapes.
    """
    if grams.shape != hessians.shape or grams.ndim != 3:
        raise ValueError(f"both must have one shape (n, K, K). Got {tuple(grams.shape)}, {tuple(hessians.shape)}.")
    return (grams * hessians).sum((-1, -2))
