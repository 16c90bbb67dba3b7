"""Cross-entropy with label smoothing."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import (
    IGNORED,
    Reduction,
    TrainingLoss,
    as_rows,
    check_reduction,
    check_share,
    class_weights,
    weights_like,
)


class LabelSmoothingLoss(TrainingLoss):
    r"""Cross-entropy with the smoothed labels :math:`(1-\lambda)e_y + \lambda/K`, computed by PyTorch.

    Args:
        lam: in [0, 1]; L25 section 5 uses 0.05 (LS-0.05).
        reduction, weight, ignore_index: as LogitLoss.

    Raises:
        ValueError: lam outside [0, 1]; as LogitLoss.

    Examples:
        >>> import torch
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> [round(float(LabelSmoothingLoss(lam)(logits, labels)), 4) for lam in (0.0, 0.05)]
        [0.2231, 0.2578]
    """

    weight: Tensor | None

    def __init__(
        self,
        lam: float = 0.05,
        reduction: Reduction = "mean",
        *,
        weight: Sequence[float] | Tensor | None = None,
        ignore_index: int = IGNORED,
    ) -> None:
        super().__init__()
        self.lam = check_share(lam, "lam")
        self.reduction, self.ignore_index = check_reduction(reduction), int(ignore_index)
        self.register_buffer("weight", class_weights(weight, "weight"))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        rows, targets, _ = as_rows(logits, labels, self.ignore_index)
        weight = None if self.weight is None else weights_like(self.weight, rows, "weight")
        ignored = IGNORED if targets.is_floating_point() else self.ignore_index  # PyTorch refuses another one then
        losses = cross_entropy(
            rows,
            targets.to(rows) if targets.is_floating_point() else targets,
            weight,
            ignore_index=ignored,
            reduction=self.reduction,
            label_smoothing=self.lam,
        )
        return losses.reshape(logits.shape[:1] + logits.shape[2:]) if self.reduction == "none" else losses

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}"
