"""The sizes that statements name are those of the recorded runs."""

import re

import pytest

from reproduction.checkout import ROOT
from reproduction.engine.data.corruptions import CORRUPTION_KINDS
from reproduction.engine.grids import read_grid
from reproduction.engine.recipes import RECIPES
from reproduction.ledger import ledger
from reproduction.pages.tables import in_words
from reproduction.studies.ood.plan import corruptions_asked
from reproduction.studies.shared.recorded import read_planned, read_shift, read_table

SHOWN, CURVATURE = "results/unknown-inputs", "results/landscape"  # tables alone
NAMED = [c for c in ledger() if c.needs not in (None, SHOWN) and "training images" in c.statement]


@pytest.mark.parametrize("claim", NAMED, ids=lambda claim: claim.id)
def test_a_statement_names_the_size_of_its_runs(claim):
    specs = read_planned(claim.needs.removeprefix("results/"))
    assert {f"{spec.n_train:,} training images" in claim.statement for spec in specs} == {True}
    models = {in_words(spec.model) for spec in specs}
    assert len(models) > 1 or models.pop() in claim.statement
    (epochs,) = re.findall(r"(\d+) epochs", claim.statement)
    assert {spec.epochs or RECIPES[spec.recipe].epochs for spec in specs} == {int(epochs)}
    if "lambda" in claim.statement:
        (named,) = re.findall(r"\\gamma = ([\d.]+)\$, \$\\lambda = ([\d.]+)\$", claim.statement)
        assert {(spec.gamma, spec.lam) for spec in specs if spec.loss == "fcl"} == {tuple(map(float, named))}


@pytest.mark.parametrize("claim", [c for c in ledger() if c.needs == SHOWN], ids=lambda claim: claim.id)
def test_a_statement_names_the_size_of_the_networks_that_were_shown_something(claim):
    of_cifar = "ResNet-8" in claim.statement
    assert of_cifar == ("cifar" in claim.id)
    for grid in ("cifar10-unknown",) if of_cifar else ("fashion-mnist", "fashion-mnist-unknown", "fashion-mnist-fresh"):
        for spec in read_grid(ROOT / "workflow" / "grids" / f"{grid}.yaml"):
            assert f"{spec.n_train:,} training images" in claim.statement
            assert f"{spec.epochs or RECIPES[spec.recipe].epochs} epochs" in claim.statement
            assert (spec.dataset, spec.model) == (
                ("cifar10", "resnet8") if of_cifar else ("fashion-mnist", "small-cnn")
            )


def test_a_statement_names_the_corruptions_of_its_record():
    named = [claim for claim in ledger() if "corruptions of CIFAR-10-C" in claim.statement]
    assert len(named) == 3
    under, main = read_shift("cifar10-unknown"), {name for kind in CORRUPTION_KINDS.values() for name in kind}
    (images,), shown = set(under["images"]), set(corruptions_asked(under)["corruption"])
    assert shown <= main
    wanted = f"the first {images:,} test images under {len(shown)} of the {len(main)} corruptions of CIFAR-10-C"
    assert {wanted in claim.statement for claim in named} == {True}


@pytest.mark.parametrize("claim", [c for c in ledger() if c.needs == CURVATURE], ids=lambda claim: claim.id)
def test_a_statement_names_the_size_of_the_networks_whose_curvature_was_measured(claim):
    for spec in read_grid(ROOT / "workflow" / "grids" / "landscape.yaml"):
        assert f"networks trained on {spec.n_train:,} images for 100 epochs" in claim.statement
        of_transformer = "small ViT" in claim.statement and spec.model == "small-vit"
        assert spec.epochs == 100 or not of_transformer or f"of the transformer {spec.epochs}" in claim.statement
    (images,) = set(read_table("landscape")["images"])
    assert "Hessian" not in claim.statement or f"the Hessian on {images} " in claim.statement


def test_there_are_such_statements():
    assert {claim.paper for claim in NAMED} >= {"m20", "kn24", "l25"}
