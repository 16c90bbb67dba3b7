"""Training losses: focal, its proper part, Brier. All take logits; gamma = 0 is cross-entropy."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from focal_lib.maps import inverse_focal_log_probs
from focal_lib.validation import check_gamma

__all__ = ["BrierLoss", "FocalLoss", "ProperFocalLoss"]

Reduction = Literal["mean", "sum", "none"]


class _LogitLoss(nn.Module):
    """Shared frame: checks shapes, reduces. A subclass gives the loss of each row."""

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'. Got {reduction!r}.")
        self.reduction = reduction

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.ndim != 2 or labels.shape != logits.shape[:1]:
            raise ValueError(
                "logits and labels must have shapes (n, K) and (n,). "
                f"Got {tuple(logits.shape)} and {tuple(labels.shape)}."
            )
        losses = self.rows(logits, labels)  # (n,)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        raise NotImplementedError


def _focal(log_probs: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """-(1 - q)^gamma log q of the labelled class, from log-probabilities: (n, K), (n,) -> (n,)."""
    log_q = log_probs.gather(-1, labels[:, None])[:, 0]
    if gamma == 0:
        return -log_q
    # 1 - q = -expm1(log q). At q = 1 its power has an infinite slope for gamma < 1, so keep off 0.
    rest = (-torch.expm1(log_q)).clamp(min=torch.finfo(log_q.dtype).tiny)
    return -(rest**gamma) * log_q


class FocalLoss(_LogitLoss):
    r"""Focal loss :math:`-(1-q_y)^\gamma\log q_y` (KK24 section 2).

    Args:
        gamma: a number >= 0; 0 is cross-entropy.
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: gamma negative or not finite; wrong shapes when called.
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        return _focal(torch.log_softmax(logits, -1), labels, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"


class ProperFocalLoss(_LogitLoss):
    r"""The proper part of focal loss, :math:`L^*(p) = L(\hat p^{-1}(p))` (KK24 Props. 2 and 4).

    The softmax of the logits is the calibrated p itself, not what focal loss would predict.
    Its minimiser is the true posterior. Arguments and errors as FocalLoss.
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_q = inverse_focal_log_probs(torch.log_softmax(logits, -1), self.gamma)
        return _focal(log_q, labels, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"


class BrierLoss(_LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2)."""

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - nn.functional.one_hot(labels, logits.shape[-1])) ** 2).sum(-1)
