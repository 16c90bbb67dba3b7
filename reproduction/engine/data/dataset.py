"""What a data set is: inputs with labels, split for training, validation and test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from focal_lib.validation import check_labels

Kind = Literal["images", "tokens", "trees"]


@dataclass(frozen=True)
class Split:
    """Inputs with labels int64 (n,).

    inputs: images uint8 (n, H, W, C); or tokens int32 (n, L), 0 after the end; or trees int32 (n, M, 4), a node
    a row: left child, right child, token, height, each child -1 in a leaf, the root first, -1 after the end.
    posterior: where several people labelled each item, the shares of their labels, (n, K).
    """

    inputs: np.ndarray
    labels: np.ndarray
    posterior: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> Split:
        posterior = None if self.posterior is None else self.posterior[index]
        return Split(self.inputs[index], self.labels[index], posterior)


@dataclass(frozen=True)
class Dataset:
    """A data set with its published splits; `vocabulary` maps a token to its word ('' is padding, then unknown)."""

    name: str
    classes: int
    train: Split
    test: Split
    validation: Split | None = None
    kind: Kind = "images"
    vocabulary: tuple[str, ...] = field(default=(), repr=False)


def split(data: Dataset, n_train: int, n_validation: int, seed: int) -> tuple[Split, Split, Split]:
    """Random train subset and validation set from the published training split, and the test set.

    The validation set does not depend on n_train. A published validation split is used instead of a part of the
    training split; n_validation of it are drawn.

    Raises:
        ValueError: more items asked for than there are.
    """
    own = data.validation is None
    if n_train < 1 or n_validation < 1 or n_train + (n_validation if own else 0) > len(data.train):
        asked, got = ("n_train + n_validation", f"{n_train} + {n_validation}") if own else ("n_train", f"{n_train}")
        raise ValueError(f"{asked} must be at most {len(data.train)}, each at least 1. Got {got}.")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.train))
    if data.validation is None:
        validation, order = data.train.take(order[:n_validation]), order[n_validation:]
    else:
        if n_validation > len(data.validation):
            raise ValueError(f"n_validation must be at most {len(data.validation)}. Got {n_validation}.")
        validation = data.validation.take(rng.permutation(len(data.validation))[:n_validation])
    return data.train.take(order[:n_train]), validation, data.test


def check_images(name: str, part: Split, classes: int) -> Split:
    """The same with images (n, H, W, C) and labels int64.

    Raises:
        ValueError: images of another type or shape, labels outside 0 ... classes - 1.
    """
    images = part.inputs[..., None] if part.inputs.ndim == 3 else part.inputs
    cure = ""
    if images.dtype.kind == "f":
        cure = " Of values in [0, 1]: (255 * images).round().astype(np.uint8)."
    elif images.ndim == 4 and images.shape[3] > 4 >= images.shape[1]:
        cure = " Channels first, it seems: images.transpose(0, 2, 3, 1)."
    if images.dtype != np.uint8 or images.ndim != 4 or cure:
        raise ValueError(
            f"{name} images must be uint8 of shape (n, H, W) or (n, H, W, C). "
            f"Got {part.inputs.dtype} {part.inputs.shape}.{cure}"
        )
    check_labels(part.labels, len(images), classes, name=f"{name} labels")
    return Split(images, part.labels.astype(np.int64))
