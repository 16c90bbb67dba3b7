"""Networks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

from reproduction.engine.data.dataset import Dataset, Kind
from reproduction.engine.data.vectors import glove
from reproduction.engine.models.images import IMAGE_MODELS
from reproduction.engine.models.text import TOKEN_MODELS, TREE_MODELS

MODELS = (*IMAGE_MODELS, *TOKEN_MODELS, *TREE_MODELS)
_MODELS_FOR: dict[Kind, Mapping[str, Callable[..., nn.Module]]] = {
    "images": IMAGE_MODELS,
    "tokens": TOKEN_MODELS,
    "trees": TREE_MODELS,
}


def check_model(name: str, dataset: str, kind: Kind) -> None:
    """Whether there is such a network for a data set of that name and kind.

    Raises:
        ValueError: an unknown name, or a network for other inputs; the message lists those that fit.
    """
    if name not in _MODELS_FOR[kind]:
        of = "" if kind == "images" else f" for {dataset} ({kind})"
        raise ValueError(f"model{of} must be one of {', '.join(_MODELS_FOR[kind])}. Got {name!r}.")


def build(name: str, channels: int, size: int, classes: int) -> nn.Module:
    """A fresh network of that name, for images (n, channels, size, size).

    Raises:
        ValueError: an unknown name, or no network for images; the message lists the known ones.
    """
    check_model(name, "", "images")
    return IMAGE_MODELS[name](channels, size, classes)


def build_for(name: str, dataset: Dataset) -> nn.Module:
    """A fresh network of that name for the inputs of a data set.

    Raises:
        ValueError: an unknown name, or a network for other inputs; the message lists those that fit.
        FileNotFoundError: '-glove' without the vectors.
    """
    if dataset.kind == "images":
        _, size, _, channels = dataset.train.inputs.shape
        return build(name, channels, size, dataset.classes)
    check_model(name, dataset.name, dataset.kind)
    vectors = glove(dataset.vocabulary) if name.endswith("-glove") else None
    return _MODELS_FOR[dataset.kind][name](len(dataset.vocabulary), dataset.classes, vectors)
