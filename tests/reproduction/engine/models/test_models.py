"""Networks: shapes, and parameter counts from the layer tables of the papers."""

import pytest
import torch

from reproduction.engine import models
from reproduction.engine.models.images import IMAGE_MODELS, wide_resnet


def count(model):
    return sum(p.numel() for p in model.parameters())


def conv(before, after, kernel):
    """A convolution without bias and its batch normalisation."""
    return before * after * kernel**2 + 2 * after


def bottleneck_resnet(layers, channels, classes):
    """He et al. (2016): 1x1, 3x3, 1x1 with expansion 4; a projection where a stage starts."""
    total, before = conv(channels, 64, 3), 64
    for width, blocks in zip((64, 128, 256, 512), layers, strict=True):
        for block in range(blocks):
            total += conv(before, width, 1) + conv(width, width, 3) + conv(width, 4 * width, 1)
            total += conv(before, 4 * width, 1) if block == 0 else 0
            before = 4 * width
    return total + before * classes + classes


def basic_resnet(stem, widths, blocks, channels, classes):
    """He et al. (2016): two 3x3 convolutions a block; a projection where the width changes."""
    total, before = conv(channels, stem, 3), stem
    for width in widths:
        for _ in range(blocks):
            total += conv(before, width, 3) + conv(width, width, 3) + (conv(before, width, 1) if before != width else 0)
            before = width
    return total + before * classes + classes


def wide(depth, factor, channels, classes):
    return basic_resnet(16, (16 * factor, 32 * factor, 64 * factor), (depth - 2) // 6, channels, classes)


RESNET18 = basic_resnet(64, (64, 128, 256, 512), 2, 3, 10)


def airbench(channels, classes):
    """A stem of 2x2 with biases; in each group two convolutions."""
    total, before = channels * 24 * 4 + 24, 24
    for width in (64, 192, 256):
        total += conv(before, width, 3) + conv(width, width, 3)
        before = width
    return total + before * classes + classes


def mixer(channels, classes, tokens, width=64, layers=4):
    """Tolstikhin et al. (2021) section 2: two pairs of linear layers and two normalisations a layer."""
    hidden = width // 2, 4 * width
    mixing = 2 * tokens * hidden[0] + hidden[0] + tokens + 2 * width * hidden[1] + hidden[1] + width
    return channels * 16 * width + width + layers * (mixing + 4 * width) + 2 * width + width * classes + classes


def convnext(channels, classes):
    """Liu et al. (2022) Fig. 4: a depthwise 7x7, two linear layers with expansion 4, a scale for each channel."""
    block = lambda width: 50 * width + 2 * width + 8 * width**2 + 5 * width + width  # noqa: E731
    stages = 2 * block(32) + 64 + (4 * 32 * 64 + 64) + 2 * block(64)
    return channels * 16 * 32 + 32 + 64 + stages + 128 + 64 * classes + classes


def dense(channels, classes, growth=32):
    """Huang et al. (2017): normalisation before each convolution; transitions halve the channels."""
    total, width = channels * 64 * 9, 64
    for stage, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            total += 2 * width + width * 4 * growth + 2 * 4 * growth + 4 * growth * growth * 9
            width += growth
        if stage < 3:
            total += 2 * width + width * (width // 2)
            width //= 2
    return total + 2 * width + width * classes + classes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resnet50", bottleneck_resnet((3, 4, 6, 3), 3, 10)),
        ("resnet110", bottleneck_resnet((3, 4, 26, 3), 3, 10)),
        ("resnet18", RESNET18),
        ("wide-resnet-16-4", wide(14, 4, 3, 10)),
        ("wide-resnet-26-10", wide(26, 10, 3, 10)),
        ("densenet121", dense(3, 10)),
        ("resnet8", wide(8, 1, 3, 10)),
        ("resnet20", wide(20, 1, 3, 10)),
        ("airbench-cnn", airbench(3, 10)),
        ("mlp", 3072 * 100 + 100 + 100 * 10 + 10),
        ("vit", 192 * (3 * 16 + 1 + 1 + 65) + 12 * (12 * 192**2 + 13 * 192) + 2 * 192 + 193 * 10),
        ("small-vit", 32 * (3 * 64 + 1 + 1 + 17) + 2 * (8 * 32**2 + 11 * 32) + 2 * 32 + 33 * 10),
        ("small-mixer", mixer(3, 10, 64)),
        ("small-convnext", convnext(3, 10)),
    ],
)
def test_parameter_counts(name, expected):
    with torch.device("meta"):
        model = models.build(name, 3, 32, 10)
    assert count(model) == expected


def test_published_counts():
    """The usual figures for CIFAR-10: 23.52, 11.17, 6.96, 36.5 and 2.75 million, the last two as WRN-28-10 and 16-4."""
    assert RESNET18 == 11_173_962
    assert wide(14, 4, 3, 10) == pytest.approx(2.75e6, rel=2e-3)
    assert bottleneck_resnet((3, 4, 6, 3), 3, 10) == 23_520_842
    assert dense(3, 10) == 6_956_298
    with torch.device("meta"):  # torchvision documents 25,557,032 for 1,000 classes
        assert count(models.build("resnet50-tiny-imagenet", 3, 64, 200)) == 25_557_032 - 800 * 2049
    assert wide(26, 10, 3, 10) == pytest.approx(36.5e6, rel=2e-3)
    assert wide(20, 1, 3, 10) == pytest.approx(0.27e6, rel=0.01)


@pytest.mark.parametrize("name", sorted(IMAGE_MODELS.keys() - {"resnet20", "resnet110", "wide-resnet-26-10"}))
@pytest.mark.parametrize(("channels", "size", "classes"), [(3, 32, 100), (1, 28, 10)])
def test_logits_have_the_right_shape(name, channels, size, classes):
    torch.manual_seed(0)
    model = models.build(name, channels, size, classes).eval()
    assert model(torch.randn(2, channels, size, size)).shape == (2, classes)


def test_sides_that_are_no_multiple_of_four():
    assert models.build("small-cnn", 1, 30, 7)(torch.zeros(2, 1, 30, 30)).shape == (2, 7)


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("resnet51", 32, "model must be one of small-cnn, .*resnet50.*Got 'resnet51'"),
        ("airbench-cnn", 8, "at least 9 x 9. Got 8 x 8"),
        ("vit", 30, "vit needs .* multiple of 4. Got 30"),
        ("small-vit", 30, "small-vit needs .* multiple of 4. Got 30"),
        ("small-mixer", 30, "small-mixer needs .* multiple of 4. Got 30"),
        ("small-convnext", 7, "small-convnext needs .* 8 x 8. Got 7 x 7"),
    ],
)
def test_unknown_names_and_sizes(name, size, message):
    with pytest.raises(ValueError, match=message):
        models.build(name, 3, size, 10)


def test_unknown_depths():
    with pytest.raises(ValueError, match="depth must be"):
        wide_resnet(27, 1)


def test_a_layer_of_the_mixer_is_the_papers_two_equations():
    """Tolstikhin et al. (2021) Eq. (1): U = X + W2 s(W1 LN(X)) over tokens, Y = U + W4 s(W3 LN(U)) over channels."""
    torch.manual_seed(0)
    layer = models.build("small-mixer", 1, 12, 5).layers[0]  # 9 tokens, 64 channels
    x = torch.randn(3, 9, 64)

    def mixed(mlp, of):
        first, second = (part for part in mlp if isinstance(part, torch.nn.Linear))
        hidden = torch.nn.functional.gelu(torch.einsum("...i,hi->...h", of, first.weight) + first.bias)
        return torch.einsum("...h,oh->...o", hidden, second.weight) + second.bias

    def normalised(x, norm):
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias

    u = x + mixed(layer.tokens, normalised(x, layer.before_tokens).mT).mT
    y = u + mixed(layer.channels, normalised(u, layer.before_channels))
    torch.testing.assert_close(layer(x), y, rtol=1e-5, atol=1e-5)
