"""Several small networks trained at once: the same steps as one after another, in one set of kernels.

A small network leaves a GPU idle between kernels. Stacked, S networks cost little more than one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from focal_lib.losses import AdaFocalLoss, ScheduledFocalLoss
from focal_lib.losses.base import LogitLoss
from focal_lib.training.crops import augmented, draw_crops
from focal_lib.training.trainer import NonFiniteLoss, Trainer, autocast, make_optimiser, make_schedule

__all__ = ["ManyTrainer"]


class ManyTrainer:
    """Trainers with networks, losses and recipes of one kind, run in step; each keeps its own random state.

    Raises:
        ValueError: networks with buffers (batch normalisation), or a loss that is no mean over rows or that learns
            from validation data: their runs must go one after another.
    """

    def __init__(self, trainers: Sequence[Trainer]) -> None:
        first = trainers[0]
        if any(True for _ in first.model.buffers()):
            raise ValueError("networks to train at once must have no buffers. Got batch normalisation or the like.")
        if not isinstance(first.loss, LogitLoss) or isinstance(first.loss, AdaFocalLoss):
            raise ValueError(f"a loss to train at once must be a mean over rows. Got {type(first.loss).__name__}.")
        self.trainers, self.loss, self.recipe = list(trainers), first.loss, first.recipe
        self.weights, _ = stack_module_state([t.model for t in trainers])  # name -> (S, ...)
        skeleton = copy.deepcopy(first.model).to("meta")
        run = vmap(lambda weights, batch: functional_call(skeleton, weights, (batch,)))
        on_gpu = next(iter(self.weights.values())).is_cuda
        self.forward = torch.compile(run) if on_gpu else run
        self.optimiser = make_optimiser(list(self.weights.values()), first.recipe)
        self.schedule = make_schedule(self.optimiser, first.recipe)

    def train_epoch(self, images: Tensor, labels: Tensor) -> Tensor:
        """One pass over each network's own data, (S, n, ...) and (S, n); returns the S mean losses.

        Raises:
            NonFiniteLoss: naming the networks.
        """
        count, n = labels.shape
        if isinstance(self.loss, ScheduledFocalLoss):
            self.loss.set_epoch(self.trainers[0].epoch)
        order = torch.stack([torch.randperm(n, generator=t.generator) for t in self.trainers]).to(images.device)
        if self.recipe.augment:
            crops = torch.stack([draw_crops(n, t.generator) for t in self.trainers]).to(images.device)
        which = torch.arange(count, device=images.device)[:, None]
        total = torch.zeros(count, device=images.device)
        for index in order.split(self.recipe.batch_size, dim=1):  # (S, B)
            batch = images[which, index]  # (S, B, ...)
            if self.recipe.augment:
                batch = augmented(batch.flatten(0, 1), crops[which, index].flatten(0, 1)).unflatten(0, index.shape)
            with autocast(images.device):
                logits = self.forward(self.weights, batch)  # (S, B, K)
            rows = self.loss.per_sample(logits.float().flatten(0, 1), labels[which, index].flatten())
            losses = rows.unflatten(0, index.shape).mean(1)  # (S,)
            self.optimiser.zero_grad(set_to_none=True)
            losses.sum().backward()
            self.optimiser.step()
            total += losses.detach() * index.shape[1]
        if not torch.isfinite(total).all():
            bad = torch.isfinite(total).logical_not().nonzero()[:, 0].tolist()
            raise NonFiniteLoss(f"the training losses must stay finite. Got others for networks {bad} of {count}.")
        self.schedule.step()
        for trainer in self.trainers:
            trainer.epoch += 1
        return total / n

    @torch.no_grad()
    def hand_back(self) -> None:
        """Copy the weights into the trainers' own networks."""
        for s, trainer in enumerate(self.trainers):
            for name, weight in trainer.model.named_parameters():
                weight.copy_(self.weights[name][s])
