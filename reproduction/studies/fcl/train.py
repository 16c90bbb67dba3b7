"""Networks of many seeds trained together: on pooled images, and on the whole distribution of two moons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import torch
from scipy.special import expit
from torch import Tensor

from focal_lib.losses.base import LogitLoss
from focal_lib.validation import check_number
from reproduction.engine import data
from reproduction.engine.fit import pixel_scale
from reproduction.studies.fcl.plan import TrainedLoss
from reproduction.studies.shared.known_truth import KnownTruth
from reproduction.studies.shared.moon_networks import MoonLoss, StackedNetworks
from reproduction.studies.shared.moons import MoonGrid

HIDDEN, BATCH, RATE = 100, 128, 1e-3
WATCHED = 2000  # test images that are looked at after every epoch


@dataclass(frozen=True)
class Images:
    """Standardised pixels float32 and labels, stacked over seeds.

    Attributes:
        train, validation: (s, n, d) and (s, n).
        test: (s, t, d) pixels, as each seed standardises them, and labels (t,), the same for all.
    """

    train: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    classes: int


def pool(images: np.ndarray) -> np.ndarray:
    """Means of blocks of 2 x 2 pixels: (n, H, W, C) -> (n, H/2, W/2, C); an odd last row or column is left out."""
    high, wide = images.shape[1] // 2 * 2, images.shape[2] // 2 * 2
    blocks = images[:, :high, :wide].astype(np.float32)
    return (blocks[:, ::2, ::2] + blocks[:, 1::2, ::2] + blocks[:, ::2, 1::2] + blocks[:, 1::2, 1::2]) / 4


@cache
def load_pooled(dataset: str, seeds: tuple[int, ...], n_train: int, n_validation: int) -> Images:
    """A data set's images at half of their width and height; a seed draws the training and validation images.

    Raises:
        ValueError: no seeds, more images than there are.
        FileNotFoundError: a data set that is nowhere to be had.
    """
    if not seeds:
        raise ValueError("seeds must not be empty. Got none.")
    whole, parts = data.load(dataset), []
    for seed in seeds:
        split = data.split(whole, n_train, n_validation, seed)
        mean, std = pixel_scale(split[0])
        parts.append([((pool(part.inputs) / 255 - mean) / std).reshape(len(part), -1) for part in split])
        parts[-1] += [part.labels for part in split]
    train, validation, test, of_train, of_validation = (
        torch.from_numpy(np.stack([part[i] for part in parts])) for i in range(5)
    )
    return Images(
        (train, of_train), (validation, of_validation), (test, torch.from_numpy(parts[0][5])), int(whole.classes)
    )


@dataclass(frozen=True)
class Trained:
    """What networks of one loss, a network a seed, came to.

    Attributes:
        validation, test: logits (s, n, K), after the last epoch.
        curves: a row each seed and epoch, 0 before the first: loss, the network's own, on watched test images; error
            there in per cent.
        train_error: in per cent after the last epoch, (s,).
    """

    loss: TrainedLoss
    seeds: tuple[int, ...]
    validation: np.ndarray
    test: np.ndarray
    curves: pd.DataFrame
    train_error: np.ndarray


def train_on_images(
    loss: TrainedLoss, images: Images, seeds: tuple[int, ...], epochs: int, hidden: int = HIDDEN
) -> Trained:
    """One hidden layer, Adam, batches that a seed orders: runs of one seed differ in their loss alone.

    The means of the networks' losses are added, and Adam works entry by entry: each network is trained as it would be
    alone.

    Raises:
        ValueError: epochs or hidden units below 1; seeds that are not those of the images in number.
    """
    check_number(epochs, "epochs", minimum=1)
    check_number(hidden, "hidden", minimum=1)
    x, labels = images.train
    if len(seeds) != len(x):
        raise ValueError(f"seeds must be as many as the images have, {len(x)}. Got {len(seeds)}.")
    networks = StackedNetworks(seeds, (x.shape[-1], hidden, images.classes), torch.float32)
    criterion, optimiser = loss.build(), torch.optim.Adam(networks.parameters(), RATE)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    each = torch.arange(len(seeds))[:, None]
    curves = [_look(networks, criterion, images, seeds, 0)]
    for epoch in range(1, epochs + 1):
        order = torch.stack([torch.randperm(x.shape[1], generator=g) for g in generators])
        for index in order.split(BATCH, dim=1):
            logits, wanted = networks(x[each, index]).flatten(0, 1), labels[each, index].flatten()
            optimiser.zero_grad(set_to_none=True)
            (criterion.per_sample(logits, wanted).sum() / index.shape[1]).backward()
            optimiser.step()
        curves.append(_look(networks, criterion, images, seeds, epoch))
    with torch.no_grad():
        wrong = networks(x).argmax(-1) != labels
        validation, test = (networks(part).numpy() for part in (images.validation[0], images.test[0]))
    return Trained(
        loss, seeds, validation, test, pd.concat(curves, ignore_index=True), 100 * wrong.float().mean(1).numpy()
    )


def _look(
    networks: StackedNetworks, criterion: LogitLoss, images: Images, seeds: tuple[int, ...], epoch: int
) -> pd.DataFrame:
    """Own loss and error on watched test images, a row a seed."""
    x, labels = images.test[0][:, :WATCHED], images.test[1][:WATCHED]
    with torch.no_grad():
        logits = networks(x)
        own = [float(criterion.per_sample(one.double(), labels).mean()) for one in logits]
        error = 100 * (logits.argmax(-1) != labels).float().mean(1)
    return pd.DataFrame({"seed": seeds, "epoch": epoch, "loss": own, "error": error.numpy()})


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
