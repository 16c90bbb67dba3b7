"""Networks by name."""

from __future__ import annotations

from torch import nn

from focal_lib.training.data.dataset import Dataset
from focal_lib.training.data.vectors import glove
from focal_lib.training.models.images import IMAGE_MODELS
from focal_lib.training.models.text import TOKEN_MODELS, TREE_MODELS

__all__ = ["MODELS", "build", "build_for"]

MODELS = (*IMAGE_MODELS, *TOKEN_MODELS, *TREE_MODELS)


def build(name: str, channels: int, size: int, classes: int) -> nn.Module:
    """A fresh network of that name, for images (n, channels, size, size).

    Raises:
        ValueError: an unknown name, or no network for images; the message lists the known ones.
    """
    if name not in IMAGE_MODELS:
        raise ValueError(f"model must be one of {', '.join(IMAGE_MODELS)}. Got {name!r}.")
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
    models = TOKEN_MODELS if dataset.kind == "tokens" else TREE_MODELS
    if name not in models:
        raise ValueError(f"model for {dataset.name} ({dataset.kind}) must be one of {', '.join(models)}. Got {name!r}.")
    vectors = glove(dataset.vocabulary) if name.endswith("-glove") else None
    return models[name](len(dataset.vocabulary), dataset.classes, vectors)
