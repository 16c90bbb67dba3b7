"""The training loop: data resident on the device, one permutation an epoch, everything seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from focal_lib.data import Split

__all__ = ["NonFiniteLoss", "Trainer", "logits_of", "pick_device", "to_tensors"]


class NonFiniteLoss(RuntimeError):
    """The training loss became NaN or infinite."""


def pick_device(device: str = "auto") -> torch.device:
    """'auto' is the GPU where there is one."""
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)


def to_tensors(part: Split, device: torch.device, mean: float, std: float) -> tuple[Tensor, Tensor]:
    """Standardised float images (n, C, H, W), channels last, and labels (n,), on the device."""
    images = torch.from_numpy(part.images).permute(0, 3, 1, 2)  # (n, C, H, W)
    images = ((images.float() / 255 - mean) / std).to(device, memory_format=torch.channels_last)
    return images, torch.from_numpy(part.labels).to(device)


def _autocast(device: torch.device) -> Any:
    """bf16 on a GPU; on a CPU plain float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


@torch.no_grad()
def logits_of(model: nn.Module, images: Tensor, batch_size: int = 1000) -> Tensor:
    """Logits (n, K), float32, of images (n, C, H, W)."""
    model.eval()
    with _autocast(images.device):
        return torch.cat([model(batch).float() for batch in images.split(batch_size)])


@dataclass
class Trainer:
    """A network, its optimiser and its random state: all that a checkpoint must hold."""

    model: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]
    optimiser: torch.optim.Optimizer
    generator: torch.Generator  # of the permutations; on the CPU, so that devices agree
    batch_size: int
    epoch: int = 0

    def train_epoch(self, images: Tensor, labels: Tensor) -> float:
        """One pass over (n, C, H, W), (n,); returns the mean loss.

        Raises:
            NonFiniteLoss: before the epoch is counted, so that its checkpoint stays good.
        """
        self.model.train()
        total = torch.zeros((), device=images.device)
        for index in self._batches(len(labels)):
            index = index.to(images.device)
            with _autocast(images.device):
                logits = self.model(images[index])
            loss = self.loss(logits.float(), labels[index])  # the loss is always float32
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
            total += loss.detach() * len(index)
        mean = float(total) / len(labels)
        if not torch.isfinite(total):
            raise NonFiniteLoss(f"the training loss must stay finite. Got {mean} in epoch {self.epoch + 1}.")
        self.epoch += 1
        return mean

    def _batches(self, n: int) -> Iterator[Tensor]:
        yield from torch.randperm(n, generator=self.generator).split(self.batch_size)

    def state(self) -> dict[str, Any]:
        """Tensors and numbers only: loads with weights_only=True."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.get_state(),
            "epoch": self.epoch,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.generator.set_state(state["generator"])
        self.epoch = int(state["epoch"])
