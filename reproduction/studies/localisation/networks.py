"""Networks that end, as CheXNet does, in mean pooling and a linear layer."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

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
