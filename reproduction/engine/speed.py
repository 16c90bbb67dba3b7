"""How long a training image takes: from the records of finished runs on such a machine, or from a step timed now."""

from __future__ import annotations

import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from focal_lib.threads import one_torch_thread
from reproduction.engine.data.tokens import WORDS
from reproduction.engine.machine import without_cores
from reproduction.engine.spec import Spec
from reproduction.engine.store import SPEC

if TYPE_CHECKING:
    import torch
    from torch import Tensor


SMALL = 2e9  # FLOPs an image up to which a network is timed on a CPU; the smallest of a grid is timed in any case
WORK = 3e10  # FLOPs of a timed step on a CPU: a second or so
FEW = 100_000  # images that take a small network about as long as timing a step takes, or less
_QUICK = ("mlp", "small-cnn")  # these networks
_ASSUMED = 1e-3  # seconds an image, more than these take on most machines
_SECOND_ORDER = ("hessian-trace",)  # losses whose step differentiates twice


class Kind(NamedTuple):
    """Runs that take alike long an image."""

    dataset: str
    model: str
    precision: str  # 'float32' or 'bf16'
    loss: str  # '' but for losses whose step takes longer

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.dataset, self.model, self.loss, self.precision)))


class Speed(NamedTuple):
    """Seconds that one core or GPU takes for a training image; what that rests on; FLOPs of the image, if counted."""

    seconds: float
    basis: str
    flops: float | None = None


def kind_of(spec: Spec, on_gpu: bool) -> Kind:
    """Which of a grid's runs are alike in time."""
    precision = spec.training.precision
    if precision == "auto":
        precision = "bf16" if on_gpu else "float32"
    return _kind(spec.dataset, spec.model, precision, spec.loss, spec.lam)


def _kind(dataset: str, model: str, precision: str, loss: str, lam: float) -> Kind:
    return Kind(dataset, model, precision, loss if loss in _SECOND_ORDER and lam else "")  # with 0 it is not computed


def recorded_speeds(folders: Iterable[Path], machine: str, on_gpu: bool, where: str = "here") -> dict[Kind, Speed]:
    """Of the finished runs in these folders, those made on that machine alone: the median of each kind.

    Args:
        where: these runs are, in words.
        machine: as records name it; of a GPU, whose name alone does not tell that it is one, `on_gpu`. Of a processor
            any number of cores: a run may have been given some of them.
    """
    found = defaultdict(list)
    for path in (path for folder in folders for path in sorted(folder.glob(f"*/{SPEC}"))):
        with suppress(OSError, ValueError, KeyError, TypeError):  # what cannot be read tells no speed
            record = json.loads(path.read_text())
            made_on = {without_cores(name) for name in record["machines"]}
            if made_on != {without_cores(machine)} or not record["images"] or not record["seconds"]:
                continue  # seconds are rounded to tenths
            given = record["spec"]
            kind = _kind(given["dataset"], given["model"], record["precision"], given["loss"], given["lam"])
            cores = 1 if on_gpu else record["threads"]
            found[kind].append(cores * record["seconds"] / record["images"])
    basis = "recorded: median of {} finished run{} {}, evaluation included"
    return {
        kind: Speed(statistics.median(times), basis.format(len(times), "s" if len(times) > 1 else "", where))
        for kind, times in found.items()
    }


def assume_speed(kind: Kind, images: int) -> Speed | None:
    """Of so few images that timing a step would take about as long as they do; None where it would not."""
    if kind.model not in _QUICK or images > FEW:
        return None
    return Speed(_ASSUMED, "assumed, most machines are faster; timing a step would take about as long as the runs")


def measure_speeds(specs: Iterable[Spec], device: torch.device) -> dict[Kind, Speed | str]:
    """How fast runs go, by timed steps on random inputs; of runs that are alike the first counts.

    On a CPU: one thread, as much of the recipe's batch as is quickly done. The FLOPs of a network too large for that
    are taken at the rate of the largest that was timed. On a GPU all are timed, on whole batches, not compiled.

    Returns:
        kind -> speed, or the reason why it is not known: a network that does not fit the data set, say.
    """
    on_gpu = device.type == "cuda"
    groups: dict[tuple[Shape, Kind], list[Kind]] = defaultdict(list)  # alike but for the number of classes
    steps: dict[Kind, _Step] = {}
    found: dict[Kind, Speed | str] = {}
    for spec in specs:
        kind = kind_of(spec, on_gpu)
        try:
            group = groups[_inputs(spec)[0], kind._replace(dataset="")]
            if not group:
                steps[kind] = _Step(spec, kind)
            group.append(kind)
        except (ValueError, OSError, ImportError, RuntimeError) as error:
            found[kind] = _reason(error)
    by_size = sorted(steps, key=lambda kind: steps[kind].flops)
    for kind in by_size:
        if on_gpu or steps[kind].flops <= SMALL or kind == by_size[0]:
            try:
                found[kind] = _timed(steps[kind], device)
            except (RuntimeError, MemoryError) as error:
                found[kind] = _reason(error)
    found |= _rated([kind for kind in by_size if kind not in found], steps, found)
    return found | {kind: found[first] for first, *others in filter(None, groups.values()) for kind in others}


def _reason(error: Exception) -> str:
    """The last line, where PyTorch's long messages say it."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _timed(step: _Step, device: torch.device) -> Speed:
    import torch

    on_cpu = device.type == "cpu"
    n = min(step.size, max(2, int(WORK / step.flops))) if on_cpu else step.size
    with one_torch_thread() if on_cpu else nullcontext(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        step.prepare(device)
        step(n)  # warms up
        seconds = step(n)
    how = "processor time of one thread" if on_cpu else "not compiled"
    return Speed(seconds / n, f"measured now: a step on {n}, {how}; no evaluation, no crops", step.flops)


def _rated(kinds: Iterable[Kind], steps: dict[Kind, _Step], found: dict[Kind, Speed | str]) -> dict[Kind, Speed | str]:
    """By FLOPs, at the rate of the largest network that was timed."""
    timed = {kind: speed for kind, speed in found.items() if isinstance(speed, Speed) and speed.flops}
    if not timed:
        return dict.fromkeys(kinds, "no network of the grid could be timed")
    at = max(timed, key=lambda kind: timed[kind].flops or 0)
    rate = (timed[at].flops or 0) / timed[at].seconds
    basis = f"FLOPs at the {rate / 1e9:.3g} GFLOP/s that {at.model} reached, which may be wrong by a factor of two"
    return {kind: Speed(steps[kind].flops / rate, basis, steps[kind].flops) for kind in kinds}


class _Step:
    """Forward, loss, backward and update on n random samples; its FLOPs a sample, counted without computing."""

    def __init__(self, spec: Spec, kind: Kind) -> None:
        import torch

        self.spec, self.kind, self.size = spec, kind, spec.training.batch_size
        self.shape, self.classes = _inputs(spec)
        where = "cpu" if self.shape is None or kind.loss else "meta"  # what depends on values cannot be traced
        from torch.utils.flop_counter import FlopCounterMode

        with torch.random.fork_rng(devices=[]), FlopCounterMode(display=False) as counter:
            self.prepare(torch.device(where))
            self(2)
        self.flops = counter.get_total_flops() / 2

    def prepare(self, device: torch.device) -> None:
        """A fresh network there."""
        import torch

        from focal_lib.losses.by_name import build
        from reproduction.engine.precision import give_float32_head
        from reproduction.engine.trainer import make_optimiser

        self.device = device
        with torch.device(device):
            self.model = _network(self.spec, self.shape, self.classes).train()
        if self.kind.precision == "bf16" and device.type != "meta":  # which knows no autocast; the FLOPs are the same
            give_float32_head(self.model)
        self.loss = build(self.spec.loss, self.spec.gamma, self.spec.lam, self.spec.training.epochs)
        self.optimiser = make_optimiser(list(self.model.parameters()), self.spec.training)
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self, n: int) -> float:
        """The seconds it takes; on a CPU those of its own work, whatever else that is busy with."""
        import torch

        from reproduction.engine.precision import autocast

        inputs = _draw(self.shape, n).to(self.device)
        labels = torch.randint(self.classes, (n,)).to(self.device)
        started = self._now()
        with autocast(self.device, self.kind.precision) if self.device.type != "meta" else nullcontext():
            logits = self.model(inputs)
        if self.device.type == "meta":
            logits.sum().backward()  # a loss has next to no FLOPs, and some look at values
        else:
            loss = self.loss.objective(logits.float(), labels, self.model, self.generator)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
        return self._now() - started

    def _now(self) -> float:
        import torch

        if self.device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize(self.device)
        return time.perf_counter()


_LEAVES = 19  # of a sentence of SST on the average (Socher et al. 2013)

Shape = tuple[int, ...] | None  # of a sample: (channels, size, size), (tokens,), or a tree


def _inputs(spec: Spec) -> tuple[Shape, int]:
    """Shape of a sample, and the number of classes; published data sets are not loaded for that."""
    from reproduction.engine import data
    from reproduction.engine.data.images import find_image_set
    from reproduction.engine.data.text import TEXT_SETS

    name = spec.dataset
    if name in TEXT_SETS:
        length = TEXT_SETS[name].length
        return (None if length is None else (length,)), TEXT_SETS[name].classes or 10
    if (published := find_image_set(name)) is not None:
        channels, size = published.shape
        return (channels, size, size), published.classes
    found = data.load(name)  # the user's own
    _, height, width, channels = found.train.inputs.shape
    return (channels, height, width), found.classes


def _network(spec: Spec, shape: Shape, classes: int) -> torch.nn.Module:
    import torch

    from reproduction.engine import models
    from reproduction.engine.data.text import TEXT_SETS
    from reproduction.engine.models.text import TOKEN_MODELS, TREE_MODELS

    if shape is None or len(shape) == 1:
        models.check_model(spec.model, spec.dataset, TEXT_SETS[spec.dataset].kind)
        known = TREE_MODELS if shape is None else TOKEN_MODELS
        return known[spec.model](WORDS, classes, None)
    model = models.build(spec.model, shape[0], shape[1], classes)
    return model.to(memory_format=torch.channels_last)


def _draw(shape: Shape, n: int) -> Tensor:
    """n random samples."""
    import torch

    if shape is None:
        return _draw_trees(n)
    if len(shape) == 1:
        return torch.randint(1, WORDS, (n, *shape))
    return torch.randn(n, *shape).contiguous(memory_format=torch.channels_last)


def _draw_trees(n: int) -> Tensor:
    """n trees, a random word in each of the leaves, which are halved down to single ones."""
    import torch

    from reproduction.engine.data.trees import balanced_tree, encode_trees

    words = [str(i) for i in range(WORDS)]
    drawn = torch.randint(WORDS, (n, _LEAVES)).tolist()
    return torch.from_numpy(encode_trees([balanced_tree([words[i] for i in row]) for row in drawn], words))
