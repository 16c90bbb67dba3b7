"""The training loop: rates, hooks of the losses, states."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from focal_lib.losses import AdaFocalLoss, BrierLoss, FocalLoss
from focal_lib.losses.base import TrainingLoss
from reproduction.engine import models
from reproduction.engine.recipes import RECIPES, Recipe
from reproduction.engine.spec import Spec
from reproduction.engine.trainer import NonFiniteLoss, Trainer, augmented, draw_crops, pick_device


def make(loss=None, recipe=None):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    return Trainer(models.build("mlp", 1, 4, 3), loss or FocalLoss(2.0), recipe or Spec().training, generator, 40)


DATA = torch.randn(40, 1, 4, 4, generator=torch.Generator().manual_seed(1)), torch.arange(40) % 3


def test_learning_rate_drops_where_the_recipe_says():
    trainer = make(recipe=Spec(recipe="kk24-cifar", epochs=7).training)
    rates = []
    for _ in range(7):
        rates.append(trainer.optimiser.param_groups[0]["lr"])
        trainer.optimiser.step()
        trainer.schedule.step()
    np.testing.assert_allclose(rates, [0.1] * 3 + [0.01] * 2 + [0.001] * 2)


def test_one_cycle_rises_and_falls_to_nothing_step_by_step():
    recipe = replace(RECIPES["cifar-one-cycle"], epochs=3, batch_size=10, augment=False)
    trainer, rates = make(recipe=recipe), []
    trainer.optimiser.register_step_pre_hook(lambda optimiser, *_: rates.append(optimiser.param_groups[0]["lr"]))
    for _ in range(3):
        trainer.train_epoch(*DATA)
    expected = np.interp(range(12), [0, 0.2 * 12 - 1, 11], [0.1 / 25, 0.1, 0.1 / 25 / 1e4])
    np.testing.assert_allclose(rates, expected, rtol=1e-9)


@pytest.mark.parametrize(("reduction", "clip_norm"), [("mean", 0.0), ("sum", 0.0), ("sum", 0.02), ("mean", 0.02)])
def test_an_update_is_by_mean_or_sum_and_cut(reduction, clip_norm):
    """One step of plain SGD, written out; the gradient of the mean here is longer than the cut."""
    recipe = Recipe("", "sgd", 0.5, 40, 1, reduction=reduction, clip_norm=clip_norm, precision="float32")
    trainer, by_hand = make(recipe=recipe), make(recipe=recipe).model
    mean = trainer.train_epoch(*DATA)
    logits, labels = by_hand(DATA[0]), DATA[1]
    p = torch.softmax(logits, -1)[range(40), labels]
    losses = -((1 - p) ** 2) * p.log()
    gradients = torch.autograd.grad(losses.sum() if reduction == "sum" else losses.mean(), list(by_hand.parameters()))
    length = torch.cat([one.flatten() for one in gradients]).norm()
    assert length > 0.03
    factor = 0.02 / length if clip_norm else 1.0
    for weight, before, gradient in zip(trainer.model.parameters(), by_hand.parameters(), gradients, strict=True):
        torch.testing.assert_close(weight, before - 0.5 * factor * gradient)
    assert mean == pytest.approx(float(losses.detach().mean()), rel=1e-5)  # of the history, in any case


def test_of_the_brier_score_the_mean_is_taken():
    """As M20's code does, whose other losses are sums."""
    recipes = [Recipe("", "sgd", 0.5, 40, 1, reduction=reduction, precision="float32") for reduction in ("mean", "sum")]
    for loss, alike in ((BrierLoss(), True), (FocalLoss(2.0), False)):
        one, two = (make(loss, recipe) for recipe in recipes)
        for trainer in (one, two):
            trainer.train_epoch(*DATA)
        pairs = zip(one.model.parameters(), two.model.parameters(), strict=True)
        assert all(torch.equal(*pair) for pair in pairs) is alike


def test_a_short_gradient_is_not_made_longer():
    whole, cut = (
        make(recipe=Recipe("", "sgd", 0.5, 40, 1, clip_norm=limit, precision="float32")) for limit in (0, 1e6)
    )
    assert whole.train_epoch(*DATA) == cut.train_epoch(*DATA)
    for one, other in zip(whole.model.parameters(), cut.model.parameters(), strict=True):
        torch.testing.assert_close(one, other)


class _Watched(TrainingLoss):
    """Notes what the loop tells it."""

    learns_from_validation = True

    def __init__(self):
        super().__init__()
        self.told = []

    def forward(self, logits, labels):
        return torch.nn.functional.cross_entropy(logits, labels)

    def start_epoch(self, epoch):
        self.told.append(("epoch", epoch))

    def objective(self, logits, labels, model, generator):
        self.told.append(("objective", len(labels), model is not None, generator.initial_seed()))
        return self(logits, labels)

    def after_validation(self, confidence, correct):
        self.told.append(("validation", tuple(confidence.shape), correct.dtype))


def test_hooks_of_a_loss_are_called_in_their_order():
    trainer = make(loss := _Watched(), Spec(batch_size=25).training)
    for _ in range(2):
        trainer.train_epoch(*DATA)
        trainer.validate(*DATA)
    steps = [("objective", 25, True, 0), ("objective", 15, True, 0), ("validation", (40,), torch.bool)]
    assert loss.told == [("epoch", 0), *steps, ("epoch", 1), *steps]


@pytest.mark.parametrize(("last_batch", "sizes"), [("keep", [25, 15]), ("drop", [25])])
def test_the_last_batch_is_kept_or_dropped(last_batch, sizes):
    trainer = make(loss := _Watched(), replace(Spec(batch_size=25).training, last_batch=last_batch))
    mean = trainer.train_epoch(*DATA)
    assert [told[1] for told in loss.told if told[0] == "objective"] == sizes
    assert 0.5 < mean < 2  # of the samples that were used


def test_validation_costs_nothing_where_the_loss_does_not_learn_from_it():
    trainer = make()
    trainer.validate(None, None)


def test_adafocal_learns_from_validation():
    trainer = make(loss := AdaFocalLoss(n_bins=3))
    before = loss.gammas.clone()
    trainer.validate(*DATA)
    assert not torch.equal(loss.gammas, before)


def test_a_state_restored_goes_on_bitwise():
    recipe = Spec(recipe="cifar-cpu", batch_size=7).training
    one, two = make(recipe=recipe), make(recipe=recipe)
    one.train_epoch(*DATA)
    two.restore(copy.deepcopy(one.state()))  # as a checkpoint would hold it
    assert one.train_epoch(*DATA) == two.train_epoch(*DATA)
    for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_non_finite_loss_does_not_count_the_epoch():
    trainer = make(recipe=Spec(learning_rate=1e30, batch_size=5).training)
    with pytest.raises(NonFiniteLoss, match=r"must stay finite. Got nan in epoch 1"):
        trainer.train_epoch(*DATA)
    assert trainer.epoch == 0


def test_devices_by_name():
    assert pick_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match=r"device must be auto, cpu, cuda or cuda:<number>. Got 'gpu'"):
        pick_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match=r"this machine has 0 GPUs. Got 'cuda'"):
            pick_device("cuda")


def test_augmentation_is_a_crop_and_a_flip():
    images = torch.arange(2 * 3 * 8 * 8, dtype=torch.float32).reshape(2, 3, 8, 8) + 1
    drawn = draw_crops(2, torch.Generator().manual_seed(3))
    out = augmented(images, drawn)
    assert out.shape == images.shape
    padded = torch.nn.functional.pad(images, (4,) * 4)
    for before, after in zip(padded, out, strict=True):
        crops = [before[:, y : y + 8, x : x + 8] for y in range(9) for x in range(9)]
        assert any(torch.equal(after, c) or torch.equal(after, c.flip(-1)) for c in crops)
    many = draw_crops(4000, torch.Generator().manual_seed(3))
    assert many.min(0).values.tolist() == [0, 0, 0]
    assert many.max(0).values.tolist() == [8, 8, 1]
    still = augmented(images, torch.tensor([[4, 4, 0], [4, 4, 1]]))
    torch.testing.assert_close(still, torch.stack([images[0], images[1].flip(-1)]))
