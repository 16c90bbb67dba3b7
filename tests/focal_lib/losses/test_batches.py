"""What batches every loss takes: shapes, types of labels, class weights, ignored and soft labels, half precision."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy, one_hot

from focal_lib.losses import (
    FLSD53,
    FLSD532,
    AdaFocalLoss,
    BrierLoss,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    HessianTraceLoss,
    LabelSmoothingLoss,
    LogitLoss,
    MMCELoss,
    ProperFocalLoss,
    ScheduledFocalLoss,
)
from focal_lib.losses.base import log_prob_of_label

K = 4
DRAWS = torch.Generator().manual_seed(5)
Z = 2 * torch.randn(30, K, dtype=torch.float64, generator=DRAWS)
Y = torch.randint(K, (30,), generator=DRAWS)
T = torch.randn(30, K, dtype=torch.float64, generator=DRAWS).softmax(-1)
IMAGE = 2 * torch.randn(2, K, 2, 3, dtype=torch.float64, generator=DRAWS)
MASK = torch.randint(K, (2, 2, 3), generator=DRAWS)
HOLES = torch.where(torch.rand(2, 2, 3, generator=DRAWS) < 0.3, -100, MASK)
WEIGHT = [0.5, 1.0, 3.0, 0.2]

# name -> the loss of (reduction, options)
LOSSES = {
    "focal": lambda *args, **options: FocalLoss(2.0, *args, **options),
    "proper": lambda *args, **options: ProperFocalLoss(2.0, *args, **options),
    "flsd-53": lambda *args, **options: FLSD53(0.2, *args, **options),
    "flsd-532": lambda *args, **options: FLSD532(0.2, *args, **options),
    "scheduled": lambda *args, **options: ScheduledFocalLoss(((0, 3.0),), *args, **options),
    "dual": lambda *args, **options: DualFocalLoss(2.0, *args, **options),
    "fcl": lambda *args, **options: FocalCalibrationLoss(2.0, 0.7, *args, **options),
    "fcl-l1": lambda reduction="mean", **options: FocalCalibrationLoss(2.0, 0.7, reduction, "l1", **options),
    "brier": BrierLoss,
    "adafocal": lambda reduction="mean", **options: AdaFocalLoss(5, reduction=reduction, **options),
    "label-smoothing": lambda *args, **options: LabelSmoothingLoss(0.1, *args, **options),
}
OF_LOGITS = {name: make for name, make in LOSSES.items() if name != "label-smoothing"}
OTHERS = {"mmce": MMCELoss, "hessian": HessianTraceLoss}
each = pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)
of_logits = pytest.mark.parametrize("make", OF_LOGITS.values(), ids=OF_LOGITS)
any_loss = pytest.mark.parametrize("make", [*LOSSES.values(), *OTHERS.values()], ids=[*LOSSES, *OTHERS])


def by_hand(loss, labels, weight=None):
    """Each pixel's loss, alone, in a loop: (n, K, ...) -> (n, ...)."""
    found = torch.zeros(labels.shape, dtype=torch.float64)
    for at in itertools.product(*map(range, labels.shape)):
        row, label = IMAGE[(at[0], slice(None), *at[1:])], int(labels[at])
        if label >= 0:
            found[at] = (1 if weight is None else weight[label]) * loss.per_sample(row[None], torch.tensor([label]))[0]
    return found


@of_logits
@pytest.mark.parametrize("labels", [MASK, HOLES], ids=["all", "holes"])
def test_pixels_weights_and_ignored_labels_against_a_loop(make, labels):
    plain, counted = by_hand(make(), labels), (labels >= 0).sum()
    torch.testing.assert_close(make("none")(IMAGE, labels), plain)
    torch.testing.assert_close(make("sum")(IMAGE, labels), plain.sum())
    torch.testing.assert_close(make()(IMAGE, labels), plain.sum() / counted)
    heavy, mass = (
        by_hand(make(), labels, WEIGHT),
        sum(WEIGHT[label] for label in labels.flatten().tolist() if label >= 0),
    )
    torch.testing.assert_close(make(weight=WEIGHT)(IMAGE, labels), heavy.sum() / mass)  # as PyTorch's weight
    torch.testing.assert_close(make(alpha=WEIGHT)(IMAGE, labels), heavy.sum() / counted)  # as Lin et al.'s alpha
    torch.testing.assert_close(make("none", weight=torch.tensor(WEIGHT))(IMAGE, labels), heavy, rtol=1e-6, atol=0)


@pytest.mark.parametrize("labels", [MASK, HOLES, IMAGE.softmax(1)], ids=["all", "holes", "soft"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weight", [None, torch.tensor(WEIGHT, dtype=torch.float64)], ids=["plain", "weights"])
def test_gamma_0_is_pytorchs_cross_entropy(labels, reduction, smoothing, weight):
    expected = cross_entropy(IMAGE, labels, weight, reduction=reduction, label_smoothing=smoothing)
    options = {"weight": weight, "label_smoothing": smoothing}
    torch.testing.assert_close(FocalLoss(0.0, reduction, **options)(IMAGE, labels), expected)
    torch.testing.assert_close(ProperFocalLoss(0.0, reduction, **options)(IMAGE, labels), expected)
    torch.testing.assert_close(LabelSmoothingLoss(smoothing, reduction, weight=weight)(IMAGE, labels), expected)


@of_logits
def test_soft_labels_have_the_expected_loss(make):
    """Of mixup, or of several annotators: sum_k t_k times the loss of class k; certain ones are integer labels."""
    of_class = torch.stack([make("none")(Z, torch.full((30,), k)) for k in range(K)], -1)
    torch.testing.assert_close(make("none")(Z, T), (T * of_class).sum(-1))
    torch.testing.assert_close(make()(Z, T), (T * of_class).sum() / 30)
    weights = torch.tensor(WEIGHT, dtype=torch.float64)
    torch.testing.assert_close(make(weight=WEIGHT)(Z, T), (T * weights * of_class).sum() / 30)  # as PyTorch: by n
    torch.testing.assert_close(make("none")(Z, one_hot(Y, K).double()), make("none")(Z, Y))
    smoothed = 0.9 * one_hot(Y, K) + 0.1 / K
    torch.testing.assert_close(make("none", label_smoothing=0.1)(Z, Y), make("none")(Z, smoothed))
    torch.testing.assert_close(make()(Z.float(), T), make()(Z, T).float())  # the type is that of the logits


@each
def test_soft_labels_get_a_gradient(make):
    """Labels of a teacher that learns, too."""
    targets, loss = T.clone().requires_grad_(), make("sum")
    found = gradient(lambda t, z: loss(z, t), targets, Z)
    scores = torch.stack([loss(Z[:1], one_hot(torch.tensor([k]), K).double()) for k in range(K)])
    if make is LOSSES["label-smoothing"]:
        scores = -Z[:1].log_softmax(-1)[0] * 0.9
    torch.testing.assert_close(found[0] - found[0, 0], scores - scores[0])


def test_soft_labels_where_one_class_has_almost_all():
    """The squared distance from a class is no difference of large numbers."""
    z = torch.tensor([[25.0, 0.0, -3.0]], requires_grad=True, dtype=torch.float64)
    for loss in (BrierLoss(), FocalCalibrationLoss(2.0, 1.0), DualFocalLoss(1.0)):
        certain, label = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([0])
        torch.testing.assert_close(loss(z, certain), loss(z, label), rtol=1e-5, atol=0)
        torch.testing.assert_close(gradient(loss, z, certain), gradient(loss, z, label), rtol=1e-5, atol=0)


def gradient(loss, logits, labels):
    return torch.autograd.grad(loss(logits, labels), logits)[0]


def test_in_fifty_digits():
    """Focal loss with weights, an ignored label and soft labels, by its formula."""
    hard, soft, gamma = [0, 2, -100, 1], T[:4].tolist(), 1.7
    with mpmath.workdps(50):
        losses = []
        for row in Z[:4].tolist():
            exps = [mpmath.exp(v) for v in row]
            losses.append([-((1 - e / sum(exps)) ** gamma) * mpmath.log(e / sum(exps)) for e in exps])
        of_hard = [WEIGHT[k] * losses[i][k] for i, k in enumerate(hard) if k >= 0]
        weighted = sum(of_hard) / sum(WEIGHT[k] for k in hard if k >= 0)
        expected = sum(t * loss for i in range(4) for t, loss in zip(soft[i], losses[i], strict=True)) / 4
    found = FocalLoss(gamma, weight=WEIGHT)(Z[:4], torch.tensor(hard))
    assert float(found) == pytest.approx(float(weighted), rel=1e-14)
    assert float(FocalLoss(gamma, alpha=WEIGHT)(Z[:4], torch.tensor(hard))) == pytest.approx(
        float(sum(of_hard) / 3), rel=1e-14
    )
    assert float(FocalLoss(gamma)(Z[:4], T[:4])) == pytest.approx(float(expected), rel=1e-14)


@given(alpha=st.floats(0.01, 0.99), gamma=st.floats(0, 5))
def test_alpha_of_two_classes(alpha, gamma):
    z, y = Z[:, :2], (Y > 1).long()
    q = log_prob_of_label(z.log_softmax(-1), y).exp()
    expected = torch.where(y == 1, alpha, 1 - alpha).double() * (1 - q) ** gamma * -q.log()
    torch.testing.assert_close(FocalLoss(gamma, "none", alpha=alpha)(z, y), expected, rtol=1e-6, atol=1e-12)
    torch.testing.assert_close(FocalLoss(gamma, alpha=[1 - alpha, alpha])(z, y), FocalLoss(gamma, alpha=alpha)(z, y))


@any_loss
def test_ignored_samples_are_as_if_not_there(make):
    """Their logits get no gradient; the mean is over the others."""
    z = Z.clone().requires_grad_()
    some = torch.where(torch.arange(30) % 3 == 0, -100, Y)
    loss = make()
    slope, left = gradient(loss, z, some), some >= 0
    assert not slope[~left].any()
    alone = Z[left].requires_grad_()
    torch.testing.assert_close(loss(z, some), loss(alone, some[left]))
    torch.testing.assert_close(slope[left], gradient(loss, alone, some[left]))


@each
def test_any_label_can_be_ignored_and_all_can(make):
    loss, z = make(ignore_index=2), Z.clone().requires_grad_()
    torch.testing.assert_close(loss(Z, Y), loss(Z[Y != 2], Y[Y != 2]))
    torch.testing.assert_close(make(ignore_index=255)(Z, torch.where(Y == 2, 255, Y)), loss(Z, Y))
    assert torch.isnan(loss(z, torch.full((30,), 2)))  # as PyTorch's cross-entropy
    assert not gradient(loss, z, torch.full((30,), 2)).any()


@any_loss
def test_of_no_samples_the_mean_is_nan(make):
    """As PyTorch's cross-entropy: a batch that a filter has emptied."""
    z = Z[:0].clone().requires_grad_()
    value = make()(z, Y[:0])
    assert torch.isnan(value)
    assert torch.autograd.grad(value, z)[0].shape == (0, K)


@any_loss
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32])
def test_labels_of_any_integer_type(make, dtype):
    two = Z[:, :2]
    assert make()(two, (Y % 2).to(dtype)) == make()(two, Y % 2)


@any_loss
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(make, dtype):
    """The gradient is off by its own rounding only; under autocast, too."""
    half = Z.to(dtype).requires_grad_()
    same = half.detach().double().requires_grad_()
    loss = make()
    with torch.autocast("cpu", torch.bfloat16):
        value = loss(half, Y)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(loss(same, Y).item(), rel=1e-6)
    (slope,) = torch.autograd.grad(value, half)
    assert slope.dtype == dtype
    torch.testing.assert_close(slope.double(), gradient(loss, same, Y), rtol=torch.finfo(dtype).eps, atol=2e-7)


def test_the_gradient_of_a_confident_bfloat16():
    z = torch.tensor([[5.0, 0.0, 0.0]], dtype=torch.bfloat16, requires_grad=True)
    value = FocalLoss(2.0)(z, torch.tensor([0]))
    assert value.item() == pytest.approx(2.36666e-6, rel=1e-5)
    (slope,) = torch.autograd.grad(value, z)
    assert slope[0, 0].item() == pytest.approx(-7.02127e-6, rel=2**-8)


@any_loss
@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        (Z[:, :1], torch.zeros_like(Y), r"K >= 2 .* Got \(30, 1\)\. For one logit a sample: MultiLabelLoss"),
        (Z[:, 0], Y, r"shapes \(n, K\) and \(n,\)\. Got \(30,\) and \(30,\).* One logit a sample: MultiLabelLoss"),
        (Z, Y[:29], r"shapes \(n, K\) and \(n,\)\. Got \(30, 4\) and \(29,\)"),
        (Z, Y.float(), r"of torch\.float32\. Class numbers must be integers: labels\.long\(\)"),
        (Z, one_hot(Y, K), r"One-hot labels: labels\.argmax\(1\), or labels\.float\(\)"),
        (Z, Y[:, None], r"labels\.squeeze\(1\)\."),
        (IMAGE, MASK[:, None].float(), r"labels\.squeeze\(1\)\.long\(\)"),
        (
            IMAGE.movedim(1, -1),
            MASK,
            r"shapes \(n, K, \.\.\.\) and .* classes are dimension 1: logits\.movedim\(-1, 1\)",
        ),
        (Z, Y - 1, r"labels must lie in 0 \.\.\. 3, or be ignored, ignore_index=-100\. Got values from -1 to 2"),
        (Z, torch.where(Y == 1, 255, Y).to(torch.uint8), r"ignore_index=-100\. Got values from 0 to 255"),
        (Z.numpy(), Y, "must be tensors. Got ndarray and Tensor"),
        (Y[:, None].expand(30, 4), Y, "logits must be floating-point numbers.* Got torch.int64"),
    ],
)
def test_refusals_name_the_cure(make, logits, labels, message):
    with pytest.raises(ValueError, match=message):
        make()(logits, labels)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (
            one_hot(Y, K) + one_hot((Y + 1) % K, K).double(),
            r"float labels must sum to 1 over the classes; .*MultiLabelLoss\. Got sums from 2 to 2",
        ),
        (2 * one_hot(Y, K) - T, r"float labels must lie in \[0, 1\]"),
        (T * math.nan, r"float labels must lie in \[0, 1\]\. Got values from nan to nan"),
    ],
)
def test_soft_labels_must_be_distributions(targets, message):
    for make in LOSSES.values():
        with pytest.raises(ValueError, match=message):
            make()(Z, targets)
    with pytest.raises(ValueError, match="labels must be integers: MMCE needs"):
        MMCELoss()(Z, T)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": [1.0, 2.0]}, "weight must be 4 numbers, one a class. Got 2"),
        ({"alpha": 0.25}, "alpha must be 4 numbers, one a class. Got one, which is for two classes"),
        ({"alpha": 1.0}, r"alpha must lie in \(0, 1\)"),
        ({"alpha": True}, "alpha must be one real number. Got True"),
        ({"weight": "balanced"}, "weight must be numbers, one for each class. Got 'balanced'"),
        ({"weight": 2.0}, r"weight must have shape \(K,\), K >= 2\. Got \(\)"),
        ({"weight": [1.0, -1.0]}, r"weight must be finite, >= 0 and not all 0\. Got \[1\.0, -1\.0\]"),
        ({"weight": [0.0, 0.0]}, "not all 0"),
        ({"weight": WEIGHT, "alpha": WEIGHT}, "must have one of weight and alpha. Got both"),
        ({"label_smoothing": 1.5}, "label_smoothing must be a share, at most 1. Got 1.5"),
    ],
)
@of_logits
def test_bad_options(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)(Z, Y)


def test_weights_move_with_the_loss_and_are_saved():
    loss, again = (FocalLoss(2.0, weight=np.array(weight)) for weight in (WEIGHT, [1.0] * K))
    again.load_state_dict(loss.state_dict())
    assert again(Z, Y) == loss(Z, Y)
    assert loss.to(torch.float32).weight.dtype == torch.float32
    assert FocalLoss(2.0).state_dict() == {}


def test_a_loss_that_defines_the_loss_of_a_sample_has_all_of_it():
    class Own(LogitLoss):
        def per_sample(self, logits, labels):
            return -log_prob_of_label(torch.log_softmax(logits, -1), labels)

    for labels in (HOLES, IMAGE.softmax(1)):
        expected = cross_entropy(IMAGE, labels, torch.tensor(WEIGHT).double(), label_smoothing=0.2)
        torch.testing.assert_close(Own(weight=WEIGHT, label_smoothing=0.2)(IMAGE, labels), expected)


@pytest.mark.parametrize("options", [{}, {"weight": WEIGHT}, {"alpha": WEIGHT, "label_smoothing": 0.1}])
@of_logits
def test_a_gpu_need_not_wait(make, options):
    """All is on the GPU, and no value is looked at there: it is a GPU that has only shapes."""
    if make is LOSSES["proper"]:
        pytest.skip("the inverse of the map iterates until it is exact")
    loss, gpu = make(**options), torch.device("cuda:0")
    with FakeTensorMode():
        for name, buffer in list(loss.named_buffers()):
            setattr(loss, name, torch.empty(buffer.shape, dtype=buffer.dtype, device=gpu))
        logits = torch.empty(2, K, 3, device=gpu, dtype=torch.bfloat16)
        for labels in (torch.empty(2, 3, device=gpu, dtype=torch.uint8), torch.empty(2, K, 3, device=gpu)):
            value = loss(logits, labels)
            assert (value.device, value.dtype, value.shape) == (gpu, torch.float32, ())
