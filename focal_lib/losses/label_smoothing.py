"""Cross-entropy with label smoothing."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import TrainingLoss, check_batch
from focal_lib.validation import check_number


class LabelSmoothingLoss(TrainingLoss):
    r"""Mean cross-entropy with the smoothed labels :math:`(1-\lambda)e_y + \lambda/K`, computed by PyTorch.

    Args:
        lam: in [0, 1]; L25 section 5 uses 0.05 (LS-0.05).

    Raises:
        ValueError: lam outside [0, 1]; wrong shapes when called.

    Examples:
        >>> import torch
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> [round(float(LabelSmoothingLoss(lam)(logits, labels)), 4) for lam in (0.0, 0.05)]
        [0.2231, 0.2578]
    """

    def __init__(self, lam: float = 0.05) -> None:
        super().__init__()
        self.lam = check_number(lam, "lam", minimum=0.0)
        if self.lam > 1:
            raise ValueError(f"lam must be a share, at most 1. Got {self.lam:g}.")

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_batch(logits, labels)
        return cross_entropy(logits, labels, label_smoothing=self.lam)

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}"
