"""Cross-entropy with a penalty on the trace of its Hessian, after KN24 Fig. 4, whose loss the text at hand has lost."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import TrainingLoss, check_batch
from focal_lib.losses.hessian import hessian_trace, hutchinson
from focal_lib.validation import check_number


class HessianTraceLoss(TrainingLoss):
    r"""Cross-entropy plus :math:`\lambda|\operatorname{tr}H|`, H its Hessian in the weights.

    The trace of each batch is estimated with one vector of random signs. The absolute value keeps an estimate below 0
    from being rewarded.

    The penalty needs the weights, so it is in `objective`; called with logits and labels it is cross-entropy.

    Raises:
        ValueError: lam < 0; wrong shapes when called.
    """

    one_graph = False

    def __init__(self, lam: float = 1e-3) -> None:
        super().__init__()
        self.lam = check_number(lam, "lam", minimum=0.0)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_batch(logits, labels)
        return cross_entropy(logits, labels)

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """Scalar: the loss with its penalty, for weights that the logits (n, K) were computed with."""
        loss: Tensor = self(logits, labels)
        if self.lam == 0:
            return loss
        (trace,) = hutchinson(loss, model.parameters(), generator, create_graph=True)
        return loss + self.lam * trace.abs()

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """hessian_trace: the trace of cross-entropy's Hessian on the first 2,000 samples."""
        return {"hessian_trace": hessian_trace(model, self, inputs[:2000], labels[:2000]).value}
