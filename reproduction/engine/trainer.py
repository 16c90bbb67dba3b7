"""The training loop: data resident on the device, one permutation an epoch, everything seeded."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.losses.base import TrainingLoss
from reproduction.engine.data.dataset import Split
from reproduction.engine.precision import autocast, give_float32_head, pick_precision
from reproduction.engine.recipes import Recipe
from reproduction.engine.step import Replay, compiled, portable_state, take_step, use_fused_update

# Steps of an epoch before one is recorded: as many as PyTorch's own recipe has. What the loss changed between epochs is
# compiled in them, which cannot be done while a graph is recorded.
WARM_UP = 3
PADDING = 4  # pixels around an image, before a crop of its own size


class NonFiniteLoss(RuntimeError):
    """The training loss became NaN or infinite."""


def pick_device(device: str = "auto") -> torch.device:
    """'auto' is the GPU where there is one.

    Raises:
        ValueError: no such name, or a GPU that this machine lacks.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise ValueError(f"device must be auto, cpu, cuda or cuda:<number>. Got {device!r}.")
    found, count = torch.device(device), torch.cuda.device_count()
    if found.type == "cuda" and (found.index or 0) >= count:
        raise ValueError(f"device must be there: this machine has {count} GPUs. Got {device!r}.")
    return found


def to_tensors(part: Split, device: torch.device, mean: float, std: float) -> tuple[Tensor, Tensor]:
    """Inputs and labels (n,) on the device; images standardised, float (n, C, H, W), channels last in memory."""
    inputs = torch.from_numpy(part.inputs)
    if part.inputs.dtype == np.uint8:
        images = (inputs.permute(0, 3, 1, 2).float() / 255 - mean) / std
        inputs = images.contiguous(memory_format=torch.channels_last)
    return inputs.to(device), torch.from_numpy(part.labels).to(device)


def draw_crops(n: int, generator: torch.Generator) -> Tensor:
    """For each of n images: row and column of the crop, 0 to 2 PADDING, and whether it is flipped: (n, 3)."""
    shifts = torch.randint(2 * PADDING + 1, (n, 2), generator=generator)
    return torch.cat([shifts, torch.randint(2, (n, 1), generator=generator)], -1)


def augmented(images: Tensor, crops: Tensor) -> Tensor:
    """Each image (n, C, H, W) cropped after zero padding, and flipped, as drawn: same shape, on the same device."""
    n, _, height, width = images.shape
    dy, dx, flip = crops[:, :, None].unbind(1)  # (n, 1) each
    x = torch.arange(width, device=images.device)
    rows = dy + torch.arange(height, device=images.device)  # (n, H)
    columns = dx + torch.where(flip == 1, width - 1 - x, x)  # (n, W)
    padded = nn.functional.pad(images, (PADDING,) * 4).permute(0, 2, 3, 1)  # (n, H + 8, W + 8, C)
    which = torch.arange(n, device=images.device)[:, None, None]
    return padded[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)  # channels last in memory


class BestWeights:
    """Of the epochs offered: the weights with the highest validation accuracy, the earliest of equals (M20 D)."""

    def __init__(self) -> None:
        self.epoch = 0
        self.accuracy = -1.0
        self.weights: dict[str, Any] = {}

    def offer(self, epoch: int, accuracy: float, model: nn.Module) -> None:
        """Copy the weights if they are better than those kept."""
        if accuracy > self.accuracy:
            weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
            self.epoch, self.accuracy, self.weights = epoch, accuracy, weights

    def give_to(self, model: nn.Module) -> None:
        """Put the weights kept into the network, if any were offered."""
        if self.weights:
            model.load_state_dict(self.weights)

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "accuracy": self.accuracy, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.accuracy = int(state["epoch"]), float(state["accuracy"])
        self.weights = dict(state["weights"])


class Trainer:
    """A network, its optimiser and its random state: all that a checkpoint must hold."""

    def __init__(
        self,
        model: nn.Module,
        loss: TrainingLoss,
        recipe: Recipe,
        generator: torch.Generator,
        samples: int,
        way: str = "plain",
        backend: str = "inductor",
    ) -> None:
        """A fresh trainer on the device of the model.

        Args:
            samples: to train on; from them a schedule that changes within an epoch has its length.
            way: to do the steps, of `step.WAYS`; backend: that compiles them.
        """
        self.model, self.recipe = model, recipe
        device = self._device
        self.loss = loss.to(device)
        self.precision = pick_precision(recipe.precision, device)
        if self.precision == "bf16":
            give_float32_head(model)
        self.way = way
        self.fast_objective = self.objective if way == "plain" else compiled(self.objective, backend)
        self.stream = torch.cuda.Stream(device) if way == "graph" else None
        self.generator = generator  # of permutations and crops; on the CPU, so that devices agree
        self.optimiser = make_optimiser(list(model.parameters()), recipe)
        self.schedule = make_schedule(self.optimiser, recipe, samples)
        self._use_fused_update()
        self.best = BestWeights() if recipe.keep == "best" else None
        self.epoch = 0

    def train_epoch(self, images: Tensor, labels: Tensor) -> float:
        """One pass over (n, C, H, W), (n,); returns the mean loss.

        Raises:
            NonFiniteLoss: before the epoch is counted, so that its checkpoint stays good.
        """
        self.model.train()
        self.loss.start_epoch(self.epoch)
        total = torch.zeros((), device=images.device)
        order = torch.randperm(len(labels), generator=self.generator).to(images.device)  # moved once an epoch
        if self.recipe.last_batch == "drop":
            order = order[: len(order) // self.recipe.batch_size * self.recipe.batch_size]
        crops = draw_crops(len(labels), self.generator).to(images.device) if self.recipe.augment else None
        update = (self.recipe.reduction if self.loss.takes_sum else "mean", self.recipe.clip_norm)
        with self._own_stream():
            replay = None  # of this epoch: what the loss changes between epochs is for Python to know
            for taken, index in enumerate(order.split(self.recipe.batch_size)):
                full = len(index) == self.recipe.batch_size
                objective = partial(self.fast_objective if full else self.objective, images, labels, crops)
                if full and self.way == "graph" and taken >= WARM_UP:
                    replay = replay or Replay(objective, self.optimiser, len(index), images.device, *update)
                    loss = replay(index)
                else:
                    loss = take_step(objective, self.optimiser, index, *update)
                if self.recipe.one_cycle:
                    self.schedule.step()
                total += loss * len(index)
        mean = float(total) / len(order)
        if not torch.isfinite(total):
            raise NonFiniteLoss(f"the training loss must stay finite. Got {mean} in epoch {self.epoch + 1}.")
        if not self.recipe.one_cycle:
            self.schedule.step()
        self.epoch += 1
        return mean

    def objective(self, images: Tensor, labels: Tensor, crops: Tensor | None, index: Tensor) -> Tensor:
        """What a step lowers: the loss of the samples (n, ...), (n,) at these indices, cropped as drawn."""
        batch = images[index] if crops is None else augmented(images[index], crops[index])
        with autocast(images.device, self.precision):
            logits = self.model(batch)
        return self.loss.objective(logits.float(), labels[index], self.model, self.generator)  # always float32

    @contextlib.contextmanager
    def _own_stream(self) -> Iterator[None]:
        """Steps that are recorded are taken on a stream of their own."""
        if self.stream is None:
            yield
            return
        before = torch.cuda.current_stream(self.stream.device)
        self.stream.wait_stream(before)
        with torch.cuda.stream(self.stream):
            yield
        before.wait_stream(self.stream)

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _use_fused_update(self) -> None:
        """Let the optimiser be what suits the device."""
        if self._device.type == "cuda" and isinstance(self.optimiser, torch.optim.SGD):
            use_fused_update(self.optimiser, self._device)

    @torch.no_grad()
    def logits(self, inputs: Tensor, batch_size: int = 1000) -> Tensor:
        """Logits (n, K), float32, of inputs (n, ...), in evaluation mode."""
        self.model.eval()
        with autocast(inputs.device, self.precision):
            return torch.cat([self.model(batch).float() for batch in inputs.split(batch_size)])

    def validate(self, images: Tensor, labels: Tensor) -> None:
        """After an epoch, for the losses that learn from validation samples and the recipes that choose by them."""
        if not self.loss.learns_from_validation and self.best is None:
            return
        confidence, predicted = self.logits(images).softmax(-1).max(-1)
        if self.loss.learns_from_validation:
            self.loss.after_validation(confidence, predicted == labels)
        if self.best is not None:
            self.best.offer(self.epoch, float((predicted == labels).double().mean()), self.model)

    def finish(self) -> None:
        """After the last epoch: take the weights that the recipe keeps."""
        if self.best is not None:
            self.best.give_to(self.model)

    def state(self) -> dict[str, Any]:
        """All that the next epoch depends on: tensors and numbers only, for torch.load(weights_only=True)."""
        state = {
            "model": self.model.state_dict(),
            "optimiser": portable_state(self.optimiser.state_dict()),
            "schedule": self.schedule.state_dict() | {"_last_lr": list(map(float, self.schedule.get_last_lr()))},
            "loss": self.loss.state_dict(),
            "generator": self.generator.get_state(),
            "random": torch.get_rng_state(),  # for dropout, say
            "epoch": self.epoch,
        }
        if self._device.type == "cuda":
            state["cuda_random"] = torch.cuda.get_rng_state(self._device)
        return state | ({} if self.best is None else {"best": self.best.state_dict()})

    def shape(self) -> dict[str, Any]:
        """What a state to restore must agree with; the optimiser's grows with its first step, the device may change."""
        compared = ("model", "loss", "generator", "random")
        state = {name: value for name, value in self.state().items() if name != "cuda_random"}
        return {name: value if name in compared else None for name, value in state.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the state of a trainer built alike."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._use_fused_update()
        self.schedule.load_state_dict(state["schedule"])
        self.loss.load_state_dict(state["loss"])
        self.generator.set_state(state["generator"])
        torch.set_rng_state(state["random"])
        if self._device.type == "cuda" and "cuda_random" in state:
            torch.cuda.set_rng_state(state["cuda_random"], self._device)
        self.epoch = int(state["epoch"])
        if self.best is not None:
            self.best.load_state_dict(state["best"])


def make_optimiser(weights: list[Tensor], recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser of these weights."""
    rate, decay = recipe.learning_rate, recipe.weight_decay
    if recipe.optimiser == "adam":
        return torch.optim.Adam(weights, lr=rate, weight_decay=decay)
    if recipe.optimiser == "adagrad":
        return torch.optim.Adagrad(weights, lr=rate, weight_decay=decay)
    return torch.optim.SGD(weights, lr=rate, momentum=recipe.momentum, weight_decay=decay, nesterov=recipe.nesterov)


def make_schedule(
    optimiser: torch.optim.Optimizer, recipe: Recipe, samples: int
) -> torch.optim.lr_scheduler.LRScheduler:
    """One cycle, stepped after each batch; or the rate divided by 10 after the recipe's epochs, stepped after each."""
    if recipe.one_cycle:
        full, rest = divmod(samples, recipe.batch_size)
        return torch.optim.lr_scheduler.OneCycleLR(
            optimiser,
            recipe.learning_rate,
            epochs=recipe.epochs,
            steps_per_epoch=full + (rest > 0 and recipe.last_batch == "keep"),
            pct_start=recipe.one_cycle,
            anneal_strategy="linear",
            cycle_momentum=False,
        )
    return torch.optim.lr_scheduler.MultiStepLR(optimiser, list(recipe.drops), gamma=0.1)
