"""In what a run differs from those of the papers."""

from focal_lib.checkout import ROOT
from focal_lib.training.differences import differences_from_papers
from focal_lib.training.grids import read_grid
from focal_lib.training.spec import Spec


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
