"""The best epoch on validation: chosen, kept through checkpoints, and what a run leaves."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from reproduction.engine import run
from reproduction.engine.recipes import RECIPES
from reproduction.engine.run import trained
from reproduction.engine.store import describe
from reproduction.engine.trainer import BestWeights, Trainer


@pytest.fixture
def keeps_best(monkeypatch):
    monkeypatch.setitem(RECIPES, "book-fast", replace(RECIPES["book-fast"], keep="best"))


@pytest.fixture
def accuracies(monkeypatch):
    """Validation accuracies as given, by epoch, instead of the measured ones."""

    def give(*values):
        offer = BestWeights.offer
        monkeypatch.setattr(BestWeights, "offer", lambda self, n, _, model: offer(self, n, values[n - 1], model))

    return give


@pytest.fixture
def weights_by_epoch(monkeypatch):
    """The weights after each epoch of training."""
    train_epoch, seen = Trainer.train_epoch, {}

    def watching(self, *data):
        loss = train_epoch(self, *data)
        seen[self.epoch] = {name: value.clone() for name, value in self.model.state_dict().items()}
        return loss

    monkeypatch.setattr(Trainer, "train_epoch", watching)
    return seen


def test_the_earliest_of_the_best_is_kept_as_it_was():
    model, best = nn.Linear(2, 2), BestWeights()
    for epoch, accuracy in enumerate((0.5, 0.7, 0.7, 0.6), start=1):
        with torch.no_grad():
            model.weight.fill_(epoch)
        best.offer(epoch, accuracy, model)
    assert (best.epoch, best.accuracy) == (2, 0.7)
    other = BestWeights()
    other.load_state_dict(best.state_dict())
    other.give_to(model)
    assert torch.equal(model.weight, torch.full((2, 2), 2.0))
    BestWeights().give_to(model)  # none was offered
    assert torch.equal(model.weight, torch.full((2, 2), 2.0))


def test_a_run_leaves_the_network_of_its_best_epoch(small, tmp_path, keeps_best, accuracies, weights_by_epoch):
    accuracies(0.1, 0.3, 0.2, 0.3)
    spec = small(gamma=1.0)
    result = run(spec, tmp_path, "cpu")
    assert result.history["best_epoch"].tolist() == [1, 1, 2, 2, 2, 2, 2, 2]
    told = result.history.query("epoch == 2 and split == 'test'").iloc[0]  # of that epoch, not of the last
    assert describe(result).endswith(f"test accuracy {told.accuracy:.3f}, adaptive ECE {told.adaptive_ece:.3f}")
    model, parts = trained(spec, tmp_path, "cpu")
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights_by_epoch[2][name])
        assert not torch.equal(value, weights_by_epoch[4][name])
    with torch.no_grad():
        np.testing.assert_allclose(model(parts["test"][0]).numpy(), result.test.logits, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dies_at", [1, 3])
def test_resumed_it_is_bitwise_the_same(small, tmp_path, keeps_best, killed, dies_at):
    spec = small()
    whole = run(spec, tmp_path / "whole", "cpu")
    killed(dies_at, spec, tmp_path / "killed", "cpu")
    resumed = run(spec, tmp_path / "killed", "cpu")
    np.testing.assert_array_equal(resumed.test.logits, whole.test.logits)
    np.testing.assert_array_equal(resumed.validation.logits, whole.validation.logits)


def test_the_name_of_a_run_that_keeps_the_last_epoch_is_as_before(small, monkeypatch):
    before = small()
    assert "keep" not in before.as_dict["training"]
    digest = before.digest
    monkeypatch.setitem(RECIPES, "book-fast", replace(RECIPES["book-fast"], keep="best"))
    assert small().digest != digest


def test_texts_keep_the_best_epoch_as_m20_does():
    assert {name for name, recipe in RECIPES.items() if recipe.keep == "best"} == {"m20-newsgroups", "m20-sst"}
