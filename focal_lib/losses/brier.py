"""The Brier score as a training loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss

__all__ = ["BrierLoss"]


class BrierLoss(LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2)."""

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - nn.functional.one_hot(labels, logits.shape[-1])) ** 2).sum(-1)
