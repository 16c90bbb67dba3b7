"""What the papers train with, and in what a run differs from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focal_lib.loss_records import LOSS_RECORDS
from reproduction.engine.plugins import find_recipe, is_own

if TYPE_CHECKING:
    from reproduction.engine.spec import Spec

# (data set, network) -> gamma, lambda of FCL: L25 A.10. Its column heads are lost; we read gamma first, as section
# 5.5.2 finds 0.5 the best lambda, which stands in the second column only.
FCL_OF_L25: dict[tuple[str, str], tuple[float, float]] = {
    ("cifar100", "resnet50"): (2.0, 0.5),
    ("cifar100", "resnet110"): (4.0, 1.5),
    ("cifar100", "wide-resnet-26-10"): (3.0, 0.5),
    ("cifar100", "densenet121"): (3.0, 0.5),
    ("cifar10", "resnet50"): (4.0, 1.5),
    ("cifar10", "resnet110"): (4.0, 1.5),
    ("cifar10", "wide-resnet-26-10"): (2.0, 0.5),
    ("cifar10", "densenet121"): (2.0, 0.5),
    ("tiny-imagenet", "resnet50-tiny-imagenet"): (3.0, 0.5),
    ("20-newsgroups-m20", "gp-cnn-glove"): (5.0, 4.5),
    ("ag-news", "gp-cnn-glove"): (4.0, 3.0),
    ("finsen", "gp-cnn-glove"): (4.0, 4.0),
}
_NETWORKS = (
    *("resnet50", "resnet110", "wide-resnet-26-10", "densenet121", "resnet50-tiny-imagenet"),  # M20, L25, KK24
    *("gp-cnn-glove", "tree-lstm-glove"),  # M20, L25
    *("vit", "mlp"),  # KN24
)
_CIFAR = ("kk24-cifar", "m20-cifar", "l25-cifar")
# data set -> their recipes, and their training and validation samples where they tell: M20 appendix C, KK24 section 5.1
_DATASETS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "cifar10": (_CIFAR, (45_000, 5_000)),
    "cifar100": (_CIFAR, (45_000, 5_000)),
    "tiny-imagenet": (("kk24-tinyimagenet", "l25-tinyimagenet"), (90_000, 10_000)),
    "20-newsgroups-m20": (("m20-newsgroups",), (15_098, 900)),
    "ag-news": (("m20-newsgroups",), ()),
    "finsen": (("m20-newsgroups",), ()),
    "sst": (("m20-sst",), (6_920, 872)),
}
_TEXTS = ("20-newsgroups-m20", "ag-news", "finsen", "sst")
_NOBODYS = {
    "mmce": "MMCE as in Kumar et al. (2018): M20's published code divides once more, as mmce-m20 does",
    "proper-focal": "proper-focal, with which KK24 trains no network",
}


def advise(loss: str, dataset: str, model: str) -> str:
    """What the papers have for a parameter of the loss, for that network on that data set where they say so."""
    if loss not in ("fcl", "fcl-l1"):
        return LOSS_RECORDS[loss].papers if loss in LOSS_RECORDS else ""
    what = "" if loss == "fcl" else ", for fcl,"
    if (dataset, model) in FCL_OF_L25:
        gamma, lam = FCL_OF_L25[dataset, model]
        return f"L25 A.10 has{what} gamma {gamma:g}, lam {lam:g} for {model} on {dataset}"
    return f"L25 A.10 has{what} gamma 4, lam 1.5 for resnet50 on cifar10, gamma 2, lam 0.5 on cifar100, not {model}"


def differences_from_papers(spec: Spec) -> tuple[str, ...]:
    """A line for each of: data set, numbers of samples, network, recipe, what overrides it, gamma and lambda.

    A network, a loss and a data set count by themselves, though no paper may have just these together.
    """
    recipe, found = find_recipe(spec.recipe, spec.recipe_code), []
    recipes, samples = _DATASETS.get(spec.dataset, ((spec.recipe,), ()))
    if spec.dataset not in _DATASETS:
        found.append(f"data set {spec.dataset}, which is none of theirs")
    for name, own, theirs in zip(("training", "validation"), (spec.n_train, spec.n_validation), samples, strict=False):
        if own != theirs:
            found.append(f"{own:,} {name} samples, where they have {theirs:,}")
    if spec.model not in _NETWORKS:
        found.append(f"network {spec.model}, which is none of theirs")
    if "not a paper's" in recipe.source or is_own(spec.recipe):
        found.append(f"recipe {spec.recipe}: {recipe.source}")
    elif spec.recipe not in recipes:
        found.append(f"recipe {spec.recipe}, where they have {' or '.join(recipes)} for {spec.dataset}")
    for name in ("epochs", "batch_size", "learning_rate"):
        if own := getattr(spec, name):
            found.append(f"{name} {own:g}, where the recipe has {getattr(recipe, name):g}")
    if spec.precision != "recipe":
        found.append(f"precision {spec.precision}, where the recipe has {recipe.precision}")
    return (*found, *_differences_of_loss(spec))


def has_their_data(spec: Spec) -> bool:
    """Whether it trains on a data set of theirs, with as many training and validation samples as they tell of."""
    _, samples = _DATASETS.get(spec.dataset, ((), ()))
    return bool(samples) and (spec.n_train, spec.n_validation) == samples


def _differences_of_loss(spec: Spec) -> list[str]:
    if spec.loss in _NOBODYS:
        return [_NOBODYS[spec.loss]]
    if is_own(spec.loss):
        return [f"loss {spec.label}, which is none of theirs"]
    if spec.loss in ("fcl", "fcl-l1"):
        theirs = FCL_OF_L25.get((spec.dataset, spec.model))
        if theirs is None:
            return [f"FCL of this network and data set, for which L25 A.10 has no gamma and lambda: {spec.label}"]
        if theirs != (spec.gamma, spec.lam):
            return [f"{spec.label}, where L25 A.10 has gamma {theirs[0]:g}, lambda {theirs[1]:g}"]
    record = spec.loss_record
    if values := record.texts if spec.dataset in _TEXTS else record.images:
        (name,) = record.parameters
        if getattr(spec, name) not in values:
            return [f"{spec.label}, where they have {name} {', '.join(f'{value:g}' for value in values)}"]
    return []
