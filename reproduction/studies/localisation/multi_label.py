"""Losses of two classes, applied to each label of samples that may have several."""

from __future__ import annotations

import torch
from torch import Tensor

from focal_lib.losses.base import LogitLoss, TrainingLoss


class MultiLabelLoss(TrainingLoss):
    r"""The mean over samples and labels of a loss of two classes, whose logits are 0 and :math:`z`.

    Each label is a problem of its own with :math:`q = \sigma(z)`. Of `FocalLoss(0)` it is binary cross-entropy, of
    `FocalLoss(gamma)` the focal loss of Lin et al. (2017) without their alpha, of `FocalCalibrationLoss(gamma, lam)`
    that plus :math:`2\lambda(q - y)^2`: the squared distance of :math:`(1-q, q)` from the label has two equal terms.

    Args:
        loss: of logits (m, 2) and labels (m,).

    Raises:
        ValueError: when called, logits and labels that are not both (n, L).
    """

    def __init__(self, loss: LogitLoss) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(n, L), (n, L) of 0 and 1 -> what the loss's reduction makes of n L values."""
        if logits.ndim != 2 or labels.shape != logits.shape:
            shapes = f"{tuple(logits.shape)} and {tuple(labels.shape)}"
            raise ValueError(f"logits and labels must both have shape (n, L). Got {shapes}.")
        flat = logits.flatten()
        losses: Tensor = self.loss(torch.stack([torch.zeros_like(flat), flat], -1), labels.flatten().long())
        return losses
