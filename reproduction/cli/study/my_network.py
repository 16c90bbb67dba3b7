"""A network of your own: images (n, channels, height, width) in, logits (n, classes) out."""

from torch import Tensor, nn


class TinyNet(nn.Module):
    """One convolution, a mean over 4 x 4 parts of the image, one linear layer."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Linear(16 * 16, classes)

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(images).flatten(1))
        return logits
