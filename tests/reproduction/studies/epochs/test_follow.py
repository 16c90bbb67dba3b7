"""Networks looked at while they train, against runs that keep their last logits, and against autograd."""

import numpy as np
import pytest
import torch

from focal_lib.losses import FocalLoss
from reproduction.engine.fit import do_epoch, final_logits, prepare
from reproduction.studies.epochs.while_training import follow


def test_what_is_followed_is_what_a_run_trains(small):
    """To the last bit: the looks in between draw no random numbers and leave the weights alone."""
    specs = [small(gamma=gamma, seed=seed, model="mlp") for seed in (0, 1) for gamma in (0, 2)]
    for spec, found in zip(specs, follow(specs), strict=True):
        assert found.spec == spec
        assert [snap.epoch for snap in found.snapshots] == list(range(spec.training.epochs + 1))
        trainer, parts = prepare(spec, "cpu")
        rows = [row for _ in range(spec.training.epochs) for row in do_epoch(spec, trainer, parts)]
        arrays, last = final_logits(trainer, parts), found.snapshots[-1]
        assert np.array_equal(last.train.logits, arrays["train_logits"])
        assert np.array_equal(last.test.logits, arrays["test_logits"])
        assert np.array_equal(last.test.labels, arrays["test_labels"])
        (row,) = [r for r in rows if r["epoch"] == 4 and r["split"] == "train"]
        assert last.weight_norm == row["weight_norm"]
        assert np.quantile(last.gradient_norms, 0.9) == pytest.approx(row["gradient_q90"], rel=1e-5)


def test_losses_of_a_seed_begin_alike_and_then_part(small):
    one, two = (f.snapshots for f in follow([small(gamma=gamma, model="mlp") for gamma in (0, 3)], 1))
    assert np.array_equal(one[0].train.logits, two[0].train.logits)
    assert not np.array_equal(one[1].train.logits, two[1].train.logits)


def test_an_epoch_of_one_batch_is_a_step_of_gradient_descent(small):
    """The first step of SGD with momentum is the gradient, of the mean loss and of the weight decay."""
    spec = small(gamma=2, model="mlp", recipe="cifar-cpu", batch_size=60, learning_rate=0.01)
    after = follow([spec], 1)[0].snapshots[1]
    trainer, parts = prepare(spec, "cpu")
    images, labels = parts["train"]
    loss = FocalLoss(2.0)(trainer.model(images), labels)
    decay = trainer.recipe.weight_decay
    for weight, slope in zip(
        trainer.model.parameters(), torch.autograd.grad(loss, list(trainer.model.parameters())), strict=True
    ):
        weight.data -= 0.01 * (slope + decay * weight.data)
    assert after.train.logits == pytest.approx(trainer.logits(images).numpy(), abs=1e-5)


def test_the_schedule_is_the_specifications_when_less_is_trained(small):
    whole, part = follow([small(model="mlp")])[0], follow([small(model="mlp")], 2, test_samples=7)[0]
    assert len(part.snapshots) == 3
    assert np.array_equal(part.snapshots[2].train.logits, whole.snapshots[2].train.logits)
    # not bitwise: some processors multiply a matrix of few rows in another order
    np.testing.assert_allclose(part.snapshots[2].test.logits, whole.snapshots[2].test.logits[:7], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"epochs": 0}, "epochs"), ({"test_samples": 0}, "test_samples")],
)
def test_nothing_to_look_at_is_refused(small, options, message):
    with pytest.raises(ValueError, match=message):
        follow([small()], **options)


def test_a_loss_that_learns_from_validation_is_refused(small):
    with pytest.raises(ValueError, match="validation samples"):
        follow([small(loss="adafocal")])
