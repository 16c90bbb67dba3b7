"""The Brier score as a training loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss


class BrierLoss(LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2)."""

    takes_sum = False  # M20's published code takes its mean over a batch where it sums other losses

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - nn.functional.one_hot(labels, logits.shape[-1])) ** 2).sum(-1)
