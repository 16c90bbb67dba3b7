"""Cross-entropy with label smoothing."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import TrainingLoss, check_batch
from focal_lib.validation import check_number


class LabelSmoothingLoss(TrainingLoss):
    r"""Mean cross-entropy to the labels :math:`(1-\lambda)e_y + \lambda/K`: PyTorch's, as a loss of this package.

    Args:
        lam: in [0, 1]; L25 section 5 has 0.05 (LS-0.05).

    Raises:
        ValueError: lam outside; wrong shapes when called.
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
