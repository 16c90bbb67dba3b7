"""The focal calibration loss of L25."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss, Reduction
from focal_lib.losses.focal import focal_losses
from focal_lib.validation import check_gamma, check_number


class FocalCalibrationLoss(LogitLoss):
    r"""FCL: focal loss plus :math:`\lambda\lVert q - e_y\rVert_2^2` (L25 Def. 3.1, Eq. (10)).

    Args:
        gamma, lam: >= 0.
        reduction: 'mean', 'sum' or 'none'.
        norm: 'l2', squared, as above; 'l1' for the ablation of L25 App. A.15, :math:`\lambda\lVert q - e_y\rVert_1`.

    Raises:
        ValueError: gamma or lam negative or not finite, or another norm; wrong shapes when called.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FocalCalibrationLoss(2.0, 1.0)(logits, labels)), 4)  # 0.0089 + 0.08
        0.0889
    """

    def __init__(
        self, gamma: float, lam: float, reduction: Reduction = "mean", norm: Literal["l2", "l1"] = "l2"
    ) -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)
        self.lam = check_number(lam, "lam", minimum=0.0)
        if norm not in ("l2", "l1"):
            raise ValueError(f"norm must be 'l2' or 'l1'. Got {norm!r}.")
        self.norm = norm

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        distance = log_probs.exp() - nn.functional.one_hot(labels, logits.shape[-1])
        size = (distance**2).sum(-1) if self.norm == "l2" else distance.abs().sum(-1)
        return focal_losses(log_probs, labels, self.gamma) + self.lam * size

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}, lam={self.lam:g}, norm={self.norm!r}"
