"""A coin, and one logit that is trained on its throws."""

from __future__ import annotations

import numpy as np
import torch

from focal_lib.losses.by_name import build

HEADS, THROWS = 0.7, 1000


def reported(seed: int, gamma: float) -> float:
    """The probability of heads after training with focal loss."""
    labels = torch.from_numpy(np.random.default_rng(seed).random(THROWS) < HEADS).long()
    logit, loss = torch.zeros(1, requires_grad=True), build("focal", gamma)
    optimiser = torch.optim.Adam([logit], lr=0.1)
    for _ in range(100):
        optimiser.zero_grad()
        loss(torch.stack([-logit, logit], -1).expand(THROWS, 2) / 2, labels).backward()
        optimiser.step()
    return float(torch.sigmoid(logit.detach()))
