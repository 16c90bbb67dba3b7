"""Before a grid is trained: whether its runs can be prepared, and about how many hours they take."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focal_lib.threads import one_thread
from reproduction.engine.cost import images_to_evaluate, images_to_train
from reproduction.engine.data import check_name, load
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.data.images import find_image_set
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.data.tokens import WORDS, balanced_tree, encode_trees
from reproduction.engine.machine import cores_here, machine_of, spell_cores
from reproduction.engine.spec import Spec
from reproduction.engine.store import named

if TYPE_CHECKING:
    import torch

_EVALUATED = 1000  # samples at once, at most, as a run does it
_TEST = {"mnist-5k": 1_000, "svhn": 26_032, "20-newsgroups": 7_532, "20-newsgroups-m20": 3_999, "sst": 1_821}
_OTHER_TEST = 10_000  # test samples of the other published data sets, about
_LEAVES = 19  # of a sentence of SST on the average (Socher et al. 2013)


def check_runs(specs: Iterable[Spec], *, data: bool = True) -> None:
    """Whether every run can be prepared, as far as names and numbers tell, without reading data.

    Args:
        data: ask for their data sets, too; not where the runs are done on other machines.

    Raises:
        ValueError: a run, which is named, asks for a data set, network or loss that there is not, or that do not go
            together; FOCAL_STEP names no way of a step.
        NotADirectoryError: FOCAL_DATA is no folder.
    """
    import torch

    from reproduction.engine.fit import check_recipe, make_loss
    from reproduction.engine.models import check_model
    from reproduction.engine.step import pick_way

    pick_way(torch.device("cpu"), one_graph=True, captures=True)
    for spec in specs:
        kind = TEXT_SETS[spec.dataset].kind if spec.dataset in TEXT_SETS else "images"
        try:
            if data:
                check_name(spec.dataset)
            check_model(spec.model, spec.dataset, kind, spec.model_code)
            check_recipe(spec, kind, spec.n_train)
            make_loss(spec)
        except ValueError as error:
            raise ValueError(f"{named(spec)}: {error}") from None


def random_samples(name: str, n: int) -> Dataset | None:
    """n random samples of the shape that a published data set has, read from no file; None of another data set."""
    rng = np.random.default_rng(0)
    if (images := find_image_set(name)) is not None:
        channels, side = images.shape
        pixels = rng.integers(256, size=(n, side, side, channels), dtype=np.uint8)
        part = Split(pixels, rng.integers(images.classes, size=n))
        return Dataset(name, images.classes, part, part)
    if (texts := TEXT_SETS.get(name)) is None:
        return None
    words, classes = tuple(map(str, range(WORDS))), texts.classes or 10
    drawn = rng.integers(1, WORDS, (n, texts.length or _LEAVES), dtype=np.int32)
    if texts.kind == "trees":
        drawn = encode_trees([balanced_tree([words[i] for i in row]) for row in drawn], words)
    part = Split(drawn, rng.integers(classes, size=n))
    return Dataset(name, classes, part, part, kind=texts.kind, vocabulary=words)


class Pace(NamedTuple):
    """Seconds of a core or GPU for an image that is trained on, and for one that is only evaluated."""

    train: float
    evaluate: float


def say_hours(specs: Iterable[Spec], device: str = "auto", *, cores: int = 0) -> list[str]:
    """Lines on how long these runs would take here: their start, their training and their evaluation.

    Training and evaluation are timed for each data set, network and precision. No record is asked: one of a small run,
    or of a busy hour, tells little of another. ValueError where the device is not there. `cores` are to be used at
    once; 0: all.
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
    start = _start(where)
    for alike, runs in groups.items():
        pace, n_test, basis = _measure(runs[0], where)
        images = sum(map(images_to_train, runs))
        evaluated = pace.evaluate * sum(images_to_evaluate(spec, n_test) for spec in runs)
        parts = {"start": start * len(runs), "training": pace.train * images, "evaluation": evaluated}
        total += (hours := sum(parts.values()) / 3600)
        each = ", ".join(f"{name} {_few(seconds / 3600)}" for name, seconds in parts.items())
        lines.append(
            f"  {', '.join(alike)}: {len(runs)} runs, {images:,} images, {_few(hours)} h"
            f"{f' ({each})' if not math.isnan(hours) else ''}, {basis}"
        )
    used = f"{_few(total)} of one {unit}, {_few(total / at_once)} with {at_once} at once"
    return [*lines, f"Hours on {spell_cores(machine_of(where))}: {used}, if none slows another."]


def _few(hours: float) -> str:
    """Two digits are all that an estimate has."""
    return "not known" if math.isnan(hours) else "< 0.001" if hours < 0.001 else f"{float(f'{hours:.2g}'):,g}"


def _start(where: torch.device) -> float:
    """Seconds that a process takes before its first epoch: those of this one so far, which takes the smallest step."""
    _time_step(Spec(model="mlp"), where, 2)
    return time.process_time()


def _measure(spec: Spec, where: torch.device) -> tuple[Pace, int, str]:
    """The pace, the size of the test set, and of how many the timed step was; or nan, and why."""
    n, on_cpu = spec.training.batch_size, where.type == "cpu"
    try:
        published = random_samples(spec.dataset, 1) is not None
        n_test = _TEST.get(spec.dataset, _OTHER_TEST) if published else len(load(spec.dataset).test)
        with one_thread() if on_cpu else nullcontext():
            if on_cpu:  # a step of about a second
                n = min(n, max(2, int(1 / _time_step(spec, where, 2).train)))
            return _time_step(spec, where, n), n_test, f"by a step on {n}, not compiled"
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        told = (str(error).strip().splitlines() or [type(error).__name__])[-1]  # of PyTorch's the last line
        return Pace(math.nan, math.nan), 0, told


def _time_step(spec: Spec, where: torch.device, n: int) -> Pace:
    from reproduction.engine.fit import fresh_trainer
    from reproduction.engine.monitor import summary
    from reproduction.engine.trainer import to_tensors

    most = max(n, _EVALUATED if n > 2 else n)
    if (data := random_samples(spec.dataset, most)) is None:  # the user's own
        data = load(spec.dataset)
        data = replace(data, train=data.train.take(np.arange(most) % len(data.train)))
    alike = replace(spec, model=spec.model.removesuffix("-glove"), batch_size=n, learning_rate=1e-6, epochs=9)
    trainer, (inputs, labels) = fresh_trainer(alike, data, n, where), to_tensors(data.train, where, 0.5, 0.25)
    trainer.fast_objective = trainer.objective  # to compile takes a minute
    clock = time.process_time if where.type == "cpu" else time.perf_counter
    trainer.train_epoch(inputs[:n], labels[:n])  # warms up
    started = clock()
    trainer.train_epoch(inputs[:n], labels[:n])
    train = (clock() - started) / n
    evaluated = int(min(most, max(n, 1 / train)))  # no more than a second, either
    summary(trainer, inputs[:n], labels[:n])
    started = clock()
    summary(trainer, inputs[:evaluated], labels[:evaluated])
    return Pace(train, (clock() - started) / evaluated)
