"""Cross-entropy with a penalty on the trace of its Hessian, after KN24 Fig. 4; the text we read lacks its formula."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from focal_lib.losses.base import TrainingLoss, check_batch
from focal_lib.losses.hessian import hessian_trace, hutchinson
from focal_lib.validation import check_number


class HessianTraceLoss(TrainingLoss):
    r"""Cross-entropy plus :math:`\lambda|\operatorname{tr}H|`, H its Hessian in the weights.

    It follows KN24 Fig. 4. The trace of each batch is estimated with one vector of random signs. The absolute value
    keeps a negative estimate from being rewarded.

    The penalty needs the weights and is only in `objective`; called with logits and labels, the loss is cross-entropy.

    Raises:
        ValueError: lam < 0; wrong shapes when called.

    Examples:
        >>> loss, model = HessianTraceLoss(lam=0.1), nn.Linear(1, 2, bias=False)
        >>> _ = nn.init.zeros_(model.weight)  # q = 0.5, and the trace is 0.5
        >>> logits, draws = model(torch.ones(1, 1)), torch.Generator().manual_seed(0)
        >>> round(loss.objective(logits, torch.tensor([0]), model, draws).item(), 4)  # log 2 + 0.1 * (0 or 1)
        0.7931
    """

    one_graph = False

    def __init__(self, lam: float = 1e-3) -> None:
        super().__init__()
        self.lam = check_number(lam, "lam", minimum=0.0)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_batch(logits, labels)
        return cross_entropy(logits, labels)

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """The loss with its penalty, a scalar, for the weights of the model, which gave the logits (n, K)."""
        loss: Tensor = self(logits, labels)
        if self.lam == 0:
            return loss
        (trace,) = hutchinson(loss, model.parameters(), generator, create_graph=True)
        return loss + self.lam * trace.abs()

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """hessian_trace: the trace of cross-entropy's Hessian on the first 2,000 samples."""
        return {"hessian_trace": hessian_trace(model, self, inputs[:2000], labels[:2000]).value}
