"""What a grid would cost, before any of it is begun."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reproduction.checkout import recorded_folders
from reproduction.engine.cost import images_to_train
from reproduction.engine.grids import GridNotes, read_grid, read_notes
from reproduction.engine.machine import cores_here, machine_name, machine_of, spell_cores
from reproduction.engine.spec import Spec
from reproduction.engine.speed import (
    Kind,
    Speed,
    assume_speed,
    kind_of,
    measure_speeds,
    recorded_speeds,
)
from reproduction.engine.status import Status, status
from reproduction.engine.store import CHECKPOINT, run_folder
from reproduction.engine.timing import measure_apart

Measure = Literal["all", "worth it", "nothing"]  # which kinds, of those that no record tells of

NOT_DONE = ("running", "newer", "other")  # states of runs that a call would not do; with --again these:
NOT_EVEN_AGAIN = ("running", "newer")


@dataclass(frozen=True)
class Part:
    """Runs of a grid that take alike long an image: how many are to be done, their images, how fast that goes."""

    kind: Kind
    runs: int
    images: int
    speed: Speed | None = None  # None: not known
    why_not: str = ""

    @property
    def hours(self) -> float | None:
        """Of one core or GPU."""
        return None if self.speed is None else self.images * self.speed.seconds / 3600

    def __str__(self) -> str:
        line = f"  {self.kind}: {self.runs:,} run{'s' * (self.runs != 1)}, {self.images:,} images"
        if self.speed is None:
            return f"{line}, hours not known{f': {self.why_not}' if self.why_not else ''}"
        flops = "" if self.speed.flops is None else f"; {self.speed.flops / 1e9:.3g} GFLOP an image"
        return f"{line}, {_hours(self.hours)} h\n    {_few(1 / self.speed.seconds)} images/s: {self.speed.basis}{flops}"


@dataclass(frozen=True)
class Plan:
    """A grid's runs that are to be done: how many images, at most, and about how many hours."""

    notes: GridNotes
    runs: int
    finished: int
    left_out: tuple[tuple[str, int], ...]  # states of runs that a call would not do, and how many those are
    begun: int  # of the runs to be done, those that go on from a checkpoint
    parts: tuple[Part, ...]
    machine: str  # '' where the runs are done on others
    at_once: int
    unit: str  # 'core' or 'GPU'

    @property
    def images(self) -> int:
        """Epochs times the images of one, over all runs to be done; those before a checkpoint are not subtracted."""
        return sum(part.images for part in self.parts)

    @property
    def hours(self) -> float | None:
        """Of one core or GPU; None if a part's are not known."""
        known = [part.hours for part in self.parts]
        return None if None in known else sum(hours or 0 for hours in known)

    @property
    def aims(self) -> str:
        """What the grid stands for, what it does otherwise and lacks."""
        lines = [f"Reproduces: {self.notes.reproduces}."] if self.notes.reproduces else []
        for what, texts in (("Differs from the paper in", self.notes.differs), ("Missing", self.notes.missing)):
            lines += [f"{what}:", *(f"  {text}" for text in texts)] if texts else []
        return "\n".join(lines)

    @property
    def costs(self) -> str:
        """Runs, images and hours."""
        to_do = sum(part.runs for part in self.parts)
        left_out = ", ".join(f"{count} {state}" for state, count in self.left_out)
        ending = f"; left out: {left_out}." if left_out else "."
        lines = [f"{self.runs} runs: {self.finished} finished, {to_do} to do{ending}"]
        if not self.parts:
            return lines[0]
        amount = f"at most {self.images:,}; {self.begun} begun, which go on" if self.begun else f"{self.images:,}"
        lines += [f"Images (or texts) to train on, epochs x those of one: {amount}."]
        if not self.machine:
            return "\n".join(lines)
        lines += map(str, self.parts)
        hours_on = f"Hours on {spell_cores(self.machine)}"
        if self.hours is None:
            return "\n".join([*lines, f"{hours_on}: not known."])
        flops = [part.images * part.speed.flops for part in self.parts if part.speed and part.speed.flops]
        total = f", {sum(flops):.2g} FLOP" if len(flops) == len(self.parts) else ""
        lines.append(f"{hours_on}: {_hours(self.hours, 'about ')} of one {self.unit}{total};")
        lines.append(f"{_hours(self.hours / self.at_once)} with {self.at_once} at once, if none slows another.")
        return "\n".join(lines)


def _few(value: float | None) -> str:
    """Two digits are all that an estimate has."""
    return "?" if value is None else f"{float(f'{value:.2g}'):,g}"


def _hours(value: float | None, about: str = "") -> str:
    return "less than 0.001" if value is not None and value < 0.001 else f"{about}{_few(value)}"


def _not_to_do(again: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """States of finished runs, and of those that a call would not do."""
    return ((), NOT_EVEN_AGAIN) if again else (("done",), NOT_DONE)


def runs_to_do(found: Iterable[Status], *, again: bool = False) -> list[Spec]:
    """Those that a call would do: not finished, but for `again`, and nobody else's."""
    finished, refused = _not_to_do(again)
    return [entry.spec for entry in found if entry.state not in (*finished, *refused)]


def plan_grid(
    path: str | Path,
    root: Path,
    device: str = "auto",
    *,
    cores: int = 0,
    measure: Measure = "all",
    again: bool = False,
    here: bool = True,
    found: Sequence[Status] | None = None,
) -> Plan:
    """What the grid's runs that are not finished would cost on this machine.

    Left out is what no call would do: runs that another process does, of a newer training code, or whose folder holds
    another run.

    Args:
        root: the runs there are; their records tell how fast this machine is, and those of results/ what such a
            machine was.
        device: of the runs; 'auto' is the GPU where there is one.
        cores: to be used at once; 0: all.
        again: what is finished counts as to be done, too.
        measure: time a step where no record tells; 'worth it': within seconds, in a process of its own, and not
            where the runs take less time than that. Otherwise PyTorch is imported only where there is a GPU.
        here: the runs are done on this machine; otherwise it is not looked at, and only images are told.
        found: where the grid's runs stand, if that is known: each finished one's record is read for it.

    Raises:
        ValueError: a bad grid, or a device that is not there.
    """
    specs, notes = read_grid(path), read_notes(path)
    found = status(specs, root) if found is None else found
    finished, refused = _not_to_do(again)
    left = runs_to_do(found, again=again)
    states = Counter(entry.state for entry in found)
    left_out = tuple((state, states[state]) for state in refused if states[state])
    begun = sum((run_folder(spec, root) / CHECKPOINT).is_file() for spec in left)
    machine, at_once, unit, where = machine_name() if here else "", cores or cores_here(), "core", "cpu"
    on_gpu = device.startswith("cuda")
    if here and left and (measure == "all" or on_gpu or (device == "auto" and shutil.which("nvidia-smi"))):
        from reproduction.engine.trainer import pick_device

        picked = pick_device(device)
        where = str(picked)
        if on_gpu := picked.type == "cuda":
            import torch

            machine, unit = machine_of(picked), "GPU"
            at_once = torch.cuda.device_count() if picked.index is None else 1
    groups: Mapping[Kind, list[Spec]] = defaultdict(list)
    for spec in left:
        groups[kind_of(spec, on_gpu)].append(spec)
    images = {kind: sum(map(images_to_train, runs)) for kind, runs in groups.items()}
    known: dict[Kind, Speed | str] = {}
    if here and left:
        known |= recorded_speeds(recorded_folders(), machine, on_gpu, "in results/, on such a machine")
        known |= recorded_speeds([root], machine, on_gpu)
        new = {kind: runs[0] for kind, runs in groups.items() if kind not in known}
        known |= _measured(path, new, images, where, measure)
    parts = []
    for kind, runs in groups.items():
        speed = known.get(kind, "")
        parts.append(Part(kind, len(runs), images[kind], *((None, speed) if isinstance(speed, str) else (speed,))))
    done = sum(states[state] for state in finished)
    return Plan(notes, len(specs), done, left_out, begun, tuple(parts), machine, at_once, unit)


def _measured(
    path: str | Path, first: Mapping[Kind, Spec], images: Mapping[Kind, int], device: str, measure: Measure
) -> Mapping[Kind, Speed | str]:
    """Of kinds that no record tells of, by the first run of each."""
    if measure == "nothing" or not first:
        return {}
    if measure == "all":
        import torch

        return measure_speeds(first.values(), torch.device(device))
    assumed = {kind: speed for kind in first if (speed := assume_speed(kind, images[kind])) is not None}
    left = [spec for kind, spec in first.items() if kind not in assumed]
    return assumed | (measure_apart(path, left, device) if left else {})
