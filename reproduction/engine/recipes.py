"""Training recipes by name: optimiser, schedule, augmentation. The papers' own, and faster ones that say so."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

PRECISIONS = ("float32", "bf16")
_CHOICES = {
    "optimiser": ("sgd", "adam", "adagrad"),
    "precision": ("auto", *PRECISIONS),
    "last_batch": ("keep", "drop"),
    "keep": ("last", "best"),
    "reduction": ("mean", "sum"),
}


@dataclass(frozen=True)
class Recipe:
    """How to train: everything but the data, the network, the loss and the seed."""

    source: str  # where it comes from
    optimiser: str  # 'sgd', 'adam' or 'adagrad'
    learning_rate: float
    batch_size: int
    epochs: int
    drops: tuple[int, ...] = ()  # epochs after which the rate is divided by 10
    momentum: float = 0.0
    weight_decay: float = 0.0
    augment: bool = False  # random crop after padding by 4, random flip
    # what came later is no part of a run's name while it has its default
    precision: str = field(default="auto", metadata={"later": True})  # 'float32', 'bf16'; 'auto': bf16 on a GPU
    last_batch: str = field(default="keep", metadata={"later": True})  # 'keep' or 'drop' one that is not full
    # share of the steps in which the rate rises to learning_rate, before it falls to 0, both linearly; 0: drops
    one_cycle: float = field(default=0.0, metadata={"later": True})
    nesterov: bool = field(default=False, metadata={"later": True})
    keep: str = field(default="last", metadata={"later": True})  # weights of the 'last' epoch, or 'best' on validation
    reduction: str = field(default="mean", metadata={"later": True})  # of a batch's losses: 'mean' or 'sum'
    clip_norm: float = field(default=0.0, metadata={"later": True})  # longest gradient of all weights; 0: any

    def __post_init__(self) -> None:
        """ValueError where a choice is none of those above, or a number is out of range."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} of a recipe must be {', '.join(choices)}. Got {getattr(self, name)!r}.")
        for name, least in (("learning_rate", 0), ("batch_size", 1), ("epochs", 1)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} of a recipe must be at least {least}. Got {getattr(self, name)!r}.")


_TOLD = Recipe(
    "M20 appendix D, KK24 section 5.1, L25 section 5; weight decay from KK24's text, crops and flips from M20's",
    "sgd",
    learning_rate=0.1,
    batch_size=128,
    epochs=350,
    drops=(150, 250),
    momentum=0.9,
    weight_decay=5e-4,
    augment=True,
)
_ONE_CYCLE = replace(
    _TOLD,
    source="few epochs for a CPU; rates as Smith and Topin (2018), arXiv 1708.07120: not a paper's",
    epochs=16,
    drops=(),
    one_cycle=0.2,
    nesterov=True,
    precision="bf16",
    last_batch="drop",
)
# The code that M20 published (github.com/torrvision/focal_calibration, train_utils.py) sums the losses of a batch, but
# for the Brier score, and clips the gradient at norm 2, as KK24's (slavikkom/focal_temperature_scaling) does; L25 says
# it goes by M20's. Of a batch of 128 that clips any whose mean has a gradient longer than 2/128. No text tells of it.
_AS_IN_CODE: dict[str, Any] = {"reduction": "sum", "clip_norm": 2.0}
_CIFAR = replace(_TOLD, source=f"{_TOLD.source}; summed and clipped as in M20's code", **_AS_IN_CODE)

RECIPES: dict[str, Recipe] = {
    "book-fast": Recipe("the book's own, short: not a paper's", "adam", 1e-3, 100, 100),
    "kk24-cifar": _CIFAR,
    "m20-cifar": _CIFAR,
    "l25-cifar": _CIFAR,
    "kk24-tinyimagenet": replace(
        _CIFAR, source="KK24 section 5.1; crops as on CIFAR", batch_size=64, epochs=100, drops=(40, 60)
    ),
    "l25-tinyimagenet": replace(
        _CIFAR, source="L25 section 5; weight decay from KK24's text, crops as on CIFAR", epochs=100, drops=(40, 60)
    ),
    "m20-newsgroups": Recipe(
        "M20 appendix D; its batch size, which it does not tell, from L25 section 5", "adam", 1e-3, 128, 50, keep="best"
    ),
    "m20-sst": Recipe(
        "M20 appendix D, which does not tell the batch size: 25 as Tai et al. (2015)",
        *("adagrad", 0.05, 25, 25),
        weight_decay=1e-4,
        keep="best",
    ),
    "text-fast": Recipe("the book's own, short: not a paper's", "adam", 1e-3, 50, 8),
    "cifar-fast": replace(
        _TOLD, source="the papers' SGD with a tenth of the epochs: not a paper's", epochs=35, drops=(15, 25)
    ),
    "cifar-cpu": replace(
        _TOLD,
        source="the papers' SGD, short, without augmentation, for two cores: not a paper's",
        batch_size=64,
        epochs=30,
        drops=(13, 21),
        augment=False,
    ),
    "cifar-one-cycle": _ONE_CYCLE,
    "cifar-one-cycle-clipped": replace(
        _ONE_CYCLE, source=f"{_ONE_CYCLE.source}; summed and clipped as in M20's code", **_AS_IN_CODE
    ),
}
