"""The training loop: data resident on the device, one permutation an epoch, everything seeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from focal_lib.curvature import hessian_trace
from focal_lib.data import Split
from focal_lib.losses import AdaFocalLoss, HessianTraceLoss, ScheduledFocalLoss
from focal_lib.recipes import Recipe

__all__ = [
    "NonFiniteLoss",
    "Trainer",
    "augmented",
    "autocast",
    "draw_crops",
    "logits_of",
    "make_optimiser",
    "make_schedule",
    "pick_device",
    "summary",
    "to_tensors",
]


class NonFiniteLoss(RuntimeError):
    """The training loss became NaN or infinite."""


def pick_device(device: str = "auto") -> torch.device:
    """'auto' is the GPU where there is one."""
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)


def to_tensors(part: Split, device: torch.device, mean: float, std: float) -> tuple[Tensor, Tensor]:
    """Inputs and labels (n,) on the device; images standardised, float (n, C, H, W), channels last in memory."""
    inputs = torch.from_numpy(part.inputs)
    if part.inputs.dtype == np.uint8:
        images = (inputs.permute(0, 3, 1, 2).float() / 255 - mean) / std
        inputs = images.contiguous(memory_format=torch.channels_last)
    return inputs.to(device), torch.from_numpy(part.labels).to(device)


def autocast(device: torch.device) -> Any:
    """bf16 on a GPU; on a CPU plain float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


@torch.no_grad()
def logits_of(model: nn.Module, images: Tensor, batch_size: int = 1000) -> Tensor:
    """Logits (n, K), float32, of images (n, C, H, W)."""
    model.eval()
    with autocast(images.device):
        return torch.cat([model(batch).float() for batch in images.split(batch_size)])


PADDING = 4


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


class Trainer:
    """A network, its optimiser and its random state: all that a checkpoint must hold."""

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        recipe: Recipe,
        generator: torch.Generator,
    ) -> None:
        self.model, self.loss, self.recipe = model, loss, recipe
        on_gpu = next(model.parameters()).is_cuda
        self.forward = torch.compile(model) if on_gpu else model  # the same weights; not worth its minute on a CPU
        self.generator = generator  # of permutations and crops; on the CPU, so that devices agree
        self.optimiser = make_optimiser(list(model.parameters()), recipe)
        self.schedule = make_schedule(self.optimiser, recipe)
        self.epoch = 0

    def train_epoch(self, images: Tensor, labels: Tensor) -> float:
        """One pass over (n, C, H, W), (n,); returns the mean loss.

        Raises:
            NonFiniteLoss: before the epoch is counted, so that its checkpoint stays good.
        """
        self.model.train()
        if isinstance(self.loss, ScheduledFocalLoss):
            self.loss.set_epoch(self.epoch)
        total = torch.zeros((), device=images.device)
        order = torch.randperm(len(labels), generator=self.generator).to(images.device)  # moved once an epoch
        if self.recipe.augment:
            crops = draw_crops(len(labels), self.generator).to(images.device)
        for index in order.split(self.recipe.batch_size):
            batch = augmented(images[index], crops[index]) if self.recipe.augment else images[index]
            with autocast(images.device):
                logits = self.forward(batch)
            loss = self._objective(logits.float(), labels[index])  # always float32
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
            total += loss.detach() * len(index)
        mean = float(total) / len(labels)
        if not torch.isfinite(total):
            raise NonFiniteLoss(f"the training loss must stay finite. Got {mean} in epoch {self.epoch + 1}.")
        self.schedule.step()
        self.epoch += 1
        return mean

    def _objective(self, logits: Tensor, labels: Tensor) -> Tensor:
        if isinstance(self.loss, HessianTraceLoss):  # the one loss that needs the weights
            return self.loss.penalised(logits, labels, self.model, self.generator)
        return self.loss(logits, labels)

    def after_epoch(self, images: Tensor, labels: Tensor) -> None:
        """What a loss learns from the validation set: AdaFocal's gammas."""
        if isinstance(self.loss, AdaFocalLoss):
            confidence, predicted = logits_of(self.model, images).softmax(-1).max(-1)
            self.loss.update(confidence, predicted == labels)

    def state(self) -> dict[str, Any]:
        """Tensors and numbers only: loads with weights_only=True."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "schedule": self.schedule.state_dict(),
            "loss": self.loss.state_dict() if isinstance(self.loss, nn.Module) else {},
            "generator": self.generator.get_state(),
            "epoch": self.epoch,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        if isinstance(self.loss, nn.Module):
            self.loss.load_state_dict(state["loss"])
        self.generator.set_state(state["generator"])
        self.epoch = int(state["epoch"])


def make_optimiser(weights: list[Tensor], recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser of these weights."""
    rate, decay = recipe.learning_rate, recipe.weight_decay
    if recipe.optimiser == "adam":
        return torch.optim.Adam(weights, lr=rate, weight_decay=decay)
    if recipe.optimiser == "adagrad":
        return torch.optim.Adagrad(weights, lr=rate, weight_decay=decay)
    return torch.optim.SGD(weights, lr=rate, momentum=recipe.momentum, weight_decay=decay)


def make_schedule(optimiser: torch.optim.Optimizer, recipe: Recipe) -> torch.optim.lr_scheduler.LRScheduler:
    """The rate divided by 10 after the recipe's epochs."""
    return torch.optim.lr_scheduler.MultiStepLR(optimiser, list(recipe.drops), gamma=0.1)


def summary(trainer: Trainer, images: Tensor, labels: Tensor) -> dict[str, float]:
    """One row of the history: what M20 Figs. 1, 3 and 4 follow over the epochs.

    nll, error, accuracy, confidence, ece (equal mass); nll and entropy of right and of wrong samples (nan where
    there is none); weight_norm of the last layer; gradient_q10, _q50, _q90, quantiles over samples of the
    norm of the loss gradient with respect to the last layer; hessian_trace of the loss that penalises it, on
    the first 2,000 samples.
    """
    from focal_lib.metrics import ece, nll

    last = [module for module in trainer.model.modules() if isinstance(module, nn.Linear)][-1]
    features: list[Tensor] = []
    hook = last.register_forward_hook(lambda module, inputs, output: features.append(inputs[0].detach().float()))
    try:
        logits = logits_of(trainer.model, images)
    finally:
        hook.remove()
    log_probs = logits.double().log_softmax(-1)
    own = -log_probs.gather(-1, labels[:, None])[:, 0]  # NLL of each sample
    entropy = -(log_probs.exp() * log_probs).sum(-1)
    right = log_probs.argmax(-1) == labels
    probs, truth = log_probs.exp().cpu().numpy(), labels.cpu().numpy()
    row = {"nll": nll(probs, truth), "error": float((~right).double().mean()), "accuracy": float(right.double().mean())}
    row |= {"confidence": float(probs.max(-1).mean()), "ece": ece(probs, truth, binning="mass")}
    for name, kept in (("right", right), ("wrong", ~right)):
        row |= {f"nll_{name}": float(own[kept].mean()), f"entropy_{name}": float(entropy[kept].mean())}
    row["weight_norm"] = float(last.weight.detach().norm())
    quantiles = torch.quantile(_gradient_norms(trainer.loss, logits, labels, torch.cat(features)), _QUANTILES)
    if isinstance(trainer.loss, HessianTraceLoss):
        row["hessian_trace"] = hessian_trace(trainer.model, trainer.loss, images[:2000], labels[:2000]).value
    return row | {f"gradient_q{int(100 * q)}": float(v) for q, v in zip(_QUANTILES, quantiles, strict=True)}


_QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def _gradient_norms(loss: Callable[[Tensor, Tensor], Tensor], logits: Tensor, labels: Tensor, inputs: Tensor) -> Tensor:
    """Norm of d loss / d (weight, bias) of the last layer for each sample, (n,), times n for a mean loss.

    The gradient is the outer product of d loss / d logits and (features, 1), so its norm is the product of norms.
    """
    logits = logits.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(logits, labels) * len(labels), logits)
    return (slope.norm(dim=-1) * (inputs.square().sum(-1) + 1).sqrt()).cpu()
