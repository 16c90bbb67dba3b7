"""Training losses against slow definitions."""

import math

import mpmath
import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from focal_lib import losses
from focal_lib.losses import (
    FLSD53,
    FLSD532,
    AdaFocalLoss,
    BrierLoss,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    MMCELoss,
    ProperFocalLoss,
    SampleFocalLoss,
    ScheduledFocalLoss,
)


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
    from focal_lib.theory.maps import focal_log_probs

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


def reference_focal(logits, label, gamma):
    """-(1-q)^gamma log q of one row, in 40 digits."""
    with mpmath.workdps(40):
        exps = [mpmath.exp(mpmath.mpf(v)) for v in logits]
        q = exps[label] / sum(exps)
        return -((1 - q) ** gamma) * mpmath.log(q), q


def slow_rows(kind, logits, labels):
    """Each loss row by row from its definition."""
    rows = []
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        _, q = reference_focal(row, label, 0)
        if kind == "flsd":
            rows.append(float(reference_focal(row, label, 5 if q < 0.2 else 3)[0]))
        else:
            exps = [mpmath.exp(v) for v in row]
            probs = [e / sum(exps) for e in exps]
            square = sum((v - (i == label)) ** 2 for i, v in enumerate(probs))
            rows.append(float(reference_focal(row, label, 2)[0] + mpmath.mpf(1.5) * square))
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize(
    ("kind", "loss"), [("flsd", FLSD53(reduction="none")), ("fcl", FocalCalibrationLoss(2.0, 1.5, reduction="none"))]
)
def test_against_a_slow_definition(kind, loss):
    logits = 3 * torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 6
    torch.testing.assert_close(loss(logits, labels), slow_rows(kind, logits, labels), rtol=1e-12, atol=1e-14)


def probabilities(row):
    exps = [math.exp(v - max(row)) for v in row]
    return [e / sum(exps) for e in exps]


def slow_dual(row, label, gamma):
    q = probabilities(row)
    below = [v for v in q if v < q[label]]
    return -((1 - q[label] + max(below, default=0.0)) ** gamma) * math.log(q[label])


def slow_mmce(logits, labels, weighted):
    """Both forms by double loops over the pairs of samples."""
    rows = [probabilities(row) for row in logits.tolist()]
    r = [max(q) for q in rows]
    c = [int(q.index(max(q)) == label) for q, label in zip(rows, labels.tolist(), strict=True)]
    m, right = len(r), sum(c)
    total = 0.0
    for i in range(m):
        for j in range(m):
            kernel = math.exp(-abs(r[i] - r[j]) / 0.4)
            if not weighted:
                total += (c[i] - r[i]) * (c[j] - r[j]) * kernel / m**2
            elif right not in (0, m):
                sides = [(1 - r[k]) / right if c[k] else -r[k] / (m - right) for k in (i, j)]
                total += sides[0] * sides[1] * kernel
    return math.sqrt(total)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0, 5.0])
def test_dual_focal_against_a_slow_definition(batch, gamma):
    logits, labels = batch
    slow = [slow_dual(row, label, gamma) for row, label in zip(logits.tolist(), labels.tolist(), strict=True)]
    torch.testing.assert_close(DualFocalLoss(gamma, "none")(logits, labels), torch.tensor(slow, dtype=torch.float64))


def test_dual_focal_ignores_ties():
    logits = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]], dtype=torch.float64)
    q = torch.softmax(logits, -1)
    expected = [-((1 - q[0, 0] + q[0, 2]) ** 2) * torch.log(q[0, 0]), -((1 - q[1, 0]) ** 2) * torch.log(q[1, 0])]
    torch.testing.assert_close(DualFocalLoss(2.0, "none")(logits, torch.tensor([0, 0])), torch.stack(expected))


@pytest.mark.parametrize("weighted", [False, True])
def test_mmce_against_a_slow_definition(batch, weighted):
    logits, labels = batch
    labels = torch.where(torch.arange(20) < 9, logits.argmax(-1), labels)  # some right, some wrong
    expected = cross_entropy(logits, labels) + 1.5 * slow_mmce(logits, labels, weighted)
    torch.testing.assert_close(MMCELoss(1.5, weighted)(logits, labels), expected)


def test_mmce_of_a_batch_of_one_kind_has_no_weighted_error():
    logits = torch.tensor([[3.0, 0.0], [0.0, 2.0]], requires_grad=True)
    value = MMCELoss(5.0)(logits, torch.tensor([0, 1]))
    torch.testing.assert_close(value, cross_entropy(logits, torch.tensor([0, 1])))
    value.backward()
    assert torch.isfinite(logits.grad).all()


def test_l1_variant_of_the_focal_calibration_loss(batch):
    logits, labels = batch
    distance = (torch.softmax(logits, -1) - one_hot(labels, 6)).abs().sum(-1)
    expected = slow_focal(logits, labels, 2.0) + 0.7 * distance
    torch.testing.assert_close(FocalCalibrationLoss(2.0, 0.7, "none", norm="l1")(logits, labels), expected)
    with pytest.raises(ValueError, match="norm must be"):
        FocalCalibrationLoss(1, 1, norm="max")


def test_sample_dependent_gammas_at_their_ends():
    q = torch.tensor([0.1999, 0.2, 0.4999, 0.5, 0.9], dtype=torch.float64)
    logits = torch.stack([torch.log(q), torch.log1p(-q)], -1)
    gammas = torch.tensor([5.0, 3.0, 3.0, 2.0, 2.0], dtype=torch.float64)
    found = FLSD532(reduction="none")(logits, torch.zeros(5, dtype=torch.long))
    torch.testing.assert_close(found, -((1 - q) ** gammas) * torch.log(q))
    with pytest.raises(ValueError, match="steps must have ends"):
        SampleFocalLoss(((0.5, 3.0), (0.2, 1.0)))


def slow_ada_focal(gammas, edges, logits, labels):
    values = []
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        q = probabilities(row)[label]
        gamma = gammas[sum(q >= edge for edge in edges)]
        values.append(-((1 - q) ** gamma if gamma > 0 else (1 + q) ** -gamma) * math.log(q))
    return torch.tensor(values, dtype=torch.float64)


def test_ada_focal_moves_gammas_by_the_calibration_gap(batch):
    loss = AdaFocalLoss(n_bins=3, rate=2.0, reduction="none")
    confidence = torch.tensor([0.4, 0.45, 0.6, 0.65, 0.9, 0.95], dtype=torch.float64)
    correct = torch.tensor([1, 1, 1, 0, 0, 0])
    loss.after_validation(confidence, correct)
    gaps = [0.425 - 1, 0.625 - 0.5, 0.925 - 0]
    expected = [math.exp(2 * gap) for gap in gaps]
    torch.testing.assert_close(loss.gammas, torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(loss.edges, torch.tensor([0.525, 0.775], dtype=torch.float64))
    torch.testing.assert_close(loss(*batch), slow_ada_focal(expected, [0.525, 0.775], *batch))


def test_ada_focal_turns_to_inverse_focal_and_is_clipped(batch):
    loss = AdaFocalLoss(n_bins=1, rate=3.0, reduction="none")
    loss.after_validation(
        torch.full((10,), 0.4), torch.ones(10)
    )  # underconfident: below the switch it becomes negative
    assert loss.gammas.item() == -0.2
    torch.testing.assert_close(loss(*batch), slow_ada_focal([-0.2], [], *batch))
    for _ in range(5):
        loss.after_validation(torch.full((10,), 0.4), torch.ones(10))
    assert loss.gammas.item() == -2.0
    for _ in range(20):  # overconfident: back through the switch, up to the limit
        loss.after_validation(torch.full((10,), 0.99), torch.zeros(10))
    assert loss.gammas.item() == 20.0


def test_ada_focal_state_is_saved():
    loss, other = AdaFocalLoss(n_bins=2), AdaFocalLoss(n_bins=2)
    loss.after_validation(torch.tensor([0.2, 0.4, 0.6, 0.8]), torch.tensor([0, 1, 0, 1]))
    other.load_state_dict(loss.state_dict())
    torch.testing.assert_close(other.gammas, loss.gammas)
    with pytest.raises(ValueError, match="at least 2 samples"):
        loss.after_validation(torch.tensor([0.5]), torch.tensor([1]))
    with pytest.raises(ValueError, match="smallest <= -switch"):
        AdaFocalLoss(initial=0.1)


@pytest.mark.parametrize("name", [n for n in losses.__all__ if n[0].isupper()])
def test_every_loss_learns_and_gives_finite_gradients(name):
    arguments = {
        "FocalLoss": (2.0,),
        "ProperFocalLoss": (2.0,),
        "DualFocalLoss": (2.0,),
        "FocalCalibrationLoss": (2.0, 1.0),
        "SampleFocalLoss": (((0.5, 3.0), (1.0, 1.0)),),
        "ScheduledFocalLoss": (((0, 2.0),),),
    }
    loss = getattr(losses, name)(*arguments.get(name, ()))
    logits = torch.zeros(12, 3, requires_grad=True)
    labels = torch.arange(12) % 3
    optimiser = torch.optim.SGD([logits], lr=5.0)
    first = loss(logits, labels).item()
    for _ in range(20):
        optimiser.zero_grad()
        value = loss(logits, labels)
        value.backward()
        optimiser.step()
    assert torch.isfinite(logits).all()
    assert value.item() < first


@pytest.mark.parametrize(
    "loss",
    [
        FLSD53(),
        FLSD532(),
        DualFocalLoss(2.0),
        MMCELoss(1.0),
        AdaFocalLoss(),
        FocalCalibrationLoss(2.0, 0.5),
        FocalCalibrationLoss(0.0, 1.0),
        ScheduledFocalLoss(((0, 3.0),)),
    ],
)
def test_new_losses_have_the_right_gradient(loss):
    logits = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    labels = torch.tensor([0, 1, 2, 3, 0])
    assert torch.autograd.gradcheck(lambda z: loss(z, labels), (logits,))


@pytest.mark.parametrize("loss", [FLSD53(), FocalCalibrationLoss(0.5, 1.0), ScheduledFocalLoss(((0, 0.5),))])
def test_new_losses_are_finite_in_float32(loss):
    logits = torch.tensor([[200.0, -200.0], [-200.0, 200.0], [0.0, 0.0]], requires_grad=True)
    value = loss(logits, torch.tensor([0, 0, 1]))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(logits.grad).all()


def test_schedule_changes_gamma_at_its_epochs():
    loss = ScheduledFocalLoss(((0, 5), (100, 3), (250, 2)))
    seen = []
    for epoch in (0, 99, 100, 249, 250, 349):
        loss.start_epoch(epoch)
        seen.append(loss.gamma)
    assert seen == [5, 5, 3, 3, 2, 2]


@pytest.mark.parametrize("schedule", [(), ((1, 3),), ((0, 5), (0, 3)), ((0, 5), (10, 3), (5, 2))])
def test_bad_schedule(schedule):
    with pytest.raises(ValueError, match="schedule"):
        ScheduledFocalLoss(schedule)


def test_other_bad_arguments():
    with pytest.raises(ValueError, match="steps must have ends"):
        FLSD53(2.0)
    with pytest.raises(ValueError, match="lam must be"):
        FocalCalibrationLoss(1.0, -0.1)
    with pytest.raises(ValueError, match="epoch must be"):
        ScheduledFocalLoss(((0, 1.0),)).start_epoch(-1)


def test_policy_of_flsd_at_its_threshold():
    q = torch.tensor([0.19, 0.21], dtype=torch.float64)
    logits = torch.stack([torch.log(q), torch.log1p(-q)], -1)
    expected = -((1 - q) ** torch.tensor([5.0, 3.0])) * torch.log(q)
    torch.testing.assert_close(FLSD53(reduction="none")(logits, torch.tensor([0, 0])), expected)
