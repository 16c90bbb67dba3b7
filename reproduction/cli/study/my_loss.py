"""A loss of your own: a function of (logits, labels) that returns the mean over the batch."""

import torch
from torch import Tensor


def poly_focal(logits: Tensor, labels: Tensor, gamma: float, lam: float = 1.0) -> Tensor:
    """Focal loss plus lam (1 - q)^(gamma + 1), of the label's probability q (Leng et al. 2022)."""
    log_q = torch.log_softmax(logits, -1).gather(1, labels[:, None])[:, 0]  # (n,)
    rest = -torch.expm1(log_q)  # 1 - q
    return (-(rest**gamma) * log_q + lam * rest ** (gamma + 1)).mean()
