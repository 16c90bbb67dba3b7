"""Networks on two moons that see the whole distribution, and how far they lean from its truth."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import expit

from focal_lib.validation import check_number
from reproduction.studies.shared.known_truth import KnownTruth
from reproduction.studies.shared.moon_networks import MoonLoss, StackedNetworks
from reproduction.studies.shared.moons import MoonGrid

SMALLEST = 1e-8  # share of the distribution; points with less are left out of the training


def train_on_whole_moons(
    loss: MoonLoss, seeds: tuple[int, ...], grid: MoonGrid, *, epochs: int = 1000, rate: float = 0.01
) -> StackedNetworks:
    """Adam on the expected loss, over the points of the grid with their shares: no sample, so nothing to overfit.

    A seed draws the start alone. The rate falls to 0 along half a cosine. Each network is trained as it would be alone.

    Raises:
        ValueError: no seeds, epochs below 1, rate not positive.
    """
    check_number(epochs, "epochs", minimum=1)
    check_number(rate, "rate", above=0.0)
    if not seeds:
        raise ValueError("seeds must not be empty. Got none.")
    truth = grid.truth
    kept = truth.shares > SMALLEST
    x, share, p = (torch.from_numpy(part[kept]) for part in (truth.points, truth.shares, truth.posterior))
    weights = torch.stack([share * (1 - p), share * p]).repeat(1, len(seeds))  # of each label, (2, s * m)
    labels = torch.arange(2)[:, None].expand_as(weights)
    networks, criterion = StackedNetworks(seeds), loss.build()
    optimiser = torch.optim.Adam(networks.parameters(), rate)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    for _ in range(epochs):
        optimiser.zero_grad(set_to_none=True)
        logits = networks(x.expand(len(seeds), -1, -1)).flatten(0, 1)
        of_labels = torch.stack([criterion.per_sample(logits, label) for label in labels])
        (weights * of_labels).sum().backward()
        optimiser.step()
        slower.step()
    return networks


def lean(logits: np.ndarray, truth: KnownTruth) -> np.ndarray:
    """How far the probability of the likelier class lies above its truth, in the mean: (..., m) -> (...).

    Below 0 it leans towards one half, above 0 away from it.
    """
    likelier = np.where(truth.posterior > 0.5, 1.0, -1.0)
    found: np.ndarray = ((expit(logits) - truth.posterior) * likelier) @ truth.shares
    return found
