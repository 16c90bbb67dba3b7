"""Focal losses, with fixed, scheduled and sample-dependent gamma, against slow definitions."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from focal_lib.losses import (
    FLSD53,
    FLSD532,
    FocalLoss,
    ProperFocalLoss,
    SampleFocalLoss,
    ScheduledFocalLoss,
)
from focal_lib.theory.proper import focal_loss_values
from tests.focal_lib.losses.slow import reference_focal, slow_focal


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 3.0, 7.0])
def test_focal(batch, gamma):
    torch.testing.assert_close(FocalLoss(gamma, "none")(*batch), slow_focal(*batch, gamma))


@pytest.mark.parametrize("q", [1e-4, 0.3, 0.999])
@pytest.mark.parametrize("gamma", [0.5, 7.0])
def test_the_loss_is_that_of_theory(q, gamma):
    logits = torch.tensor([[math.log(q), math.log1p(-q)]], dtype=torch.float64)
    found = float(FocalLoss(gamma)(logits, torch.tensor([0])))
    assert found == pytest.approx(float(focal_loss_values(q, gamma)), rel=1e-12)


def test_gamma_zero_is_cross_entropy(batch):
    torch.testing.assert_close(FocalLoss(0)(*batch), cross_entropy(*batch))
    torch.testing.assert_close(ProperFocalLoss(0)(*batch), cross_entropy(*batch))


def test_proper_part_of_the_mapped_prediction_is_the_focal_loss(batch):
    from focal_lib.theory.maps import focal_log_probs

    logits, labels = batch
    mapped = focal_log_probs(logits, 2.0)
    torch.testing.assert_close(ProperFocalLoss(2.0, "none")(mapped, labels), slow_focal(logits, labels, 2.0))


def test_sample_dependent_gammas_at_their_ends():
    q = torch.tensor([0.1999, 0.2, 0.4999, 0.5, 0.9], dtype=torch.float64)
    logits = torch.stack([torch.log(q), torch.log1p(-q)], -1)
    gammas = torch.tensor([5.0, 3.0, 3.0, 2.0, 2.0], dtype=torch.float64)
    found = FLSD532(reduction="none")(logits, torch.zeros(5, dtype=torch.long))
    torch.testing.assert_close(found, -((1 - q) ** gammas) * torch.log(q))
    with pytest.raises(ValueError, match="steps must have ends"):
        SampleFocalLoss(((0.5, 3.0), (0.2, 1.0)))


def test_policy_of_flsd_at_its_threshold():
    q = torch.tensor([0.19, 0.21], dtype=torch.float64)
    logits = torch.stack([torch.log(q), torch.log1p(-q)], -1)
    expected = -((1 - q) ** torch.tensor([5.0, 3.0])) * torch.log(q)
    torch.testing.assert_close(FLSD53(reduction="none")(logits, torch.tensor([0, 0])), expected)


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


def test_flsd53_in_forty_digits():
    logits = 3 * torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 6
    rows = []
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        _, q = reference_focal(row, label, 0)
        rows.append(float(reference_focal(row, label, 5 if q < 0.2 else 3)[0]))
    torch.testing.assert_close(
        FLSD53(reduction="none")(logits, labels), torch.tensor(rows, dtype=torch.float64), rtol=1e-12, atol=1e-14
    )


def test_bad_arguments():
    with pytest.raises(ValueError, match="gamma must be a finite number >= 0"):
        FocalLoss(-1)
    with pytest.raises(ValueError, match="steps must have ends"):
        FLSD53(2.0)
    with pytest.raises(ValueError, match="epoch must be"):
        ScheduledFocalLoss(((0, 1.0),)).start_epoch(-1)
