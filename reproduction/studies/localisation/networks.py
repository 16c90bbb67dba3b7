"""Networks that end, as CheXNet does, in mean pooling and a linear layer, and losses for several labels."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss, TrainingLoss
from reproduction.engine.models.images import densenet121


class SmallNetwork(nn.Module):
    """Three convolutions, the first two of stride 2, mean pooling, a linear layer: (n, C, S, S) -> (n, L).

    A cell of the last map sees 18 x 18 pixels; maps are a quarter as wide as the image. Where the stride is 2 kernels
    are even, so that a cell lies in the middle of what it sees when the map is enlarged: with odd ones it would see 1.5
    pixels up and left of there.
    """

    def __init__(self, channels: int, size: int, labels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = channels
        for width, kernel, stride in ((16, 4, 2), (32, 4, 2), (64, 3, 1)):
            layers += [nn.Conv2d(before, width, kernel, stride, 1, bias=False), nn.BatchNorm2d(width)]
            layers.append(nn.ReLU())
            before = width
        self.features = nn.Sequential(*layers)  # (n, 64, size/4, size/4)
        self.head = nn.Linear(before, labels)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x).mean((2, 3)))
        return logits


# name -> network of (channels, size, labels), whose `features` are what is pooled
NETWORKS: dict[str, Callable[[int, int, int], nn.Module]] = {"small": SmallNetwork, "densenet121": densenet121}


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
