"""Networks that cut a picture into patches first: vision transformers, MLP-Mixer, ConvNeXt; torchvision's where it has
them."""

from __future__ import annotations

from torch import Tensor, nn


def _check_size(name: str, size: int) -> None:
    if size % 4:
        raise ValueError(f"{name} needs a size that is a multiple of 4. Got {size}.")


def _transformer(channels: int, size: int, classes: int, patch: int, **sizes: int) -> nn.Module:
    from torchvision.models.vision_transformer import VisionTransformer

    model = VisionTransformer(image_size=size, patch_size=patch, num_classes=classes, **sizes)
    if channels != 3:
        model.conv_proj = nn.Conv2d(channels, sizes["hidden_dim"], patch, stride=patch)
    nn.init.trunc_normal_(model.heads.head.weight, std=0.02)  # torchvision's zeros would leave gradients of 0 behind it
    return model


def vit(channels: int, size: int, classes: int) -> nn.Module:
    """Vision transformer of the Ti size, patches of 4x4: 12 layers, width 192, 3 heads (KN24 Fig. 2 says 'ViT').

    Raises:
        ValueError: a size that is no multiple of 4.
    """
    _check_size("vit", size)
    return _transformer(channels, size, classes, 4, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768)


def small_vit(channels: int, size: int, classes: int) -> nn.Module:
    """A vision transformer small enough to look at its Hessian: 16 patches, 2 layers, width 32, 4 heads.

    Raises:
        ValueError: a size that is no multiple of 4.
    """
    _check_size("small-vit", size)
    return _transformer(channels, size, classes, size // 4, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64)


class _MixerLayer(nn.Module):
    """Tokens mixed for each channel, then channels for each token; normalised before, added after."""

    def __init__(self, tokens: int, width: int, hidden: tuple[int, int]) -> None:
        from torchvision.ops import MLP

        super().__init__()
        self.before_tokens, self.before_channels = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = MLP(tokens, [hidden[0], tokens], activation_layer=nn.GELU, inplace=None)
        self.channels = MLP(width, [hidden[1], width], activation_layer=nn.GELU, inplace=None)

    def forward(self, x: Tensor) -> Tensor:  # (n, tokens, width)
        x = x + self.tokens(self.before_tokens(x).transpose(1, 2)).transpose(1, 2)
        mixed: Tensor = x + self.channels(self.before_channels(x))
        return mixed


class _Mixer(nn.Module):
    """Patches, layers, mean over the tokens, a linear layer."""

    def __init__(self, channels: int, side: int, patch: int, width: int, layers: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, width, patch, stride=patch)
        hidden = (width // 2, 4 * width)  # as in all sizes of Tolstikhin et al. (2021), Table 1
        self.layers = nn.Sequential(*(_MixerLayer(side**2, width, hidden) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.stem(x).flatten(2).transpose(1, 2)  # (n, tokens, width)
        logits: Tensor = self.head(self.norm(self.layers(tokens)).mean(1))
        return logits


def small_mixer(channels: int, size: int, classes: int) -> nn.Module:
    """An MLP-Mixer (Tolstikhin et al. 2021, arXiv 2105.01601) for small images: patches of 4x4, 4 layers, width 64.

    Weights begin as torch's layers have them, where its authors choose their own.

    Raises:
        ValueError: a size that is no multiple of 4.
    """
    _check_size("small-mixer", size)
    return _Mixer(channels, size // 4, 4, 64, 4, classes)


def small_convnext(channels: int, size: int, classes: int) -> nn.Module:
    """A ConvNeXt (Liu et al. 2022, arXiv 2201.03545) for small images: a stem of 4x4, then two stages of two blocks,
    width 32 and 64. No path is dropped at random. Of 28x28 images the second stage, of stride 2, leaves out the last of
    seven rows and columns.

    Raises:
        ValueError: a size below 8, of which nothing is left for the second stage.
    """
    if size < 8:
        raise ValueError(f"small-convnext needs images of at least 8 x 8. Got {size} x {size}.")
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    model = ConvNeXt([CNBlockConfig(32, 64, 2), CNBlockConfig(64, None, 2)], num_classes=classes)
    if channels != 3:
        model.features[0][0] = nn.Conv2d(channels, 32, 4, stride=4)
        nn.init.trunc_normal_(model.features[0][0].weight, std=0.02)  # as its own
        nn.init.zeros_(model.features[0][0].bias)
    return model
