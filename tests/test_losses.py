"""Training losses against slow definitions."""

import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from focal_lib.losses import BrierLoss, FocalLoss, ProperFocalLoss


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return 3 * torch.randn(20, 6, dtype=torch.float64), torch.randint(0, 6, (20,))


def slow_focal(logits, labels, gamma):
    """Row by row from the probabilities."""
    losses = []
    for row, label in zip(torch.softmax(logits, -1), labels, strict=True):
        q = row[label]
        losses.append(-((1 - q) ** gamma) * torch.log(q))
    return torch.stack(losses)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 3.0, 7.0])
def test_focal(batch, gamma):
    torch.testing.assert_close(FocalLoss(gamma, "none")(*batch), slow_focal(*batch, gamma))


def test_gamma_zero_is_cross_entropy(batch):
    torch.testing.assert_close(FocalLoss(0)(*batch), cross_entropy(*batch))
    torch.testing.assert_close(ProperFocalLoss(0)(*batch), cross_entropy(*batch))


def test_proper_part_of_the_mapped_prediction_is_the_focal_loss(batch):
    from focal_lib.maps import focal_log_probs

    logits, labels = batch
    mapped = focal_log_probs(logits, 2.0)
    torch.testing.assert_close(ProperFocalLoss(2.0, "none")(mapped, labels), slow_focal(logits, labels, 2.0))


def test_brier(batch):
    logits, labels = batch
    slow = ((torch.softmax(logits, -1) - one_hot(labels, 6)) ** 2).sum(-1)
    torch.testing.assert_close(BrierLoss("none")(logits, labels), slow)


@pytest.mark.parametrize("loss", [FocalLoss(0.5), FocalLoss(3), ProperFocalLoss(2), BrierLoss()], ids=str)
def test_gradients(batch, loss):
    logits, labels = batch
    z = logits[:5].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss(z, labels[:5]), (z,))


@pytest.mark.parametrize("loss", [FocalLoss(0.5), FocalLoss(7), BrierLoss()], ids=str)
def test_saturated_float32_stays_finite(loss):
    z = torch.tensor([[1e4, 0.0, -1e4], [0.0, 1e4, 0.0], [30.0, 0.0, 0.0]], requires_grad=True)
    value = loss(z, torch.tensor([0, 0, 0]))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(z.grad).all()


def test_bad_input(batch):
    with pytest.raises(ValueError, match="gamma must be a finite number >= 0"):
        FocalLoss(-1)
    with pytest.raises(ValueError, match="reduction must be"):
        BrierLoss("average")
    with pytest.raises(ValueError, match=r"shapes \(n, K\) and \(n,\). Got \(20, 6\) and \(19,\)"):
        FocalLoss(1)(batch[0], batch[1][:19])
