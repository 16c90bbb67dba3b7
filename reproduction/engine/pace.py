"""How long a run takes to begin, and an epoch of it: from what earlier tries on this machine left in the logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from reproduction.engine.spec import Spec
from reproduction.engine.speed import kind_of
from reproduction.engine.store import LOG, run_folder


class Pace(NamedTuple):
    """Seconds from the beginning of a try to the end of its first epoch, data and compiling included; of an epoch."""

    begin: float
    epoch: float


def alike(spec: Spec) -> str:
    """The same for runs whose epochs take the same time: those that differ in seed, or in a loss that costs as much."""
    loss = kind_of(spec, on_gpu=False).loss or "cross-entropy"
    return replace(spec, loss=loss, gamma=0.0, lam=0.0, seed=0).digest


def known_pace(spec: Spec, root: str | Path | None, machine: str) -> Pace | None:
    """Of the last try of this run on that machine that came through an epoch; else of a run like it beside it."""
    folder = run_folder(spec, root)
    for logs in ([folder / LOG], sorted(folder.parent.glob(f"*/{LOG}"))):
        found = [line for log in logs for line in _paces(log, alike(spec), machine)]
        if found:
            return max(found, key=lambda line: line[0])[1]
    return None


def _paces(log: Path, like: str, machine: str) -> Iterator[tuple[str, Pace]]:
    """When each was measured, and what."""
    with suppress(OSError):
        for line in log.read_text(errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # half a line, or one that tells no pace
                told = json.loads(line)
                if (told["pace"]["like"], told["pace"]["machine"]) == (like, machine):
                    yield told["time"], Pace(float(told["pace"]["begin"]), float(told["pace"]["epoch"]))


class Tempo:
    """What one try of a run takes, epoch by epoch."""

    def __init__(self, spec: Spec, machine: str, begun: float, known: Pace | None = None) -> None:
        """Before its first epoch.

        Args:
            begun: seconds since 1970; known: what earlier tries took.
        """
        self.spec, self.machine, self.begun, self.known = spec, machine, begun, known
        self.begin = 0.0
        self.lasted = list[float]()

    def add(self, started: float, ended: float) -> None:
        """An epoch is over."""
        self.begin = self.begin or ended - self.begun
        self.lasted.append(ended - started)

    @property
    def epoch(self) -> float:
        """The longest so far but for the first, which on a GPU compiles, too; that one where it must do."""
        if later := self.lasted[1:]:
            return max(later)
        return min(self.lasted[0], self.known.epoch) if self.known else self.lasted[0]

    def told(self) -> dict[str, Any]:
        """For the run's log; nothing before the first epoch."""
        if not self.lasted:
            return {}
        pace = {"begin": round(self.begin, 3), "epoch": round(self.epoch, 3)}
        return {"pace": {"like": alike(self.spec), "machine": self.machine, **pace}}
