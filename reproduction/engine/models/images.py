"""Networks of convolutions for pictures, and all by name. Blocks are torchvision's; what differs is the stem.

torchvision takes over a second to import, so that the functions that need it do, and those who make no network wait
for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from torch import Tensor, nn

from reproduction.engine.models.patches import small_convnext, small_mixer, small_vit, vit


def small_cnn(channels: int, size: int, classes: int) -> nn.Module:
    """Two strided convolutions and two linear layers: 2,000 images an epoch in 0.2 s on one core.

    Args:
        channels, size: of the square input, (n, channels, size, size).
    """
    side = -(-size // 4)  # after two convolutions of stride 2
    return nn.Sequential(
        nn.Conv2d(channels, 16, 5, stride=2, padding=2),  # (n, 16, size/2, size/2)
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),  # (n, 32, size/4, size/4)
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * side**2, 128),
        nn.ReLU(),
        nn.Linear(128, classes),
    )


def airbench_cnn(channels: int, size: int, classes: int) -> nn.Module:
    """Six 3x3 convolutions in three groups that pool, after a 2x2 stem: 1.5 M weights, quick to train on a CPU.

    In the manner of airbench94 (Jordan 2024, arXiv 2404.00498), without its whitening, scaled logits and frozen scales.

    Raises:
        ValueError: a size below 9, of which three poolings leave nothing.
    """
    side = (size - 1) // 8  # after the stem and three poolings
    if side < 1:
        raise ValueError(f"airbench-cnn needs images of at least 9 x 9. Got {size} x {size}.")
    layers: list[nn.Module] = [nn.Conv2d(channels, 24, 2), nn.GELU()]
    before = 24
    for width in (64, 192, 256):
        layers += [
            nn.Conv2d(before, width, 3, padding=1, bias=False),
            nn.MaxPool2d(2),
            nn.BatchNorm2d(width),
            nn.GELU(),
        ]
        layers += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.GELU()]
        before = width
    return nn.Sequential(*layers, nn.MaxPool2d(side), nn.Flatten(), nn.Linear(before, classes))


def mlp(channels: int, size: int, classes: int) -> nn.Module:
    """Two layers, 100 hidden units: the network of KN24 Fig. 4."""
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * size**2, 100), nn.ReLU(), nn.Linear(100, classes))


def resnet(
    layers: Sequence[int], block: Literal["BasicBlock", "Bottleneck"] = "Bottleneck"
) -> Callable[[int, int, int], nn.Module]:
    """ResNet for images of 32x32: a 3x3 stem of stride 1 and no pooling.

    M20, KK24 and L25 name their ResNets and tell neither the stem nor the blocks of ResNet-110.

    Args:
        layers: blocks in each of the four stages. (3, 4, 6, 3) is ResNet-50; (3, 4, 26, 3) has 110 layers, our
            ResNet-110; (2, 2, 2, 2) of basic blocks is ResNet-18.
        block: torchvision's name of it.
    """

    def make(channels: int, size: int, classes: int) -> nn.Module:
        from torchvision.models import resnet

        model = resnet.ResNet(getattr(resnet, block), list(layers), num_classes=classes)
        model.conv1 = nn.Conv2d(channels, 64, 3, padding=1, bias=False)
        model.maxpool = nn.Identity()
        return model

    return make


class _WideResNet(nn.Module):
    """A stem of 16 channels, three stages of basic blocks, mean pooling, a linear layer."""

    def __init__(self, channels: int, classes: int, blocks: int, widths: Sequence[int]) -> None:
        from torchvision.models.resnet import BasicBlock

        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(channels, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
        before = 16
        for stage, width in enumerate(widths):
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                layers.append(BasicBlock(before, width, stride, self._shortcut(before, width, stride)))
                before = width
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(before, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    @staticmethod
    def _shortcut(before: int, after: int, stride: int) -> nn.Module | None:
        if stride == 1 and before == after:
            return None
        return nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        features = self.features(x)  # (n, width, size/4, size/4)
        logits: Tensor = self.fc(features.mean((2, 3)))
        return logits


def wide_resnet(depth: int, width: int) -> Callable[[int, int, int], nn.Module]:
    """Wide ResNet with the usual order of convolution and normalisation; the papers' texts do not tell theirs.

    Args:
        depth: convolutions and the linear layer, without the projections of shortcuts, which Zagoruyko and Komodakis
            (2016) count: what they call WRN-16-4 and WRN-28-10 has depth 14 and 26 here.

    Raises:
        ValueError: a depth that is not 6 k + 2.
    """
    if depth < 8 or (depth - 2) % 6:
        raise ValueError(f"depth must be 6 k + 2, k >= 1. Got {depth}.")
    return lambda channels, size, classes: _WideResNet(
        channels, classes, (depth - 2) // 6, [width * base for base in (16, 32, 64)]
    )


def small_resnet(channels: int, size: int, classes: int) -> nn.Module:
    """ResNet-8, width 16 to 64: what a laptop can train on CIFAR."""
    return wide_resnet(8, 1)(channels, size, classes)


def densenet121(channels: int, size: int, classes: int) -> nn.Module:
    """DenseNet-121, growth 32, for images of 32x32: a 3x3 stem, no normalisation or pooling after it."""
    from torchvision.models.densenet import DenseNet

    model = DenseNet(growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, num_classes=classes)
    model.features.conv0 = nn.Conv2d(channels, 64, 3, padding=1, bias=False)
    for name in ("norm0", "relu0", "pool0"):
        setattr(model.features, name, nn.Identity())
    return model


def resnet50_tiny_imagenet(channels: int, size: int, classes: int) -> nn.Module:
    """ResNet-50 with its ImageNet stem (7x7, stride 2, pooling), for images of 64x64.

    KK24 section 5.1 and L25 section 5 say ResNet-50 and not which stem.
    """
    from torchvision.models.resnet import resnet50

    model = resnet50(num_classes=classes)
    if channels != 3:
        model.conv1 = nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False)
    return model


IMAGE_MODELS: dict[str, Callable[[int, int, int], nn.Module]] = {
    "small-cnn": small_cnn,
    "airbench-cnn": airbench_cnn,
    "mlp": mlp,
    "resnet8": small_resnet,
    "resnet20": wide_resnet(20, 1),  # He et al. (2016) section 4.2, with projections as shortcuts
    "resnet18": resnet((2, 2, 2, 2), "BasicBlock"),
    "resnet50": resnet((3, 4, 6, 3)),
    "resnet110": resnet((3, 4, 26, 3)),
    "wide-resnet-16-4": wide_resnet(14, 4),  # by its authors' count of layers
    "wide-resnet-26-10": wide_resnet(26, 10),
    "densenet121": densenet121,
    "resnet50-tiny-imagenet": resnet50_tiny_imagenet,
    "small-vit": small_vit,
    "vit": vit,
    "small-mixer": small_mixer,
    "small-convnext": small_convnext,
}
