"""Losses of several labels, each a problem of two classes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchvision.ops import sigmoid_focal_loss

from focal_lib.losses import BrierLoss, FocalCalibrationLoss, FocalLoss
from reproduction.studies.localisation.networks import MultiLabelLoss

Z = torch.linspace(-6, 6, 24, dtype=torch.float64).reshape(8, 3)
Y = (torch.arange(24).reshape(8, 3) * 7 % 3 == 0).long()


def test_gamma_0_is_binary_cross_entropy():
    expected = torch.nn.functional.binary_cross_entropy_with_logits(Z, Y.double())
    assert torch.allclose(MultiLabelLoss(FocalLoss(0))(Z, Y), expected, rtol=1e-12)


@given(gamma=st.floats(0, 7))
def test_focal_is_torchvisions_without_alpha(gamma):
    expected = sigmoid_focal_loss(Z, Y.double(), alpha=-1, gamma=gamma, reduction="mean")
    assert torch.allclose(MultiLabelLoss(FocalLoss(gamma))(Z, Y), expected, rtol=1e-9)


@given(gamma=st.floats(0, 7), lam=st.floats(0, 5))
def test_fcl_adds_twice_lambda_times_the_squared_distance(gamma, lam):
    square = 2 * lam * ((Z.sigmoid() - Y) ** 2).mean()
    found = MultiLabelLoss(FocalCalibrationLoss(gamma, lam))(Z, Y)
    assert torch.allclose(found - MultiLabelLoss(FocalLoss(gamma))(Z, Y), square, rtol=1e-9, atol=1e-12)


def test_labels_do_not_mix():
    """The gradient of a label's logit depends on that label alone."""
    z = Z.clone().requires_grad_()
    MultiLabelLoss(FocalLoss(2, reduction="sum"))(z, Y).backward()
    alone = Z[:, :1].clone().requires_grad_()
    MultiLabelLoss(FocalLoss(2, reduction="sum"))(alone, Y[:, :1]).backward()
    assert torch.allclose(z.grad[:, :1], alone.grad)


def test_other_losses_have_a_form_of_several_labels():
    assert MultiLabelLoss(BrierLoss())(Z, Y) == pytest.approx(2 * float(((Z.sigmoid() - Y) ** 2).mean()))


@pytest.mark.parametrize("labels", [Y[:, 0], Y[:4], Y[:, :2]])
def test_shapes_are_checked(labels):
    with pytest.raises(ValueError, match=r"must both have shape \(n, L\). Got \(8, 3\) and"):
        MultiLabelLoss(FocalLoss(0))(Z, labels)
