"""M20 Figs. 1 to 3 on made runs: a claim is reproduced where they do as it says, not where they do the opposite."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from reproduction.engine.spec import Spec
from reproduction.ledger import Verdict, find
from reproduction.studies.cifar import claims_focal_training as focal_training
from reproduction.studies.epochs import claims_overfitting as overfitting
from reproduction.studies.epochs import claims_regularisation as regularisation

AS_PRINTED = {  # from the first evaluated epoch to the last, with cross-entropy
    "nll": (0.5, 1.3),
    "nll_right": (0.2, 0.02),
    "nll_wrong": (2.0, 7.0),
    "entropy_right": (0.4, 0.05),
    "entropy_wrong": (1.0, 0.3),
    "adaptive_ece": (0.01, 0.14),
    "confidence": (0.9, 0.999),
    "error": (0.0, 0.0),
}


@dataclass(frozen=True)
class Run:
    """As much of a run as these claims read."""

    spec: Spec
    history: pd.DataFrame
    test: SimpleNamespace
    train: SimpleNamespace


def made(gamma=0.0, changes=AS_PRINTED, right=5.0, wrong=5.0, train=9.0):
    """Four runs: logits of the top class on right, wrong and training samples, the others of three classes being 0."""
    runs = []
    for seed in range(4):
        wobble = 1 + 0.001 * seed
        rows = {name: np.array(values) * (1 if name == "error" else wobble) for name, values in changes.items()}
        history = pd.concat([pd.DataFrame(rows | {"epoch": [44, 100], "split": s}) for s in ("train", "test")])
        top = np.array([right, right, wrong, wrong]) * wobble
        test = SimpleNamespace(logits=np.outer(top, [1.0, 0.0, 0.0]), labels=np.array([0, 0, 1, 2]))
        trained = SimpleNamespace(logits=np.outer([train * wobble] * 4, [1.0, 0.0, 0.0]), labels=np.zeros(4, int))
        spec = Spec(gamma=gamma, seed=seed, recipe="m20-cifar", epochs=100)  # the rate drops after 43
        runs.append(Run(spec, history, test, trained))
    return runs


FIGURES_1_AND_2 = [
    (find("m20.fig1_test_nll").check, {"nll": (1.3, 0.5)}),
    (find("m20.fig1_test_nll").check, {"nll_wrong": (7.0, 2.0)}),
    (find("m20.fig1_test_nll").check, {"nll_right": (0.02, 0.2)}),
    (find("m20.fig1_ece").check, {"adaptive_ece": (0.14, 0.01)}),
    (find("m20.fig1_entropies").check, {"entropy_wrong": (0.3, 1.0)}),
    (find("m20.fig1_entropies").check, {"entropy_right": (0.05, 0.4)}),
    (overfitting.fig2_after_perfect, {"confidence": (0.999, 0.9)}),
]


@pytest.mark.parametrize(("claim", "opposite"), FIGURES_1_AND_2)
def test_figures_1_and_2(claim, opposite, monkeypatch):
    for name in ("results", "long_results"):
        monkeypatch.setattr(overfitting, name, made)
    assert claim().found.verdict == Verdict.REPRODUCED
    for name in ("results", "long_results"):
        monkeypatch.setattr(overfitting, name, lambda: made(changes=AS_PRINTED | opposite))
    assert claim().found.verdict == Verdict.NOT_REPRODUCED


FALLING = AS_PRINTED | {"nll": (0.5, 0.02), "nll_wrong": (2.0, 1.1)}  # as the training NLL does


@pytest.mark.parametrize("opposite", [{"nll": (0.5, 0.6)}, {"nll_right": (0.02, 0.2)}, {"nll_wrong": (1.1, 2.0)}])
def test_the_training_nll_falls(opposite, monkeypatch):
    monkeypatch.setattr(overfitting, "long_results", lambda: made(changes=FALLING))
    assert find("m20.fig1_train_nll").check().found.verdict == Verdict.REPRODUCED
    monkeypatch.setattr(overfitting, "long_results", lambda: made(changes=FALLING | opposite))
    assert find("m20.fig1_train_nll").check().found.verdict == Verdict.NOT_REPRODUCED


def test_what_is_asked_of_one_test_set_is_said_to_be(monkeypatch):
    """All seeds have the same test images; training images each draws its own."""
    monkeypatch.setattr(overfitting, "long_results", made)
    assert overfitting.change("", "nll", 1).over == "4 seeds alone, one test set"
    assert overfitting.change("", "nll", -1, "train").over == "4 seeds"


def test_a_change_ends_where_no_sample_is_left(monkeypatch):
    """Of the misclassified samples, of which a learnt training set has none, and the test set others."""
    histories = [pd.DataFrame({"epoch": [10, 5, 15], "split": "train", "nll_wrong": [1.1, 2.0, np.nan]})] * 2
    runs = [Run(Spec(seed=seed), h, None, None) for seed, h in enumerate(histories)]
    monkeypatch.setattr(overfitting, "long_results", lambda: runs)
    assert overfitting.change("", "nll_wrong", -1, "train", while_any=True).measured == pytest.approx(-0.9)
    for run in runs:
        run.history.loc[0, "nll_wrong"] = np.nan
    with pytest.raises(ValueError, match=r"nll_wrong must have a value at two epochs or more .* Got 1"):
        overfitting.change("", "nll_wrong", -1, "train", while_any=True)


@pytest.mark.parametrize(
    ("claim", "asked", "opposite"),
    [
        (overfitting.nll_overfits_not_error, {"error": (0.2, 0.1)}, {"error": (0.1, 0.2)}),
        (overfitting.nll_overfits_not_error, {"error": (0.2, 0.1)}, {"nll": (1.3, 0.5)}),
        (overfitting.nll_turns_early, {"error": (0.2, 0.0)}, {"error": (0.0, 0.0)}),
        (overfitting.nll_turns_early, {"error": (0.2, 0.0)}, {"nll": (1.3, 0.5), "error": (0.2, 0.0)}),
    ],
)
def test_what_is_asked_from_the_lowest_nll_on(claim, asked, opposite, monkeypatch):
    """In the last row the lowest NLL comes late, when the training set is learnt."""
    monkeypatch.setattr(overfitting, "results", lambda: made(changes=AS_PRINTED | asked))
    assert claim().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(overfitting, "results", lambda: made(changes=AS_PRINTED | asked | opposite))
    assert claim().verdict != Verdict.REPRODUCED


def test_highest_bin_is_the_last_of_25(monkeypatch):
    monkeypatch.setattr(overfitting, "results", made)
    assert overfitting.fig2_highest_bin().found.verdict == Verdict.REPRODUCED
    monkeypatch.setattr(overfitting, "results", lambda: made(train=3.5))  # a confidence of 0.94
    assert overfitting.fig2_highest_bin().found.verdict == Verdict.NOT_REPRODUCED


def test_confidence_rises_from_the_first_epoch_without_an_error():
    history = pd.DataFrame({"error": [0.1, 0.0, 0.0], "confidence": [0.5, 0.9, 0.95]})
    assert overfitting.rise_after_perfect(history) == pytest.approx(0.05)
    with pytest.raises(ValueError, match="training error"):
        overfitting.rise_after_perfect(history.assign(error=0.1))


MILDER = {"nll_wrong": (1.6, 3.0), "nll_right": (0.3, 0.09), "entropy_wrong": (1.2, 0.6)}


def with_focal(changes=AS_PRINTED | MILDER, **logits):
    focal = [made(gamma, changes, **{"right": 4.0, "wrong": 3.0} | logits) for gamma in (1.0, 3.0)]
    return lambda: [*made(), *(run for runs in focal for run in runs)]


@pytest.mark.parametrize(
    ("claim", "opposite"),
    [
        (find("m20.fig3_nll_wrong").check, {"changes": AS_PRINTED | {"nll_wrong": (1.6, 9.0)}}),
        (find("m20.fig3_entropy_wrong").check, {"changes": AS_PRINTED | {"entropy_wrong": (0.9, 0.2)}}),
        (find("m20.fig3_entropy_wrong").check, {"changes": AS_PRINTED | {"entropy_wrong": (1.9, 0.2)}}),  # on average
        (find("m20.fig3_true_class_wrong").check, {"wrong": 6.0}),
        (find("m20.fig3_confidence_kept").check, {"right": 3.0}),
        (focal_training.fig3_true_class_right, {"right": 6.0}),
        (focal_training.fig3_true_class_right, {"changes": AS_PRINTED | {"nll_right": (0.2, 0.01)}}),
    ],
)
def test_figure_3(claim, opposite, monkeypatch):
    monkeypatch.setattr(focal_training, "long_results", with_focal())
    assert claim().found.verdict == Verdict.REPRODUCED
    monkeypatch.setattr(focal_training, "long_results", with_focal(**opposite))
    assert claim().found.verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("claim", "opposite"),
    [
        (overfitting.fig1_training_error, {"error": (0.03, 0.02, 0.0)}),
        (overfitting.fig1_training_error, {"error": (0.02, 0.03, 0.001)}),
        (regularisation.weight_norm_early, {"norms": (-1, 1, -1)}),
        (regularisation.weight_norm_early, {"norms": (1, -1, -1)}),
        (regularisation.weight_norm_early, {"norms": (1, 1, 1)}),
        (regularisation.weight_norm_late, {"norms": (1, 1, 1)}),
    ],
)
def test_between_and_after_the_drops(claim, opposite, monkeypatch):
    """Errors in both halves between the drops, and after; what focal loss leads by at first, before and after them."""

    def course(error=(0.02, 0.03, 0.0), norms=(1, 1, -1)):
        epochs = np.arange(4, 101, 4)
        errors = np.select([epochs <= 43, epochs <= 57, epochs <= 71], [0.1, *error[:2]], error[2])
        lead = np.select([epochs <= 4, epochs <= 71], norms[:2], norms[2])
        for run in (*made(0.0), *made(3.0)):
            wobble = 1 + 0.001 * run.spec.seed
            row = {"epoch": epochs, "error": errors * wobble, "weight_norm": 9 + run.spec.gamma * lead * wobble}
            yield replace(run, history=pd.DataFrame(row | {"split": "train"}))

    for module in (overfitting, regularisation):
        monkeypatch.setattr(module, "long_results", lambda: list(course()))
    assert claim().found.verdict == Verdict.REPRODUCED
    for module in (overfitting, regularisation):
        monkeypatch.setattr(module, "long_results", lambda: list(course(**opposite)))
    assert claim().found.verdict == Verdict.NOT_REPRODUCED


def test_a_loss_with_gamma_0_is_not_taken_for_cross_entropy(monkeypatch):
    others = [replace(run, spec=Spec(loss="mmce", lam=2, seed=run.spec.seed)) for run in made(right=1.0, wrong=1.0)]
    monkeypatch.setattr(focal_training, "long_results", lambda: [*others, *with_focal()()])
    assert focal_training.fig3_true_class_right().found.verdict == Verdict.REPRODUCED
    monkeypatch.setattr(overfitting, "results", lambda: [*others, *made()])
    assert [run.spec.label for run in overfitting.cross_entropy_runs()] == ["cross-entropy"] * 4


def test_the_means_are_of_the_true_class():
    (run, *_) = made(right=5.0, wrong=3.0)
    share = np.exp([5.0, 3.0]) + 2
    assert focal_training.mean_true_class(run) == pytest.approx((np.exp(5) / share[0], 1 / share[1]))


def test_the_order_of_gammas_is_judged_on_recorded_runs():
    """A pair the other way round contradicts."""
    negative = focal_training.PrintedEffect(-1, None, "negative")
    pairs = (("focal 2", "focal 1"), ("focal 1", "focal 2"))
    there = [replace(focal_training._recorded(*pair, negative), complete=True) for pair in pairs]
    assert {one.verdict for one in there} == {Verdict.REPRODUCED, Verdict.NOT_REPRODUCED}
