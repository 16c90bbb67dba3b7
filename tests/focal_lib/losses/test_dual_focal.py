"""Dual focal loss."""

import math

import pytest
import torch

from focal_lib.losses import DualFocalLoss
from tests.focal_lib.losses.slow import probabilities


def slow_dual(row, label, gamma):
    q = probabilities(row)
    below = [v for v in q if v < q[label]]
    return -((1 - q[label] + max(below, default=0.0)) ** gamma) * math.log(q[label])


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
