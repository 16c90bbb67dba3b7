"""Networks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

from reproduction.engine.data.dataset import Dataset, Kind
from reproduction.engine.data.vectors import glove
from reproduction.engine.models.images import IMAGE_MODELS
from reproduction.engine.models.text import TOKEN_MODELS, TREE_MODELS
from reproduction.engine.own import make_network, network_arguments
from reproduction.engine.plugins import is_own

MODELS = (*IMAGE_MODELS, *TOKEN_MODELS, *TREE_MODELS)
_MODELS_FOR: dict[Kind, Mapping[str, Callable[..., nn.Module]]] = {
    "images": IMAGE_MODELS,
    "tokens": TOKEN_MODELS,
    "trees": TREE_MODELS,
}
# what a network of your own can be told, by the names of its arguments: of images, of texts
_TOLD_IMAGES = ("channels", "size", "height", "width", "classes")  # size: the side, where images are square
_TOLD_TEXTS = ("words", "classes")


def check_model(name: str, dataset: str, kind: Kind, code: str = "") -> None:
    """Whether there is such a network for a data set of that name and kind.

    Args:
        code: digest of the source of a network of your own.

    Raises:
        ValueError: an unknown name, or a network for other inputs; the message lists those that fit.
    """
    if is_own(name):
        network_arguments(name, code, _TOLD_IMAGES if kind == "images" else _TOLD_TEXTS)
    elif name not in _MODELS_FOR[kind]:
        of = "" if kind == "images" else f" for {dataset} ({kind})"
        raise ValueError(
            f"model{of} must be one of {', '.join(_MODELS_FOR[kind])}, or module:Name of your own. Got {name!r}."
        )


def build(name: str, channels: int, size: int, classes: int) -> nn.Module:
    """A fresh network of that name, for images (n, channels, size, size).

    Raises:
        ValueError: an unknown name, or no network for images; the message lists the known ones.
    """
    check_model(name, "", "images")
    return IMAGE_MODELS[name](channels, size, classes)


def build_for(name: str, dataset: Dataset, code: str = "") -> nn.Module:
    """A fresh network of that name for the inputs of a data set.

    Args:
        code: digest of the source of a network of your own.

    Raises:
        ValueError: an unknown name, or a network for other inputs; the message lists those that fit.
        FileNotFoundError: '-glove' without the vectors.
    """
    if is_own(name):
        return make_network(name, code, _told(dataset))
    if dataset.kind == "images":
        _, size, _, channels = dataset.train.inputs.shape
        return build(name, channels, size, dataset.classes)
    check_model(name, dataset.name, dataset.kind)
    vectors = glove(dataset.vocabulary) if name.endswith("-glove") else None
    return _MODELS_FOR[dataset.kind][name](len(dataset.vocabulary), dataset.classes, vectors)


def _told(dataset: Dataset) -> dict[str, int]:
    """What a network of your own can be told of a data set."""
    if dataset.kind != "images":
        return dict(zip(_TOLD_TEXTS, (len(dataset.vocabulary), dataset.classes), strict=True))
    _, height, width, channels = dataset.train.inputs.shape
    told = dict(zip(_TOLD_IMAGES, (channels, height, height, width, dataset.classes), strict=True))
    return told if height == width else {name: value for name, value in told.items() if name != "size"}
