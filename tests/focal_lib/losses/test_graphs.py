"""Losses in other graphs: compiled whole, exported, differentiated twice, mapped over samples; a learned gamma."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from focal_lib.losses import (
    FLSD53,
    AdaFocalLoss,
    BrierLoss,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    HessianTraceLoss,
    LabelSmoothingLoss,
    MMCELoss,
    MultiLabelLoss,
    ProperFocalLoss,
    ScheduledFocalLoss,
)

DRAWS = torch.Generator().manual_seed(1)
Z = 1.5 * torch.randn(5, 3, dtype=torch.float64, generator=DRAWS)
Y = torch.tensor([0, 1, -100, 2, 0])
T = torch.randn(5, 3, dtype=torch.float64, generator=DRAWS).softmax(-1)
SEVERAL = torch.tensor([[1, 0, 0], [1, -100, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]])


def learned(value=2.0):
    return torch.nn.Parameter(torch.tensor(value, dtype=torch.float64))


LOSSES = {
    "focal": lambda: FocalLoss(2.0, weight=[0.2, 0.5, 0.3]),
    "focal-half": lambda: FocalLoss(0.5, label_smoothing=0.1),
    "focal-learned": lambda: FocalLoss(learned(), alpha=[0.2, 0.5, 0.3]),
    "proper": lambda: ProperFocalLoss(2.0),
    "proper-learned": lambda: ProperFocalLoss(learned(0.7)),
    "flsd-53": FLSD53,
    "scheduled": lambda: ScheduledFocalLoss(((0, 5.0), (1, 3.0))),
    "dual": lambda: DualFocalLoss(2.0),
    "fcl": lambda: FocalCalibrationLoss(2.0, 0.5),
    "fcl-l1": lambda: FocalCalibrationLoss(2.0, 0.5, norm="l1"),
    "brier": BrierLoss,
    "adafocal": AdaFocalLoss,
    "label-smoothing": LabelSmoothingLoss,
    "mmce": lambda: MMCELoss(1.0),
    "hessian": lambda: HessianTraceLoss(0.0),
}
CASES = {
    **{f"{name}, classes": (make, Y) for name, make in LOSSES.items()},
    **{f"{name}, soft": (make, T) for name, make in LOSSES.items() if name != "mmce"},
    **{
        f"{name}, several labels": (lambda make=make: MultiLabelLoss(make()), labels)
        for name, make in {
            **LOSSES,
            "focal": lambda: FocalLoss(2.0, alpha=0.25),
            "focal-learned": LOSSES["dual"],
        }.items()
        if name not in ("label-smoothing", "mmce", "hessian")
        for labels in (SEVERAL,)
    },
    "focal, several soft labels": (lambda: MultiLabelLoss(FocalLoss(2.0, weight=[1.0, 3.0])), T),
    "fcl, several soft labels": (lambda: MultiLabelLoss(FocalCalibrationLoss(2.0, 0.5)), T),
}
QUICK = {
    "focal, classes",
    "focal-learned, soft",
    "proper-learned, classes",
    "flsd-53, classes",
    "brier, several labels",
}
each = pytest.mark.parametrize(
    ("make", "labels"),
    [pytest.param(*case, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, case in CASES.items()],
)


@each
def test_first_and_second_derivatives(make, labels):
    loss, z = make(), Z.clone().requires_grad_()
    inputs = (z, *loss.parameters())
    assert gradcheck(lambda z, *gamma: loss(z, labels), inputs)
    assert gradgradcheck(lambda z, *gamma: loss(z, labels), inputs)


@each
def test_compiled_as_one_graph(make, labels):
    torch._dynamo.reset()
    loss, z = make(), Z.clone().requires_grad_()
    found, expected = torch.compile(loss, fullgraph=True, backend="aot_eager")(z, labels), loss(z, labels)
    torch.testing.assert_close(found, expected)
    inputs = (z, *loss.parameters())
    torch.testing.assert_close(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs))


@each
def test_exported(make, labels):
    loss = make()
    exported = torch.export.export(loss, (Z, labels)).module()
    other = Z.flip(0)
    torch.testing.assert_close(exported(other, labels), loss(other, labels))


@pytest.mark.parametrize("name", [name for name in CASES if "proper" not in name])  # an iteration, which vmap cannot do
def test_gradients_of_each_sample(name):
    """By vmap, as of torch.func's users: one sample at a time gives the same."""
    make, labels = CASES[name]
    loss = make()
    found = torch.func.vmap(torch.func.grad(lambda row, label: loss(row[None], label[None])))(Z, labels)
    for row, label, slope in zip(Z.split(1), labels.split(1), found, strict=True):
        row.requires_grad_()
        torch.testing.assert_close(slope[None], torch.autograd.grad(loss(row, label), row)[0])


def test_a_learned_gamma_is_a_parameter_and_the_loss_falls_in_it():
    gamma = torch.nn.Parameter(torch.tensor(2.0))
    for kind in (FocalLoss, ProperFocalLoss, DualFocalLoss):
        loss = kind(gamma)
        assert list(loss.parameters()) == [gamma]
        assert str(loss) == f"{kind.__name__}(gamma=2)"
        torch.testing.assert_close(loss(Z, Y), kind(2.0)(Z, Y))
    (slope,) = torch.autograd.grad(FocalLoss(gamma)(Z, Y), gamma)
    step = 1e-4
    assert float(slope) == pytest.approx(
        float(FocalLoss(2 + step)(Z, Y) - FocalLoss(2 - step)(Z, Y)) / (2 * step), rel=1e-5
    )
    assert slope < 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FocalLoss(torch.tensor(2.0, requires_grad=True)), "an nn.Parameter to get a gradient. Got another"),
        (lambda: FocalLoss(torch.nn.Parameter(torch.ones(3))), "gamma must be one real number"),
        (lambda: FocalLoss(learned(-1.0)), "gamma must be a finite number >= 0. Got -1"),
        (lambda: FocalCalibrationLoss(2.0, learned()), "lam must be a number; it gets no gradient here"),
        (lambda: FocalLoss(2.0, alpha=learned(0.25)), "alpha must be a number; it gets no gradient here"),
        *(
            (lambda name=name: FocalLoss(2.0, **{name: learned([1.0, 2.0])}), f"{name} must be numbers; they get no")
            for name in ("weight", "alpha")
        ),
        (lambda: MMCELoss(learned()), "lam must be a number; it gets no gradient here"),
        (lambda: LabelSmoothingLoss(learned(0.1)), "lam must be a number; it gets no gradient here"),
        (lambda: ScheduledFocalLoss(((0, learned()),)), "gamma must be a number; it gets no gradient here"),
    ],
)
def test_what_would_get_no_gradient_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_saved_schedule_goes_on_at_its_epoch():
    loss, again = (ScheduledFocalLoss(((0, 5.0), (10, 3.0), (20, 1.0))) for _ in "ab")
    loss.start_epoch(15)
    again.load_state_dict(loss.state_dict())
    assert (again.epoch, again.gamma) == (15, 3.0)
    again.load_state_dict({})  # saved before the epoch was
    assert again.gamma == 3.0


def test_the_inverse_map_far_out():
    """Where every q (1 - q) underflows: against gradients in float64, and those that a saturated softmax has."""
    far = torch.tensor([[1e4, 0.0, -50.0], [800.0, 799.0, -2e4], [0.0, 0.0, 30.0]])
    for labels in (torch.tensor([0, 1, 2]), torch.tensor([2, 2, 0])):
        slopes = []
        for dtype in (torch.float32, torch.float64):
            z = far.to(dtype).requires_grad_()
            value = ProperFocalLoss(2.0)(z, labels)
            slopes.append(torch.autograd.grad(value, z)[0].double())
        torch.testing.assert_close(slopes[0], slopes[1], rtol=1e-4, atol=1e-7)
        torch.testing.assert_close(slopes[1].sum(-1), torch.zeros(3, dtype=torch.float64), atol=1e-12, rtol=0)
