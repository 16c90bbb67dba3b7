"""The Brier score as a loss."""

import torch
from torch.nn.functional import one_hot

from focal_lib.losses import BrierLoss


def test_brier(batch):
    logits, labels = batch
    slow = ((torch.softmax(logits, -1) - one_hot(labels, 6)) ** 2).sum(-1)
    torch.testing.assert_close(BrierLoss("none")(logits, labels), slow)
