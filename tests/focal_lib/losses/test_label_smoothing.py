"""Label smoothing and the Brier score by their definitions."""

import pytest
import torch
from torch.nn.functional import one_hot

from focal_lib.losses import BrierLoss, LabelSmoothingLoss


def test_brier(batch):
    slow = ((torch.softmax(batch[0], -1) - one_hot(batch[1], 6)) ** 2).sum(-1)
    torch.testing.assert_close(BrierLoss("none")(*batch), slow)


@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
def test_cross_entropy_to_smoothed_labels(batch, lam):
    target = (1 - lam) * one_hot(batch[1], 6) + lam / 6
    slow = -(target * torch.log_softmax(batch[0], -1)).sum(-1).mean()
    torch.testing.assert_close(LabelSmoothingLoss(lam)(*batch), slow)


def test_bad_smoothing(batch):
    for lam, message in ((-0.1, "lam must be a finite number >= 0"), (1.5, r"lam must be a share, at most 1. Got 1.5")):
        with pytest.raises(ValueError, match=message):
            LabelSmoothingLoss(lam)
    with pytest.raises(ValueError, match="must have shapes"):
        LabelSmoothingLoss()(batch[0], batch[1][:3])
