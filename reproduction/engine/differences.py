"""In what a run differs from those of the papers, so far as its specification tells."""

from __future__ import annotations

from focal_lib.loss_records import LOSS_RECORDS
from reproduction.engine.papers import FCL_OF_L25
from reproduction.engine.recipes import RECIPES
from reproduction.engine.spec import Spec

# data set -> training and validation samples, where a paper tells: M20 appendix C, KK24 section 5.1
_SAMPLES = {
    "cifar10": (45_000, 5_000),
    "cifar100": (45_000, 5_000),
    "tiny-imagenet": (90_000, 10_000),
    "20-newsgroups-m20": (15_098, 900),
    "sst": (6_920, 872),
}
_ALSO = ("ag-news", "finsen")  # L25, which does not tell how many
_NETWORKS = (
    *("resnet50", "resnet110", "wide-resnet-26-10", "densenet121", "resnet50-tiny-imagenet"),  # M20, L25, KK24
    *("gp-cnn-glove", "tree-lstm-glove"),  # M20, L25
    *("vit", "mlp"),  # KN24
)
_CIFAR = ("kk24-cifar", "m20-cifar", "l25-cifar")
_RECIPES = {  # data set -> those a paper has for it
    "cifar10": _CIFAR,
    "cifar100": _CIFAR,
    "tiny-imagenet": ("kk24-tinyimagenet", "l25-tinyimagenet"),
    **dict.fromkeys(("20-newsgroups-m20", *_ALSO), ("m20-newsgroups",)),
    "sst": ("m20-sst",),
}
_NOBODYS = {
    "mmce": "MMCE as in Kumar et al. (2018): M20's published code divides once more, as mmce-m20 does",
    "proper-focal": "proper-focal, with which KK24 trains no network",
}
_TEXTS = ("20-newsgroups-m20", *_ALSO, "sst")


def differences_from_papers(spec: Spec) -> tuple[str, ...]:
    """A line for each of: data set, numbers of samples, network, recipe, what overrides it, gamma and lambda.

    A network, a loss and a data set count by themselves, though no paper may have just these together.
    """
    recipe, found = RECIPES[spec.recipe], []
    if spec.dataset not in (*_SAMPLES, *_ALSO):
        found.append(f"data set {spec.dataset}, which is none of theirs")
    for name, own, theirs in zip(
        ("training", "validation"), (spec.n_train, spec.n_validation), _SAMPLES.get(spec.dataset, ()), strict=False
    ):
        if own != theirs:
            found.append(f"{own:,} {name} samples, where they have {theirs:,}")
    if spec.model not in _NETWORKS:
        found.append(f"network {spec.model}, which is none of theirs")
    if "not a paper's" in recipe.source:
        found.append(f"recipe {spec.recipe}: {recipe.source}")
    elif spec.recipe not in _RECIPES.get(spec.dataset, (spec.recipe,)):
        found.append(f"recipe {spec.recipe}, where they have {' or '.join(_RECIPES[spec.dataset])} for {spec.dataset}")
    for name in ("epochs", "batch_size", "learning_rate"):
        if own := getattr(spec, name):
            found.append(f"{name} {own:g}, where the recipe has {getattr(recipe, name):g}")
    if spec.precision != "recipe":
        found.append(f"precision {spec.precision}, where the recipe has {recipe.precision}")
    found += _of_loss(spec)
    return tuple(found)


def _of_loss(spec: Spec) -> list[str]:
    if spec.loss in _NOBODYS:
        return [_NOBODYS[spec.loss]]
    if spec.loss in ("fcl", "fcl-l1"):
        theirs = FCL_OF_L25.get((spec.dataset, spec.model))
        if theirs is None:
            return [f"FCL of this network and data set, for which L25 A.10 has no gamma and lambda: {spec.label}"]
        if theirs != (spec.gamma, spec.lam):
            return [f"{spec.label}, where L25 A.10 has gamma {theirs[0]:g}, lambda {theirs[1]:g}"]
    record = LOSS_RECORDS[spec.loss]
    if values := record.texts if spec.dataset in _TEXTS else record.images:
        (name,) = record.parameters
        if getattr(spec, name) not in values:
            return [f"{spec.label}, where they have {name} {', '.join(f'{value:g}' for value in values)}"]
    return []
