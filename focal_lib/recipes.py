"""Training recipes by name: optimiser, schedule, augmentation. The papers' own, and faster ones that say so."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RECIPES", "Recipe"]


@dataclass(frozen=True)
class Recipe:
    """How to train: everything but the data, the network, the loss and the seed."""

    source: str  # where it comes from
    optimiser: str  # 'sgd' or 'adam'
    learning_rate: float
    batch_size: int
    epochs: int
    drops: tuple[int, ...] = ()  # epochs after which the rate is divided by 10
    momentum: float = 0.0
    weight_decay: float = 0.0
    augment: bool = False  # random crop after padding by 4, random flip


_CIFAR = "SGD of M20 section 3, KK24 section 5.1 and L25 section 5"

RECIPES: dict[str, Recipe] = {
    "book-fast": Recipe("the book's own, short: not a paper's", "adam", 1e-3, 100, 100),
    "kk24-cifar": Recipe(_CIFAR, "sgd", 0.1, 128, 350, (150, 250), 0.9, 5e-4, augment=True),
    "m20-cifar": Recipe(_CIFAR, "sgd", 0.1, 128, 350, (150, 250), 0.9, 5e-4, augment=True),
    "l25-cifar": Recipe(_CIFAR, "sgd", 0.1, 128, 350, (150, 250), 0.9, 5e-4, augment=True),
    "kk24-tinyimagenet": Recipe("KK24 section 5.1", "sgd", 0.1, 64, 100, (40, 60), 0.9, 5e-4, augment=True),
    "m20-newsgroups": Recipe("L25 section 5, after M20", "adam", 1e-3, 128, 50),
    "cifar-fast": Recipe(
        "the papers' SGD with a tenth of the epochs: not a paper's",
        "sgd",
        0.1,
        128,
        35,
        (15, 25),
        0.9,
        5e-4,
        augment=True,
    ),
}
