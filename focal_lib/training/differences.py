"""In what a run differs from those of the papers, so far as its specification tells."""

from __future__ import annotations

from focal_lib.training.papers import FCL_OF_L25
from focal_lib.training.recipes import RECIPES
from focal_lib.training.spec import Spec

__all__ = ["differences_from_papers"]

# data set -> training samples, where a paper tells: M20 appendix C, KK24 section 5.1
_SAMPLES = {"cifar10": 45_000, "cifar100": 45_000, "tiny-imagenet": 90_000, "20-newsgroups-m20": 15_098, "sst": 6_920}
_ALSO = ("ag-news", "finsen")  # L25, which does not tell how many
_NETWORKS = (
    *("resnet50", "resnet110", "wide-resnet-26-10", "densenet121", "resnet50-tiny-imagenet"),  # M20, L25, KK24
    *("gp-cnn-glove", "tree-lstm-glove"),  # M20, L25
    *("vit", "mlp"),  # KN24
)


def differences_from_papers(spec: Spec) -> tuple[str, ...]:
    """A line for each of: data set, number of samples, network, recipe, what overrides it, FCL's gamma and lambda."""
    recipe, found = RECIPES[spec.recipe], []
    if spec.dataset not in (*_SAMPLES, *_ALSO):
        found.append(f"data set {spec.dataset}, which is none of theirs")
    elif spec.n_train != _SAMPLES.get(spec.dataset, spec.n_train):
        found.append(f"{spec.n_train:,} training samples, where they have {_SAMPLES[spec.dataset]:,}")
    if spec.model not in _NETWORKS:
        found.append(f"network {spec.model}, which is none of theirs")
    if "not a paper's" in recipe.source:
        found.append(f"recipe {spec.recipe}: {recipe.source}")
    for name in ("epochs", "batch_size", "learning_rate"):
        if own := getattr(spec, name):
            found.append(f"{name} {own:g}, where the recipe has {getattr(recipe, name):g}")
    if spec.precision != "recipe":
        found.append(f"precision {spec.precision}, where the recipe has {recipe.precision}")
    if spec.loss == "fcl":
        theirs = FCL_OF_L25.get((spec.dataset, spec.model))
        if theirs is None:
            found.append(f"FCL of this network and data set, for which L25 A.10 has no gamma and lambda: {spec.label}")
        elif theirs != (spec.gamma, spec.lam):
            found.append(f"{spec.label}, where L25 A.10 has gamma {theirs[0]:g}, lambda {theirs[1]:g}")
    return tuple(found)
