"""Dual focal loss (Tao, Dong and Xu, ICML 2023)."""

from __future__ import annotations

import torch
from torch import Tensor

from focal_lib.losses.base import LogitLoss, Reduction, complement, log_prob_of_label
from focal_lib.validation import check_gamma


class DualFocalLoss(LogitLoss):
    r"""Dual focal loss :math:`-(1 - q_y + q_j)^\gamma\log q_y` (Tao, Dong and Xu 2023).

    q_j is the largest probability strictly below q_y, or 0. The gradient also flows through q_j. gamma = 0 is
    cross-entropy. Arguments as FocalLoss.

    Raises:
        ValueError: gamma negative or not finite; wrong shapes when called.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(DualFocalLoss(gamma=2.0)(logits, labels)), 4)  # 0.4^2 * 0.2231
        0.0357
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        log_q = log_prob_of_label(log_probs, labels)
        lower = logits < logits.gather(-1, labels[:, None])  # as probabilities, before they round to ties
        below = torch.where(lower, log_probs.exp(), 0.0).amax(-1)
        return -((complement(log_q) + below) ** self.gamma) * log_q

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"
