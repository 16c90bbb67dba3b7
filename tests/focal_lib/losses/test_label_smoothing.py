"""Label smoothing by its definition."""

import pytest
import torch
from torch.nn.functional import one_hot

from focal_lib.losses import LabelSmoothingLoss


@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
def test_cross_entropy_to_smoothed_labels(batch, lam):
    logits, labels = batch
    target = (1 - lam) * one_hot(labels, 6) + lam / 6
    slow = -(target * torch.log_softmax(logits, -1)).sum(-1).mean()
    torch.testing.assert_close(LabelSmoothingLoss(lam)(logits, labels), slow)


def test_bad_smoothing(batch):
    with pytest.raises(ValueError, match="lam must be a finite number >= 0"):
        LabelSmoothingLoss(-0.1)
    with pytest.raises(ValueError, match=r"lam must be a share, at most 1. Got 1.5"):
        LabelSmoothingLoss(1.5)
    with pytest.raises(ValueError, match="must have shapes"):
        LabelSmoothingLoss()(batch[0], batch[1][:3])
