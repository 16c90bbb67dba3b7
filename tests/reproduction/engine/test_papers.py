"""In what a run differs from those of the papers."""

import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.papers import differences_from_papers
from reproduction.engine.spec import Spec


def test_runs_as_the_papers_have_them_differ_in_nothing():
    for name in ("kk24-table1", "kk24-tinyimagenet", "m20-tables", "m20-figures", "m20-text", "l25-tables", "l25-text"):
        for spec in read_grid(ROOT / "workflow" / "grids" / f"{name}.yaml"):
            assert differences_from_papers(spec) == ()


def test_every_difference_is_named():
    own = Spec(n_train=500, epochs=20, batch_size=64, learning_rate=0.5)
    assert differences_from_papers(own) == (
        "data set fashion-mnist, which is none of theirs",
        "network small-cnn, which is none of theirs",
        "recipe book-fast: the book's own, short: not a paper's",
        "epochs 20, where the recipe has 100",
        "batch_size 64, where the recipe has 100",
        "learning_rate 0.5, where the recipe has 0.001",
    )
    assert differences_from_papers(Spec(precision="bf16"))[-1] == "precision bf16, where the recipe has auto"
    papers = {"dataset": "cifar10", "model": "densenet121", "recipe": "l25-cifar", "n_train": 4000}
    found = differences_from_papers(Spec(**papers, loss="fcl", gamma=3, lam=0.5))
    assert found == (
        "4,000 training samples, where they have 45,000",
        "fcl 3 0.5, where L25 A.10 has gamma 2, lambda 0.5",
    )
    found = differences_from_papers(Spec(**papers | {"model": "vit"}, loss="fcl", gamma=3, lam=0.5))
    assert found[-1].startswith("FCL of this network and data set, for which L25 A.10 has no gamma")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"loss": "mmce", "lam": 2}, "MMCE as in Kumar et al. (2018): M20's published code divides once more"),
        ({"loss": "mmce-m20", "lam": 50}, "mmce-m20 50, where they have lam 2"),
        ({"loss": "label-smoothing", "lam": 0.5}, "label-smoothing 0.5, where they have lam 0.05"),
        ({"loss": "dual-focal", "gamma": 30}, "dual-focal 30, where they have gamma 5"),
        ({"loss": "fcl-l1", "gamma": 1, "lam": 9}, "fcl-l1 1 9, where L25 A.10 has gamma 4, lambda 1.5"),
        ({"gamma": 20}, "focal 20, where they have gamma 0, 1, 2, 3, 5, 7"),
        ({"loss": "proper-focal", "gamma": 2}, "proper-focal, with which KK24 trains no network"),
        ({"n_validation": 10}, "10 validation samples, where they have 5,000"),
        (
            {"recipe": "kk24-tinyimagenet"},
            "recipe kk24-tinyimagenet, where they have kk24-cifar or m20-cifar or l25-cifar",
        ),
        ({"recipe": "m20-newsgroups"}, "recipe m20-newsgroups, where they have kk24-cifar"),
    ],
)
def test_what_no_paper_has_for_resnet50_on_cifar10(changes, line):
    papers = {"dataset": "cifar10", "model": "resnet50", "recipe": "m20-cifar", "n_train": 45_000, "gamma": 0}
    papers |= {"n_validation": 5000}
    assert differences_from_papers(Spec(**papers)) == ()
    if "loss" in changes:
        del papers["gamma"]
    [found] = differences_from_papers(Spec(**papers | changes))
    assert found.startswith(line)


def test_texts_have_parameters_of_their_own():
    texts = {"dataset": "sst", "model": "tree-lstm-glove", "recipe": "m20-sst", "n_train": 6920, "n_validation": 872}
    assert differences_from_papers(Spec(**texts, loss="mmce-m20", lam=8)) == ()
    assert differences_from_papers(Spec(**texts, loss="mmce-m20", lam=2)) == ("mmce-m20 2, where they have lam 8",)
