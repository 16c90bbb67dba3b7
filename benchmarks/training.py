"""Training speed on this machine's device: python -m benchmarks.training [--model resnet50] [--images 20000]

Two loops over the same synthetic images of CIFAR's size at batch 128, with the papers' crops and flips. Plain:
float32, contiguous, a DataLoader with torchvision's transforms an image at a time. Ours, focal_lib's Trainer: data
on the device, crops of a batch at once, and on a GPU bf16, channels last, compiled. Printed: images per second of
each (the epoch after warming up), their ratio, and the share of the device's matrix rate that the training reaches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import click
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.flop_counter import FlopCounterMode
from torchvision import transforms

from focal_lib.losses import FocalLoss
from focal_lib.training import models
from focal_lib.training.data import Split
from focal_lib.training.recipes import RECIPES
from focal_lib.training.stacked_trainer import ManyTrainer
from focal_lib.training.trainer import Trainer, pick_device, to_tensors

MEAN, STD = 0.47, 0.25


class _Pictures(Dataset):  # type: ignore[type-arg]
    def __init__(self, part: Split) -> None:
        self.part = part
        self.change = transforms.Compose(
            [
                transforms.ToPILImage(),
                transforms.RandomCrop(32, padding=4),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize([MEAN] * 3, [STD] * 3),
            ]
        )

    def __len__(self) -> int:
        return len(self.part)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.change(self.part.inputs[i]), int(self.part.labels[i])


def _timed(epoch: Callable[[], object], device: torch.device) -> float:
    """Seconds of the second call: the first compiles and warms up."""
    epoch()
    if device.type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    epoch()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def plain_loop(model: nn.Module, part: Split, device: torch.device) -> float:
    recipe, loss = RECIPES["m20-cifar"], FocalLoss(3.0)
    workers = os.cpu_count() or 1 if device.type == "cuda" else 0
    loader = DataLoader(
        _Pictures(part), recipe.batch_size, shuffle=True, num_workers=workers, persistent_workers=workers > 0
    )
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)

    def epoch() -> None:
        for images, labels in loader:
            optimiser.zero_grad()
            loss(model(images.to(device)), labels.to(device)).backward()
            optimiser.step()

    return _timed(epoch, device)


def own_loop(model: nn.Module, part: Split, device: torch.device) -> float:
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    trainer = Trainer(model, FocalLoss(3.0), RECIPES["m20-cifar"], torch.Generator().manual_seed(0))
    images, labels = to_tensors(part, device, MEAN, STD)
    return _timed(lambda: trainer.train_epoch(images, labels), device)


def flops_an_image(model: nn.Module, device: torch.device) -> float:
    """Forward and backward, counted by PyTorch."""
    with FlopCounterMode(display=False) as counter:
        model(torch.randn(2, 3, 32, 32, device=device)).sum().backward()
    return counter.get_total_flops() / 2


def matrix_rate(device: torch.device) -> float:
    """FLOP/s of a large square product, bf16 on a GPU."""
    side, kind = (8192, torch.bfloat16) if device.type == "cuda" else (1024, torch.float32)
    a, b = torch.randn(2, side, side, device=device, dtype=kind).unbind()
    return 2 * side**3 * 5 / _timed(lambda: [a @ b for _ in range(5)], device)


def seeds_at_once(name: str, count: int, part: Split, device: torch.device) -> tuple[float, float]:
    """Seconds of an epoch of `count` networks one after another, and at once."""

    def trainers() -> list[Trainer]:
        made = (models.build(name, 3, 32, 10).to(device) for _ in range(count))
        return [
            Trainer(m, FocalLoss(3.0), RECIPES["book-fast"], torch.Generator().manual_seed(s))
            for s, m in enumerate(made)
        ]

    images, labels = to_tensors(part, device, MEAN, STD)
    one_by_one = trainers()
    apart = _timed(lambda: [t.train_epoch(images, labels) for t in one_by_one], device)
    together = ManyTrainer(trainers())
    stacked = images.expand(count, *images.shape), labels.expand(count, -1)
    return apart, _timed(lambda: together.train_epoch(*stacked), device)


@click.command()
@click.option("--model", "name", default="resnet50", show_default=True)
@click.option("--images", default=20_000, show_default=True)
@click.option("--device", "where", default="auto", show_default=True)
@click.option("--small", default="small-cnn", show_default=True, help="Network for many seeds at once.")
@click.option("--seeds", default=8, show_default=True)
def main(name: str, images: int, where: str, small: str, seeds: int) -> None:
    """Images per second of a plain loop and of ours; many seeds at once against one after another."""
    device = pick_device(where)
    rng = np.random.default_rng(0)
    part = Split(rng.integers(0, 256, (images, 32, 32, 3), dtype=np.uint8), rng.integers(0, 10, images))
    make = lambda: models.build(name, 3, 32, 10).to(device)  # noqa: E731
    flops = flops_an_image(make(), device)
    plain, own = images / plain_loop(make(), part, device), images / own_loop(make(), part, device)
    label = torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    batch, share = RECIPES["m20-cifar"].batch_size, own * flops / matrix_rate(device)
    print(f"{name}, batch {batch}, {label}: plain {plain:,.0f} images/s, ours {own:,.0f}, {own / plain:.1f} x")
    print(f"  {flops / 1e9:.2f} GFLOP an image: {share:.0%} of the rate of a large matrix product here")
    few = part.take(np.arange(min(images, 5000)))
    apart, together = seeds_at_once(small, seeds, few, device)
    print(f"{small}, {seeds} seeds: one after another / at once {apart / together:.1f} x")


if __name__ == "__main__":
    main()
