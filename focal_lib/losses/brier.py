"""The Brier score as a training loss."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from focal_lib.losses.base import LogitLoss, complement, one_hot


class BrierLoss(LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2).

    Of float labels t it is expected under t: :math:`\lVert q - t\rVert_2^2 + 1 - \lVert t\rVert_2^2`.

    Args:
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing. Errors are those, too.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(BrierLoss()(logits, labels)), 4)  # 0.2^2 + 0.2^2
        0.08
    """

    takes_sum = False  # M20's published code averages it over a batch, and sums other losses

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - one_hot(labels, probs)) ** 2).sum(-1)

    def per_class(self, logits: Tensor) -> Tensor:
        return squared_distances(torch.log_softmax(logits, -1))

    def per_margin(self, margin: Tensor) -> Tensor:
        return 2 * complement(logsigmoid(margin)) ** 2


def squared_distances(log_q: Tensor) -> Tensor:
    r""":math:`\lVert q - e_k\rVert_2^2` for each class k: (n, K) -> (n, K)."""
    squares = (2 * log_q).exp()
    top = one_hot(log_q.argmax(-1), log_q).bool()
    rest = squares.masked_fill(top, 0.0).sum(-1, keepdim=True)  # less its own large square, the sum would lose these
    return complement(log_q) ** 2 + torch.where(top, rest, squares.sum(-1, keepdim=True) - squares)
