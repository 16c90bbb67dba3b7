"""What all losses share: hooks, gradients, saturation, refusals."""

import pytest
import torch

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.losses import (
    BrierLoss,
    FocalCalibrationLoss,
    FocalLoss,
    HessianTraceLoss,
    LabelSmoothingLoss,
    MMCELoss,
    ScheduledFocalLoss,
)
from focal_lib.losses.base import TrainingLoss
from focal_lib.losses.by_name import build

RECORDED = tuple(build(name, gamma=2.0, lam=0.1, epochs=4) for name in LOSS_RECORDS)
LOSSES = (
    *RECORDED,
    *(FocalLoss(0.0), FocalLoss(0.5), FocalLoss(7), FocalCalibrationLoss(0.0, 1.0)),
    ScheduledFocalLoss(((0, 0.5),)),
)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_gradients(loss):
    logits = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    labels = torch.tensor([0, 1, 2, 3, 0])
    assert torch.autograd.gradcheck(lambda z: loss(z, labels), (logits,))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_saturated_float32_stays_finite(loss):
    z = torch.tensor([[1e4, 0.0, -1e4], [0.0, 1e4, 0.0], [30.0, 0.0, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
    value = loss(z, torch.tensor([0, 0, 0, 1]))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(z.grad).all()


def test_bad_input(batch):
    with pytest.raises(ValueError, match="reduction must be"):
        BrierLoss("average")
    with pytest.raises(ValueError, match=r"shapes \(n, K\) and \(n,\). Got \(20, 6\) and \(19,\)"):
        FocalLoss(1)(batch[0], batch[1][:19])


@pytest.mark.parametrize("name", LOSS_RECORDS)
def test_a_training_loop_can_treat_all_alike(batch, name):
    loss = build(name, gamma=2.0, lam=0.0 if name == "hessian-trace" else 0.1, epochs=4)
    assert isinstance(loss, TrainingLoss)
    before = loss(*batch)
    loss.start_epoch(0)
    assert loss.objective(*batch, None, None) == before  # nothing to add where no weight is looked at
    assert before.ndim == 0
    loss.after_validation(torch.linspace(0.1, 0.9, 30), torch.arange(30) % 2 == 0)
    assert (loss(*batch) != before) == loss.learns_from_validation == (name == "adafocal")


def test_only_the_hessian_trace_looks_at_the_weights():
    with pytest.raises(ValueError, match="loss must be one of focal, proper-focal"):
        build("hinge")
    model = torch.nn.Linear(3, 2)
    inputs, labels = torch.randn(5, 3), torch.arange(5) % 2
    for loss in (FocalLoss(2.0), MMCELoss(1.0), LabelSmoothingLoss(0.1)):
        assert loss.diagnostics(model, inputs, labels) == {}
        assert loss.objective(model(inputs), labels, model, torch.Generator()) == loss(model(inputs), labels)
    penalty = HessianTraceLoss(0.5)
    assert penalty.diagnostics(model, inputs, labels)["hessian_trace"] > 0
    assert penalty.objective(model(inputs), labels, model, torch.Generator()) > penalty(model(inputs), labels)
