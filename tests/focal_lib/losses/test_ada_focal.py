"""AdaFocal: gammas by bin and how they move."""

import math

import pytest
import torch

from focal_lib.losses import AdaFocalLoss
from tests.focal_lib.losses.conftest import probabilities


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
