"""Losses of several labels, or of one logit: each label a problem of two classes."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torchvision.ops import sigmoid_focal_loss

from focal_lib.losses import (
    FLSD53,
    AdaFocalLoss,
    BrierLoss,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    LogitLoss,
    MMCELoss,
    MultiLabelLoss,
    ProperFocalLoss,
    ScheduledFocalLoss,
)

Z = torch.linspace(-6, 6, 24, dtype=torch.float64).reshape(8, 3)
Y = (torch.arange(24).reshape(8, 3) * 7 % 3 == 0).long()
T = torch.linspace(0, 1, 24, dtype=torch.float64).flip(0).reshape(3, 8).T
LOSSES = (FocalLoss(2.0), ProperFocalLoss(2.0), FLSD53(), DualFocalLoss(2.0), BrierLoss(), AdaFocalLoss(5))
LOSSES += (FocalCalibrationLoss(2.0, 0.5), FocalCalibrationLoss(2.0, 0.5, norm="l1"))
each = pytest.mark.parametrize("loss", LOSSES, ids=str)


@pytest.mark.parametrize("labels", [Y, Y.double(), T], ids=["integers", "floats", "soft"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gamma_0_is_binary_cross_entropy(labels, reduction):
    found = MultiLabelLoss(FocalLoss(0, reduction))(Z, labels)
    torch.testing.assert_close(found, bce(Z, labels.double(), reduction=reduction), rtol=1e-12, atol=0)


@given(gamma=st.floats(0, 7), alpha=st.one_of(st.none(), st.floats(0.01, 0.99)))
def test_focal_is_torchvisions(gamma, alpha):
    for reduction, labels in (("none", Y), ("mean", Y.double())):
        given = {"alpha": -1 if alpha is None else alpha, "gamma": gamma, "reduction": reduction}
        found = MultiLabelLoss(FocalLoss(gamma, reduction, alpha=alpha))(Z, labels)
        torch.testing.assert_close(found, sigmoid_focal_loss(Z, Y.double(), **given), rtol=1e-9, atol=0)


@given(gamma=st.floats(0, 7), lam=st.floats(0, 5))
def test_fcl_adds_twice_lambda_times_the_squared_distance(gamma, lam):
    square = 2 * lam * ((Z.sigmoid() - Y) ** 2).mean()
    found = MultiLabelLoss(FocalCalibrationLoss(gamma, lam))(Z, Y)
    torch.testing.assert_close(found - MultiLabelLoss(FocalLoss(gamma))(Z, Y), square, rtol=1e-9, atol=1e-12)


@each
def test_it_is_the_loss_of_two_classes(loss):
    """Of logits 0 and z, one by one: also what a loss without a form of its own takes."""
    pairs = torch.stack([torch.zeros(24, dtype=torch.float64), Z.flatten()], -1)
    expected = loss.per_sample(pairs, Y.flatten()).reshape(8, 3)
    torch.testing.assert_close(MultiLabelLoss(loss)(Z, Y), expected.mean())
    torch.testing.assert_close(loss.per_margin(torch.where(Y == 1, Z, -Z)), expected)
    torch.testing.assert_close(LogitLoss.per_margin(loss, torch.where(Y == 1, Z, -Z)), expected)


@each
def test_soft_labels_are_between_the_two(loss):
    ones, zeros = (MultiLabelLoss(loss)(Z, torch.full((8, 3), y)) for y in (1, 0))
    for t in (0.0, 0.95, 1.0):
        torch.testing.assert_close(MultiLabelLoss(loss)(Z, torch.full((8, 3), t)), t * ones + (1 - t) * zeros)


def test_a_label_that_is_95_percent_true_in_fifty_digits():
    with mpmath.workdps(50):
        q = 1 / (1 + mpmath.exp(-3))
        of_one, of_zero = -((1 - q) ** 2) * mpmath.log(q), -(q**2) * mpmath.log(1 - q)
        expected = mpmath.mpf(95) / 100 * of_one + mpmath.mpf(5) / 100 * of_zero
    logits, labels = (torch.tensor([values], dtype=torch.float64) for values in ((3.0, -3.0), (0.95, 0.05)))
    found = MultiLabelLoss(FocalLoss(2.0))(logits, labels)
    assert float(found) == pytest.approx(float(expected), rel=1e-14)


def test_weights_ignored_labels_and_smoothing():
    holes = torch.where(torch.arange(24).reshape(8, 3) % 5 == 0, -100, Y)
    counted, weight = holes >= 0, torch.where(Y == 1, 3.0, 0.5).double()
    plain = bce(Z, Y.double(), reduction="none")
    for labels in (holes, holes.double()):
        torch.testing.assert_close(MultiLabelLoss(FocalLoss(0))(Z, labels), plain[counted].mean())
        found = MultiLabelLoss(FocalLoss(0, weight=[0.5, 3.0]))(Z, labels)
        torch.testing.assert_close(found, (weight * plain)[counted].sum() / weight[counted].sum())
        found = MultiLabelLoss(FocalLoss(0, label_smoothing=0.2))(Z, labels)
        torch.testing.assert_close(found, bce(Z, 0.8 * Y.double() + 0.1, reduction="none")[counted].mean())
    z = Z.clone().requires_grad_()
    MultiLabelLoss(FocalLoss(2.0))(z, holes).backward()
    assert not z.grad[~counted].any()
    assert z.grad[counted].all()


def test_labels_do_not_mix():
    """The gradient of a label's logit depends on that label alone."""
    z = Z.clone().requires_grad_()
    MultiLabelLoss(FocalLoss(2, reduction="sum"))(z, Y).backward()
    alone = Z[:, :1].clone().requires_grad_()
    MultiLabelLoss(FocalLoss(2, reduction="sum"))(alone, Y[:, :1]).backward()
    torch.testing.assert_close(z.grad[:, :1], alone.grad)


@pytest.mark.parametrize("shape", [(24,), (24, 1), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.float32])
def test_any_shape_and_type_of_labels(shape, dtype):
    expected = MultiLabelLoss(FocalLoss(2.0, "none"))(Z, Y).reshape(shape)
    found = MultiLabelLoss(FocalLoss(2.0, "none"))(Z.reshape(shape), Y.reshape(shape).to(dtype))
    torch.testing.assert_close(found, expected)


@each
def test_saturated_and_half_precision(loss):
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        z = torch.tensor([3e4, -3e4, 30.0, 0.0], dtype=dtype, requires_grad=True)
        for labels in (torch.tensor([0, 1, 1, 0]), torch.tensor([0.0, 1.0, 0.3, 0.5])):
            value = MultiLabelLoss(loss)(z, labels)
            (slope,) = torch.autograd.grad(value, z)
            assert value.dtype == torch.float32
            assert torch.isfinite(value)
            assert torch.isfinite(slope).all()


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        *[(Z, labels, r"must both have shape \(n, L\). Got \(8, 3\) and") for labels in (Y[:, 0], Y[:4], Y[:, :2])],
        (Z[:, :1], Y[:, 0], r"Got \(8, 1\) and \(8,\)\. Labels of that shape: labels\.reshape\(\(8, 1\)\)"),
        (Z, Y - 2, r"labels must lie in \[0, 1\], or be ignored, ignore_index=-100\. Got values from -2 to -1"),
        (Z, T + 0.5, r"labels must lie in \[0, 1\].* Got values from 0\.5 to 1\.5"),
        (Z, T * math.nan, r"labels must lie in \[0, 1\].* Got values from nan to nan"),
    ],
)
def test_refusals(logits, labels, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelLoss(FocalLoss(0))(logits, labels)


def test_losses_that_are_none_of_a_label():
    with pytest.raises(ValueError, match=r"loss must be a LogitLoss, FocalLoss\(2\.0\) say. Got MMCELoss"):
        MultiLabelLoss(MMCELoss())
    with pytest.raises(ValueError, match="weight must be 2 numbers"):
        MultiLabelLoss(FocalLoss(2.0, weight=[1.0, 2.0, 3.0]))(Z, Y)


def test_hooks_reach_the_loss_of_a_label():
    scheduled = MultiLabelLoss(ScheduledFocalLoss(((0, 5.0), (3, 1.0))))
    scheduled.start_epoch(3)
    torch.testing.assert_close(scheduled(Z, Y), MultiLabelLoss(FocalLoss(1.0))(Z, Y))
    ada = MultiLabelLoss(AdaFocalLoss(2))
    assert ada.learns_from_validation
    before = ada(Z, Y)
    ada.after_validation(torch.linspace(0.1, 0.9, 30), torch.arange(30) % 2 == 0)
    assert ada(Z, Y) != before
    assert not MultiLabelLoss(BrierLoss()).takes_sum
