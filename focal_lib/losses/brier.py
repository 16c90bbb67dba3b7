"""The Brier score as a training loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss


class BrierLoss(LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2).

    Args:
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: an unknown reduction; wrong shapes when called.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(BrierLoss()(logits, labels)), 4)  # 0.2^2 + 0.2^2
        0.08
    """

    takes_sum = False  # M20's published code averages it over a batch, and sums other losses

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - nn.functional.one_hot(labels, logits.shape[-1])) ** 2).sum(-1)
