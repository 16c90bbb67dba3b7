"""From a plan to a trained network, its test images and what it says of them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss
from focal_lib.losses.by_name import build
from focal_lib.losses.multi_label import MultiLabelLoss
from reproduction.engine import data
from reproduction.engine.data.dataset import Split
from reproduction.engine.data.images import CLASSES
from reproduction.engine.recipes import Recipe
from reproduction.engine.trainer import Trainer, pick_device, to_tensors
from reproduction.studies.localisation.canvases import LocatedImages, garment_canvases
from reproduction.studies.localisation.chest_xrays import chest_xrays
from reproduction.studies.localisation.networks import NETWORKS
from reproduction.studies.localisation.plan import CHEST, ONE, SEVERAL, Plan

_GARMENTS = {ONE: (1, 1), SEVERAL: (0, 3)}  # fewest, most


@dataclass(frozen=True)
class Outcome:
    """A network after its training, in evaluation mode, with logits float32 (n, L) of its test images."""

    plan: Plan
    model: nn.Module = field(repr=False)
    inputs: Tensor = field(repr=False)  # the test images as the network takes them, (n, 1, S, S)
    test: LocatedImages = field(repr=False)
    logits: np.ndarray = field(repr=False)


def located_images(plan: Plan) -> tuple[LocatedImages, LocatedImages]:
    """Training and test images of a plan: canvases are drawn by its seed, of X-rays so many are.

    Raises:
        FileNotFoundError: a data set that is nowhere to be had. ValueError: files with the wrong content.
    """
    if plan.setting == CHEST:
        return chest_xrays(plan.n_train, plan.n_test, plan.seed)
    return _drawn(plan.setting, plan.seed, plan.n_train, plan.n_test)


@functools.lru_cache(maxsize=1)
def _drawn(setting: str, seed: int, n_train: int, n_test: int) -> tuple[LocatedImages, LocatedImages]:
    """Canvases of garments, kept for the next loss."""
    fewest, most = _GARMENTS[setting]
    found, sizes = data.load("fashion-mnist"), {"fewest": fewest, "most": most}
    train, test = (
        garment_canvases(part, n, (seed, side), CLASSES, **sizes)
        for side, (part, n) in enumerate(((found.train, n_train), (found.test, n_test)))
    )
    return train, test


def train(plan: Plan, images: tuple[LocatedImages, LocatedImages] | None = None) -> Outcome:
    """Train one network on the CPU, by Adam with a rate that rises and falls; the last epoch is kept.

    Where images have one label the loss is of a softmax, else of each label by itself. Plans that differ in the loss
    alone share images, first weights and the order of batches.

    Args:
        images: to train on and to test with; default those of the plan.

    Raises:
        FileNotFoundError, ValueError: as located_images. NonFiniteLoss: the loss became NaN or infinite.
    """
    where = pick_device("cpu")
    torch.set_deterministic_debug_mode("error")
    train_images, test = images or located_images(plan)
    mean, std = float(train_images.images.mean()) / 255, float(train_images.images.std()) / 255
    single = plan.setting == ONE
    labels = train_images.labels.argmax(-1) if single else train_images.labels
    inputs, targets = to_tensors(Split(train_images.images, labels), where, mean, std)
    test_inputs, _ = to_tensors(Split(test.images, test.labels), where, mean, std)
    torch.manual_seed(plan.seed)
    model = NETWORKS[plan.network](1, test.images.shape[1], len(test.names))
    model = model.to(memory_format=torch.channels_last)
    loss = build(plan.loss, plan.gamma, plan.lam)
    assert isinstance(loss, LogitLoss)
    recipe = Recipe("the book's own", "adam", 1e-2, 64, max(1, plan.epochs), one_cycle=0.3, precision="float32")
    generator = torch.Generator().manual_seed(plan.seed)
    trainer = Trainer(model, loss if single else MultiLabelLoss(loss), recipe, generator, len(targets))
    for _ in range(plan.epochs):
        trainer.train_epoch(inputs, targets)
    return Outcome(plan, model, test_inputs, test, trainer.logits(test_inputs).numpy())
