"""Focal losses, dual focal loss and FCL against slow definitions."""

import math

import mpmath
import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from focal_lib.losses import (
    FLSD53,
    FLSD532,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    ProperFocalLoss,
    SampleFocalLoss,
    ScheduledFocalLoss,
)
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import focal_loss_values
from tests.focal_lib.losses.conftest import probabilities

LOGITS = 3 * torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(40) % 6


def slow_focal(logits, labels, gamma):
    """Row by row from the probabilities."""
    q = [row[label] for row, label in zip(torch.softmax(logits, -1), labels, strict=True)]
    return torch.stack([-((1 - v) ** gamma) * torch.log(v) for v in q])


def slow_dual(row, label, gamma):
    q = probabilities(row)
    below = [v for v in q if v < q[label]]
    return -((1 - q[label] + max(below, default=0.0)) ** gamma) * math.log(q[label])


def of_two_classes(q):
    """Logits of probabilities q of the first class, and its labels."""
    q = torch.tensor(q, dtype=torch.float64)
    return torch.stack([torch.log(q), torch.log1p(-q)], -1), torch.zeros(len(q), dtype=torch.long), q


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 3.0, 7.0])
def test_focal_and_dual_focal(batch, gamma):
    torch.testing.assert_close(FocalLoss(gamma, "none")(*batch), slow_focal(*batch, gamma))
    slow = [slow_dual(row, label, gamma) for row, label in zip(*(part.tolist() for part in batch), strict=True)]
    torch.testing.assert_close(DualFocalLoss(gamma, "none")(*batch), torch.tensor(slow, dtype=torch.float64))


@pytest.mark.parametrize("q", [1e-4, 0.3, 0.999])
@pytest.mark.parametrize("gamma", [0.5, 7.0])
def test_the_loss_is_that_of_theory(q, gamma):
    logits = torch.tensor([[math.log(q), math.log1p(-q)]], dtype=torch.float64)
    found = float(FocalLoss(gamma)(logits, torch.tensor([0])))
    assert found == pytest.approx(float(focal_loss_values(q, gamma)), rel=1e-12)


def test_gamma_zero_is_cross_entropy(batch):
    for kind in (FocalLoss, ProperFocalLoss):
        torch.testing.assert_close(kind(0)(*batch), cross_entropy(*batch))


def test_proper_part_of_the_mapped_prediction_is_the_focal_loss(batch):
    mapped = focal_log_probs(batch[0], 2.0)
    torch.testing.assert_close(ProperFocalLoss(2.0, "none")(mapped, batch[1]), slow_focal(*batch, 2.0))


@pytest.mark.parametrize(
    ("loss", "q", "gammas"),
    [
        (FLSD53(reduction="none"), [0.19, 0.21], [5, 3]),
        (FLSD532(reduction="none"), [0.1999, 0.2, 0.4999, 0.5, 0.9], [5, 3, 3, 2, 2]),
    ],
)
def test_sample_dependent_gammas_at_their_ends(loss, q, gammas):
    logits, labels, q = of_two_classes(q)
    torch.testing.assert_close(loss(logits, labels), -((1 - q) ** torch.tensor(gammas)) * torch.log(q))


def test_schedule_changes_gamma_at_its_epochs():
    loss = ScheduledFocalLoss(((0, 5), (100, 3), (250, 2)))
    seen = []
    for epoch in (0, 99, 100, 249, 250, 349):
        loss.start_epoch(epoch)
        seen.append(loss.gamma)
    assert seen == [5, 5, 3, 3, 2, 2]


def test_dual_focal_ignores_ties():
    logits = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]], dtype=torch.float64)
    q = torch.softmax(logits, -1)
    expected = [-((1 - q[0, 0] + q[0, 2]) ** 2) * torch.log(q[0, 0]), -((1 - q[1, 0]) ** 2) * torch.log(q[1, 0])]
    torch.testing.assert_close(DualFocalLoss(2.0, "none")(logits, torch.tensor([0, 0])), torch.stack(expected))


def test_l1_variant_of_the_focal_calibration_loss(batch):
    distance = (torch.softmax(batch[0], -1) - one_hot(batch[1], 6)).abs().sum(-1)
    found = FocalCalibrationLoss(2.0, 0.7, "none", norm="l1")(*batch)
    torch.testing.assert_close(found, slow_focal(*batch, 2.0) + 0.7 * distance)


@pytest.mark.parametrize(
    ("loss", "gamma_of", "lam"),
    [
        (FLSD53(reduction="none"), lambda q: 5 if q < 0.2 else 3, 0),
        (FocalCalibrationLoss(2, 1.5, "none"), lambda q: 2, 1.5),
    ],
)
def test_in_forty_digits(loss, gamma_of, lam):
    rows = []
    with mpmath.workdps(40):
        for row, label in zip(LOGITS.tolist(), LABELS.tolist(), strict=True):
            exps = [mpmath.exp(mpmath.mpf(v)) for v in row]
            probs = [v / sum(exps) for v in exps]
            q, square = probs[label], sum((v - (i == label)) ** 2 for i, v in enumerate(probs))
            rows.append(float(-((1 - q) ** gamma_of(q)) * mpmath.log(q) + lam * square))
    expected = torch.tensor(rows, dtype=torch.float64)
    torch.testing.assert_close(loss(LOGITS, LABELS), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FocalLoss(-1), "gamma must be a finite number >= 0"),
        (lambda: FLSD53(2.0), "steps must have ends"),
        (lambda: SampleFocalLoss(((0.5, 3.0), (0.2, 1.0))), "steps must have ends"),
        (lambda: FocalCalibrationLoss(1.0, -0.1), "lam must be"),
        (lambda: FocalCalibrationLoss(1, 1, norm="max"), "norm must be"),
        *[
            (lambda pairs=pairs: ScheduledFocalLoss(pairs), "schedule must have increasing epochs")
            for pairs in ((), ((1, 3),), ((0, 5), (0, 3)), ((0, 5), (10, 3), (5, 2)))
        ],
        (lambda: ScheduledFocalLoss(((0, 1.0),)).start_epoch(-1), "epoch must be"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_said_of_float32_is_so():
    """Of log_softmax's rounding near probability 1; the loss of float64 logits is exact: (e^-m / (1 + e^-m))^2 ..."""
    loss = FocalLoss(2.0, reduction="none")
    margin = torch.arange(0, 41) / 2
    pairs, ones = torch.stack([torch.zeros_like(margin), margin], 1), torch.ones(41, dtype=torch.int64)
    m = margin.double()
    exact = (torch.exp(-m) / (1 + torch.exp(-m))) ** 2 * torch.log1p(torch.exp(-m))
    off = loss(pairs, ones).double() / exact - 1
    assert off[m <= 13].abs().max() < 0.03
    assert float(off[m == 15]) == pytest.approx(0.6, abs=0.1)
    assert (off[m >= 17] == -1).all()
    torch.testing.assert_close(loss(pairs.double(), ones)[m <= 17], exact[m <= 17], rtol=1e-7, atol=0)
