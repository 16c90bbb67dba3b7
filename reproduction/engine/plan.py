"""Before a grid is trained: whether its runs can be prepared; images, about how many hours, room on the disk."""

from __future__ import annotations

import functools
import math
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focal_lib.threads import one_thread
from reproduction.engine.cost import images_to_train
from reproduction.engine.data import check_name, load
from reproduction.engine.data.images import count_training_images
from reproduction.engine.data.samples import random_samples
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.files import DiskFull
from reproduction.engine.machine import cores_here, machine_of, spell_cores
from reproduction.engine.spec import Spec

if TYPE_CHECKING:
    import torch


def check_runs(specs: Iterable[Spec], *, files: bool = True) -> None:
    """Whether every run can be prepared, as far as names, numbers and the data that are here tell.

    Args:
        files: look for the data here; not where the runs are done on other machines.

    Raises:
        ValueError: a run, which is named, asks for a data set, network or loss that there is not, or that do not go
            together, or for more images than there are; FOCAL_STEP names no way of a step.
        NotADirectoryError: FOCAL_DATA is no folder.
    """
    import torch

    from reproduction.engine.step import pick_way

    pick_way(torch.device("cpu"), one_graph=True, captures=True)
    count = functools.cache(count_training_images) if files else None  # a grid has few data sets
    for spec in specs:
        try:
            _check(spec, count)
        except ValueError as error:
            raise ValueError(f"run {spec.digest} ({spec.name}): {error}") from None


def _check(spec: Spec, count: Callable[[str], int | None] | None) -> None:
    from focal_lib.losses.by_name import build
    from reproduction.engine.fit import check_recipe
    from reproduction.engine.models import check_model

    name, there = spec.dataset, None
    kind = TEXT_SETS[name].kind if name in TEXT_SETS else "images"
    if count is not None:
        check_name(name)
        there = count("cifar10" if name.startswith("cifar10-c-") else name) if kind == "images" else None
    check_model(spec.model, name, kind)
    check_recipe(spec, kind, spec.n_train)
    build(spec.loss, spec.gamma, spec.lam, spec.training.epochs)
    if there is not None and spec.n_train + spec.n_validation > there:
        asked = f"{spec.n_train} + {spec.n_validation}"
        raise ValueError(f"n_train + n_validation must be at most {there} of {name}. Got {asked}.")


def check_disk(specs: Iterable[Spec], root: Path) -> None:
    """DiskFull where there is no room for the weights of these runs."""
    import torch

    from reproduction.engine.models import build_for

    @functools.cache
    def count_weights(dataset: str, model: str) -> int:
        if (samples := random_samples(dataset, 1)) is None:
            return 0  # nothing is known of it before it is read
        with torch.device("meta"):
            return sum(weights.numel() for weights in build_for(model, samples).state_dict().values())

    needed = sum(4 * count_weights(spec.dataset, spec.model.removesuffix("-glove")) for spec in specs) / 1e9
    free = shutil.disk_usage(next(path for path in (root, *root.absolute().parents) if path.exists())).free / 1e9
    if free < needed:
        raise DiskFull(f"{root} must have room for the weights of the runs, {needed:.2f} GB. Got {free:.2f} GB free.")


def say_hours(specs: Iterable[Spec], device: str = "auto", *, cores: int = 0) -> list[str]:
    """Lines on how long these runs would take here, by a timed step for each data set, network and precision.

    ValueError where the device is not there. `cores` are to be used at once; 0: all.
    """
    import torch

    from reproduction.engine.precision import pick_precision
    from reproduction.engine.trainer import pick_device

    where, groups, lines, total = pick_device(device), defaultdict(list), [], 0.0
    unit, at_once = "core", cores or cores_here()
    if where.type == "cuda":
        unit, at_once = "GPU", torch.cuda.device_count() if where.index is None else 1
    for spec in specs:
        slower = ("hessian-trace",) if spec.loss == "hessian-trace" and spec.lam else ()  # with 0 it is not computed
        groups[spec.dataset, spec.model, pick_precision(spec.training.precision, where), *slower].append(spec)
    for alike, runs in groups.items():
        seconds, basis = _measure(runs[0], where)
        images = sum(map(images_to_train, runs))
        total += (hours := seconds * images / 3600)
        lines.append(f"  {', '.join(alike)}: {len(runs)} runs, {images:,} images, {_few(hours)} h, {basis}")
    used = f"{_few(total)} of one {unit}, {_few(total / at_once)} with {at_once} at once"
    return [*lines, f"Hours on {spell_cores(machine_of(where))}: {used}, if none slows another."]


def _few(hours: float) -> str:
    """Two digits are all that an estimate has."""
    return "not known" if math.isnan(hours) else "< 0.001" if hours < 0.001 else f"{float(f'{hours:.2g}'):,g}"


def _measure(spec: Spec, where: torch.device) -> tuple[float, str]:
    """Seconds of a core or GPU for an image, and of how many the timed step was; or nan, and why."""
    n, on_cpu = spec.training.batch_size, where.type == "cpu"
    try:
        with one_thread() if on_cpu else nullcontext():
            if on_cpu:  # a step of about a second
                n = min(n, max(2, int(1 / _time_step(spec, where, 2))))
            return _time_step(spec, where, n), f"by a step on {n}, not compiled"
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        return math.nan, (str(error).strip().splitlines() or [type(error).__name__])[-1]  # of PyTorch's the last line


def _time_step(spec: Spec, where: torch.device, n: int) -> float:
    from reproduction.engine.fit import fresh_trainer
    from reproduction.engine.trainer import to_tensors

    if (data := random_samples(spec.dataset, n)) is None:  # the user's own
        data = load(spec.dataset)
        data = replace(data, train=data.train.take(np.arange(n) % len(data.train)))
    alike = replace(spec, model=spec.model.removesuffix("-glove"), batch_size=n, learning_rate=1e-6, epochs=9)
    trainer, samples = fresh_trainer(alike, data, n, where), to_tensors(data.train, where, 0.5, 0.25)
    trainer.fast_objective = trainer.objective  # to compile takes a minute
    clock = time.process_time if where.type == "cpu" else time.perf_counter
    trainer.train_epoch(*samples)  # warms up
    started = clock()
    trainer.train_epoch(*samples)
    return (clock() - started) / n
