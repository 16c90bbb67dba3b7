"""Training speed on the devices that are here: python -m benchmarks.training [--model resnet50] [--images 20000]

Loops over the same synthetic images of CIFAR's size at batch 128, with the papers' crops and flips. Plain: float32,
contiguous, a DataLoader with torchvision's transforms an image at a time. Ours, focal_lib's Trainer in float32 and in
bf16: data on the device, crops of a batch at once, channels last, on a GPU compiled. Printed for each: images a second
(the epoch after one to warm up), the ratio to the plain loop, and the share of the rate of a large matrix product in
the same precision that training reaches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

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
from focal_lib.training.recipes import PRECISIONS, RECIPES
from focal_lib.training.trainer import Trainer, pick_device, to_tensors

MEAN, STD = 0.47, 0.25
RECIPE = RECIPES["m20-cifar"]
DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16}
DEFAULTS = {"cpu": ("resnet20", 1280), "cuda": ("resnet50", 20_480)}  # network and images: seconds on each


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
    _wait(device)
    started = time.perf_counter()
    epoch()
    _wait(device)
    return time.perf_counter() - started


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def plain_loop(model: nn.Module, part: Split, device: torch.device) -> float:
    """Seconds of an epoch."""
    loss = FocalLoss(3.0)
    workers = os.cpu_count() or 1 if device.type == "cuda" else 0
    loader = DataLoader(
        _Pictures(part), RECIPE.batch_size, shuffle=True, num_workers=workers, persistent_workers=workers > 0
    )
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)

    def epoch() -> None:
        model.train()
        for images, labels in loader:
            optimiser.zero_grad()
            loss(model(images.to(device)), labels.to(device)).backward()
            optimiser.step()

    return _timed(epoch, device)


def own_loop(model: nn.Module, part: Split, device: torch.device, precision: str) -> float:
    """Seconds of an epoch."""
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    recipe = replace(RECIPE, precision=precision)
    trainer = Trainer(model, FocalLoss(3.0), recipe, torch.Generator().manual_seed(0), len(part))
    images, labels = to_tensors(part, device, MEAN, STD)
    return _timed(lambda: trainer.train_epoch(images, labels), device)


def flops_an_image(model: nn.Module, device: torch.device) -> float:
    """Forward and backward, counted by PyTorch."""
    with FlopCounterMode(display=False) as counter:
        model(torch.randn(2, 3, 32, 32, device=device)).sum().backward()
    return counter.get_total_flops() / 2


def matrix_rate(device: torch.device, precision: str) -> float:
    """FLOP/s of a large square product."""
    side = 8192 if device.type == "cuda" else 2048
    a, b = torch.randn(2, side, side, device=device).to(DTYPES[precision]).unbind()
    return 2 * side**3 * 5 / _timed(lambda: [a @ b for _ in range(5)], device)


def measure(device: torch.device, name: str, images: int) -> None:
    """Print what one device does."""
    rng = np.random.default_rng(0)
    part = Split(rng.integers(0, 256, (images, 32, 32, 3), dtype=np.uint8), rng.integers(0, 10, images))

    def make() -> nn.Module:
        torch.manual_seed(0)
        return models.build(name, 3, 32, 10).to(device)

    flops = flops_an_image(make(), device)
    label = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    plain = images / plain_loop(make(), part, device)
    print(f"{label}: {name}, batch {RECIPE.batch_size}, {flops / 1e9:.2f} GFLOP an image")
    print(f"  plain, float32  {plain:8,.0f} images/s           {_share(plain * flops, device, 'float32')}")
    for precision in PRECISIONS:
        own = images / own_loop(make(), part, device, precision)
        share = _share(own * flops, device, precision)
        print(f"  ours, {precision:8} {own:9,.0f} images/s   {own / plain:4.1f} x  {share}")


def _share(rate: float, device: torch.device, precision: str) -> str:
    return f"{rate / matrix_rate(device, precision):4.0%} of a large {precision} product"


@click.command()
@click.option("--model", "name", help="Default: resnet20 on a CPU, resnet50 on a GPU.")
@click.option("--images", type=int, help="Default: seconds of them.")
@click.option("--device", "where", default="all", show_default=True, help="all, cpu, cuda or cuda:1.")
def main(name: str | None, images: int | None, where: str) -> None:
    """Images a second of a plain loop and of ours, on a CPU and on a GPU where there is one."""
    found = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])] if where == "all" else [where]
    for device in map(pick_device, found):
        default = DEFAULTS[device.type]
        measure(device, name or default[0], images or default[1])


if __name__ == "__main__":
    main()
