"""Training speed on the devices that are here: python -m benchmarks.training [--model resnet18] [--images 20480]

Loops over the same synthetic images of CIFAR's size at batch 128, with the papers' crops and flips. Plain: float32,
contiguous, a DataLoader with torchvision's transforms an image at a time; on a GPU PyTorch computes its convolutions in
TF32. Ours, focal_lib's Trainer in float32 and in bf16, its steps plain, compiled, or replayed as a CUDA graph: data on
the device, crops of a batch at once, channels last, deterministic as in a run. Printed for each: images a second (the
epoch after one to warm up), the ratio to the plain loop, and the share of the rate of a large matrix product in the
same precision that training reaches, of TF32 none. Of the fastest way, too: what it does without determinism, and
--at-once several of it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.flop_counter import FlopCounterMode
from torchvision import transforms

from focal_lib.atomic_write import write_whole
from focal_lib.losses import FocalLoss
from reproduction.engine import models
from reproduction.engine.data import Split
from reproduction.engine.machine import machine_of
from reproduction.engine.precision import make_float32_exact
from reproduction.engine.recipes import PRECISIONS, RECIPES
from reproduction.engine.step import WAYS
from reproduction.engine.trainer import Trainer, pick_device, to_tensors

MEAN, STD = 0.47, 0.25
RECIPE = replace(RECIPES["m20-cifar"], reduction="mean", clip_norm=0.0)  # as the loop it is compared with
DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16}
NETWORKS = {"cpu": ("resnet20",), "cuda": ("resnet18", "airbench-cnn", "resnet50")}
IMAGES = {"cpu": 1280, "cuda": 20_480}  # seconds of them
PATIENCE = 90  # seconds for the other processes: one may have failed
NO_RUN_DOES = ("plain-loop", "nondeterministic")  # to compare with
OWN_WAYS = {"cpu": ("plain",), "cuda": WAYS}


_barrier: Any = None  # of a process that is one of several
_START = "forkserver" if "forkserver" in torch.multiprocessing.get_all_start_methods() else "spawn"


@dataclass(frozen=True)
class Rate:
    """What one loop reached."""

    device: str
    network: str
    loop: str  # 'torchvision' or 'ours'
    precision: str
    way: str
    deterministic: bool
    at_once: int
    images_per_second: float
    share: float | None  # of the rate of a large matrix product


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


def own_epoch(
    model: nn.Module, part: Split, device: torch.device, precision: str, way: str = "plain"
) -> Callable[[], object]:
    """An epoch of ours, to be called."""
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    recipe = replace(RECIPE, precision=precision)
    trainer = Trainer(model, FocalLoss(3.0), recipe, torch.Generator().manual_seed(0), len(part), way)
    images, labels = to_tensors(part, device, MEAN, STD)
    return lambda: trainer.train_epoch(images, labels)


@contextmanager
def algorithms(deterministic: bool) -> Iterator[None]:
    """Those of a run, or whichever are fastest."""
    before = torch.are_deterministic_algorithms_enabled()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(deterministic, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.benchmark = not deterministic
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.backends.cudnn.benchmark = False


def _meet_at(barrier: Any) -> None:
    global _barrier
    _barrier = barrier


def _own_seconds(where: str, name: str, images: int, precision: str, way: str, deterministic: bool) -> float:
    """Of an epoch of ours after one to warm up, while the other processes do theirs."""
    device = pick_device(where)
    make_float32_exact()  # as in a run
    with algorithms(deterministic):
        epoch = own_epoch(_network(name, device), pictures(images), device, precision, way)
        epoch()
        _wait(device)
        _barrier.wait(PATIENCE)
        started = time.perf_counter()
        epoch()
        _wait(device)
        seconds = time.perf_counter() - started
        _barrier.wait(PATIENCE)  # none leaves while another is being timed
        return seconds


def own_loop(device: torch.device, *what: Any, processes: int = 1) -> float:
    """Seconds of an epoch of ours, of the slowest of several at once; in processes, so that each begins alike.

    Args:
        what: of network, images, precision, way, whether deterministic.

    Raises:
        RuntimeError: what PyTorch says of a step that does not compile or fit, a process that was killed among it.
    """
    context = torch.multiprocessing.get_context(_START)
    if _START == "forkserver":  # from one that has loaded PyTorch and done nothing with it
        context.set_forkserver_preload(["benchmarks.training", "torch._dynamo"])
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, _meet_at, (barrier,)) as pool:
        started = [pool.submit(_own_seconds, str(device), *what) for _ in range(processes)]
        return max(one.result() for one in started)


def pictures(count: int) -> Split:
    """Noise of CIFAR's size."""
    rng = np.random.default_rng(0)
    return Split(rng.integers(0, 256, (count, 32, 32, 3), dtype=np.uint8), rng.integers(0, 10, count))


def _network(name: str, device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    return models.build(name, 3, 32, 10).to(device)


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


def measure(
    device: torch.device,
    name: str,
    images: int,
    precisions: tuple[str, ...],
    ways: tuple[str, ...],
    counts: tuple[int, ...],
    skip: Collection[str] = (),
) -> Iterator[Rate]:
    """Print and yield what the loops do on one device; of a loop that fails, why.

    Args:
        skip: of `NO_RUN_DOES` what is not to be measured.
    """
    part, peak = pictures(images), {precision: matrix_rate(device, precision) for precision in DTYPES}
    flops = flops_an_image(_network(name, device), device)
    label = machine_of(device)
    rates: list[Rate] = []

    def show(seconds: float, loop: str, precision: str, way: str, deterministic: bool, several: int) -> Rate:
        rate = several * images / seconds
        share = rate * flops / peak[precision] if precision in peak else None
        rates.append(Rate(label, name, loop, precision, way, deterministic, several, rate, share))
        words = [loop, precision, way, *([] if deterministic else ["not deterministic"])]
        words += [f"{several} at once"] if several > 1 else []
        plain = [known for known in rates if known.loop == "torchvision"]
        said = "" if share is None else f"{share:4.0%} of a large {precision} product"
        ratio = f"{rate / plain[0].images_per_second:5.1f} x" if plain else " " * 7
        print(f"  {', '.join(words):48} {rate:9,.0f} images/s {ratio}  {said}")
        return rates[-1]

    def own(precision: str, way: str, deterministic: bool = True, several: int = 1) -> Iterator[Rate]:
        try:
            seconds = own_loop(device, name, images, precision, way, deterministic, processes=several)
        except Exception as error:  # another way may do
            print(f"  ours, {precision}, {way}, failed: {type(error).__name__}: {error}")
        else:
            yield show(seconds, "ours", precision, way, deterministic, several)

    print(f"{label}: {name}, batch {RECIPE.batch_size}, {flops / 1e9:.2f} GFLOP an image")
    if "plain-loop" not in skip:
        try:
            seconds = plain_loop(_network(name, device), part, device)
        except Exception as error:  # ours are what counts
            print(f"  torchvision failed: {type(error).__name__}: {error}")
        else:
            tf32 = device.type == "cuda" and torch.backends.cudnn.allow_tf32  # as it is by default, for convolutions
            yield show(seconds, "torchvision", "TF32" if tf32 else "float32", "plain", False, 1)
    for precision in precisions:
        for way in ways:
            yield from own(precision, way)
    if ours := [known for known in rates if known.loop == "ours"]:
        best = max(ours, key=lambda known: known.images_per_second)
        if "nondeterministic" not in skip:
            yield from own(best.precision, best.way, deterministic=False)
        for several in counts:
            yield from own(best.precision, best.way, several=several)


@click.command()
@click.option("--model", "names", multiple=True, help="Default: resnet20 on a CPU; resnet18, ... on a GPU.")
@click.option("--images", type=int, help="Default: seconds of them.")
@click.option("--device", "where", default="all", show_default=True, help="all, cpu, cuda or cuda:1.")
@click.option("--precision", "precisions", multiple=True, type=click.Choice(PRECISIONS), help="Default: all.")
@click.option("--way", "ways", multiple=True, type=click.Choice(WAYS), help="Default: plain on a CPU, all on a GPU.")
@click.option("--at-once", "counts", type=int, multiple=True, help="Also so many processes of the fastest way.")
@click.option("--skip", type=click.Choice(NO_RUN_DOES), multiple=True, help="What no run does, and takes time.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Also write the rates, as JSON; those of others stay there."
)
def main(
    names: tuple[str, ...],
    images: int | None,
    where: str,
    precisions: tuple[str, ...],
    ways: tuple[str, ...],
    counts: tuple[int, ...],
    skip: tuple[str, ...],
    out: Path | None,
) -> None:
    """Images a second of a plain loop and of ours, on a CPU and on a GPU where there is one."""
    found = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])] if where == "all" else [where]
    rates: list[Rate] = []
    for device in map(pick_device, found):
        for name in names or NETWORKS[device.type]:
            size = images or IMAGES[device.type]
            given = precisions or PRECISIONS, ways or OWN_WAYS[device.type], counts, skip
            for rate in measure(device, name, size, *given):
                rates.append(rate)
                if out is not None:  # after each: a borrowed machine may go
                    _write(out, rates)


def _write(out: Path, rates: Collection[Rate]) -> None:
    """The rates, after those of other devices and networks that the file has."""
    before = json.loads(out.read_text()) if out.is_file() else []
    measured = {(rate.device, rate.network) for rate in rates}
    kept = [row for row in before if (row["device"], row["network"]) not in measured]
    text = json.dumps([*kept, *map(asdict, rates)], indent=1, allow_nan=False) + "\n"
    write_whole(out, lambda part: part.write_text(text))


if __name__ == "__main__":
    main()
