"""The linear model against scikit-learn's, networks that repeat themselves, plans and their contrasts."""

import dataclasses

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from focal_lib.losses.focal import FocalLoss, ProperFocalLoss
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.data.tokens import UNKNOWN
from reproduction.studies.human_labels import train as module
from reproduction.studies.human_labels.models import AveragedEmbedding, fit_linear_path, make_bags, train_network
from reproduction.studies.human_labels.plan import END, VALIDATED, Plan, losses_compared, written_contrasts
from reproduction.studies.human_labels.train import load_sentences, train


def _tokens(n=120, seed=0):
    return np.random.default_rng(seed).integers(0, 9, (n, 7))


def test_cross_entropy_reaches_the_optimum_that_scikit_learn_finds():
    tokens = _tokens()
    labels = (tokens == 3).sum(-1) + np.random.default_rng(1).integers(0, 2, len(tokens)) > 1
    bags, penalty = make_bags(tokens, tokens, tokens), 0.01
    (fit,) = fit_linear_path(bags, np.eye(2)[labels.astype(int)], FocalLoss(0.0), [penalty])
    features, n = bags.train[:, :-1], len(tokens)
    theirs = LogisticRegression(C=2 / (n * penalty), tol=1e-10, max_iter=5000).fit(features, labels)
    ours = fit.weights[:, 1] - fit.weights[:, 0]  # of two halves the penalty counts each: together half of one
    np.testing.assert_allclose(ours[:-1], theirs.coef_[0], atol=2e-4)
    assert ours[-1] == pytest.approx(theirs.intercept_[0], abs=2e-4)
    assert fit.gradient < 1e-6


def test_with_one_feature_the_map_and_the_proper_part_find_the_shares():
    """Two kinds of sentences, each its own feature: nothing stands between a loss and its minimiser but the penalty."""
    tokens = np.repeat([[2, 0], [3, 0]], 50, 0)
    targets = np.repeat([[0.2, 0.8], [0.65, 0.35]], 50, 0)
    bags, gamma = make_bags(tokens, tokens, tokens), 2.0
    (focal,) = fit_linear_path(bags, targets, FocalLoss(gamma), [1e-9])
    np.testing.assert_allclose(np.exp(focal_log_probs(bags.test @ focal.weights, gamma)), targets, atol=1e-3)
    (proper,) = fit_linear_path(bags, targets, ProperFocalLoss(gamma), [1e-9])
    np.testing.assert_allclose(np.exp(focal_log_probs(bags.test @ proper.weights, 0.0)), targets, atol=1e-3)
    said = np.exp(focal_log_probs(bags.test @ focal.weights, 0.0))
    assert said[0, 1] == pytest.approx(0.62, abs=0.01)  # KK24 section 3.1: 'around 0.62' for 0.8


def test_penalties_must_be_positive():
    bags = make_bags(_tokens(), _tokens(), _tokens())
    for penalties in ([], [1e-3, 0.0]):
        with pytest.raises(ValueError, match="penalties must be above 0"):
            fit_linear_path(bags, np.full((120, 2), 0.5), FocalLoss(0.0), penalties)


def test_padding_does_not_count_in_the_average():
    torch.manual_seed(0)
    model = AveragedEmbedding(5, 2, np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))
    short, long = torch.tensor([[2, 3]]), torch.tensor([[2, 3, 0, 0]])
    torch.testing.assert_close(model(short), model(long))
    assert torch.isfinite(model(torch.zeros(1, 3, dtype=torch.long))).all()


def test_networks_keep_the_epoch_of_least_validation_loss():
    tokens, rng = (
        {name: _tokens(60, i) for i, name in enumerate(("train", "validation", "test"))},
        np.random.default_rng(2),
    )
    targets = {name: np.eye(2)[rng.integers(0, 2, 60)] for name in ("train", "validation")}

    def trained(epochs):
        torch.manual_seed(0)
        model = AveragedEmbedding(9, 2, np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32))
        return train_network(model, FocalLoss(1.0), tokens, targets, epochs=epochs, seed=0, rate=0.05)

    best, last = trained(12)
    assert last.epoch == 12
    assert best.validation_loss <= last.validation_loss
    assert best.epoch < 12  # labels without a rule: learning them by heart does no good
    np.testing.assert_array_equal(trained(best.epoch)[1].test, best.test)
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        trained(0)


@pytest.mark.parametrize("model", ["linear", "averaged-embedding", "gp-cnn", "tree-lstm"])
def test_models_are_trained(reviews, model, monkeypatch):
    monkeypatch.setattr(
        module, "glove", lambda words: np.random.default_rng(0).normal(size=(len(words), 6)).astype("f")
    )
    load_sentences.cache_clear()
    best, last = train(Plan(model, "focal", 2.0, n_train=100, n_validation=60, epochs=2))
    assert (best.kept, last.kept) == (VALIDATED, END)
    assert best.test.shape == (20, 2)
    assert best.validation.shape == best.targets.shape == (60, 2)
    assert last.stop == (1e-6 if model == "linear" else 2)
    assert len(best.votes) == 20


def test_sentences_are_shared_between_sizes_and_never_tested_on(reviews):
    load_sentences.cache_clear()
    small, large = load_sentences(1, 2, 40, 60), load_sentences(1, 2, 100, 60)
    np.testing.assert_array_equal(small.tokens["validation"], large.tokens["validation"])
    np.testing.assert_array_equal(small.votes["train"].counts, large.votes["train"].counts[:40])
    assert (load_sentences(2, 2, 40, 60).tokens["validation"] != small.tokens["validation"]).any()
    with pytest.raises(ValueError, match=r"n_train \+ n_validation must be at most 180. Got 150 \+ 60"):
        load_sentences(1, 2, 150, 60)


def test_trees_have_the_words_of_the_sentences(reviews):
    load_sentences.cache_clear()
    data = load_sentences(1, 2, 40, 60)

    def leaves(tree, node=0):
        left, right, token, _ = tree[node]
        return [token] if token >= 0 else leaves(tree, left) + leaves(tree, right)

    for name, rows in data.tokens.items():
        assert [leaves(tree) for tree in data.trees[name]] == [row[row > 0].tolist() for row in rows]
    (nothing,) = dataclasses.replace(data, tokens={"train": np.zeros((1, 5), dtype=np.int32)}).trees["train"]
    assert leaves(nothing) == [UNKNOWN]


def test_plans_say_what_they_are():
    assert list(losses_compared(3.0)) == ["cross-entropy", "focal 3", "proper-focal 3", "fcl 2 0.5", "brier"]
    assert Plan("linear", "focal", 3.0).mapped_gamma == 3.0
    assert Plan("linear", "focal").mapped_gamma is Plan("linear", "fcl", 2.0, 1.0).mapped_gamma is None
    for wrong in ({"model": "tree"}, {"labels": "mean"}, {"n_train": 0}, {"loss": "hinge"}):
        with pytest.raises(ValueError, match="must be"):
            Plan(**({"model": "linear", "loss": "focal"} | wrong))


def test_without_the_majority_there_are_fewer_contrasts():
    written = written_contrasts("linear")
    fewer = written_contrasts("linear", majority=False)
    assert set(fewer) < set(written)
    assert not any("majority" in str(contrast) for contrast in fewer)
