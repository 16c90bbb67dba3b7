"""Speed on a busy machine: python -m benchmarks.busy [--size small] [--out FILE]

Half of the cores get a process that never rests. Each call is timed in turns with these stopped and let go, so drift of
the machine meets both; of two calls after a pause the second counts, as the first finds cold caches either way. A call
that waits for all of its threads to be served at once shows here, and nowhere else. Beside each stands the share of the
memory's speed that it reaches while quiet: the time to add up the numbers, once, on one thread, by its time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import click
import numpy as np
import pandas as pd
import torch

from benchmarks import record
from benchmarks.__main__ import synthetic_logits
from benchmarks.neighbours import Neighbours
from focal_lib import metrics
from focal_lib.calibration import FocalTemperatureScaling, TemperatureScaling, VectorScaling

SIZES = {"small": (5_000, 100), "large": (1_000_000, 10)}
HEADS = {  # of the printed table
    "what": "what",
    "quiet_ms": "quiet (ms)",
    "busy_ms": "busy (ms)",
    "ratio": "busy / quiet",
    "reading_share": "share of reading speed",
}
_SECONDS, _MOST = 4.0, 15  # time of one way to call, and repeats


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[list[int]]:
    """Processes that never rest, stopped at first; their ids."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        ids = [process.pid for process in spinning]
        send(ids, signal.SIGSTOP)
        yield ids
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def send(ids: list[int], what: signal.Signals) -> None:
    for one in ids:
        os.kill(one, what)


def calls(n: int, classes: int) -> Iterator[tuple[str, Callable[[], object], np.ndarray]]:
    """Name, call and the numbers that it reads."""
    z, y = synthetic_logits(n, classes)
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    for metric in (
        metrics.ece,
        metrics.adaptive_ece,
        metrics.classwise_ece,
        metrics.nll,
        metrics.brier,
        metrics.all_metrics,
    ):
        yield metric.__name__, lambda metric=metric: metric(p, y), p  # type: ignore[misc]
    yield "temperature, nll", lambda: TemperatureScaling().fit(z, y), z
    yield "focal temperature, nll", lambda: FocalTemperatureScaling("nll", "newton").fit(z, y), z
    yield "vector, nll", lambda: VectorScaling(1e-3).fit(z, y), z
    if n <= 5_000:
        yield "focal temperature, adaptive ECE", lambda: FocalTemperatureScaling("adaptive-ece", "grid").fit(z, y), z


def seconds_of(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def compare(call: Callable[[], object], ids: list[int]) -> tuple[float, float]:
    """Median seconds quiet and busy, in turns."""
    once = seconds_of(call)
    repeats = int(np.clip(_SECONDS / (2 * once), 3, _MOST))
    quiet: list[float] = []
    busy: list[float] = []
    for _ in range(repeats):
        for times, what in ((quiet, signal.SIGSTOP), (busy, signal.SIGCONT)):
            send(ids, what)
            time.sleep(0.05)  # until they rest, or run
            call()  # after a pause caches are cold
            times.append(seconds_of(call))
    send(ids, signal.SIGSTOP)
    return median(quiet), median(busy)


def measure(n: int, classes: int, ids: list[int]) -> pd.DataFrame:
    """A row a call: HEADS, the size, how many of the cores the processes `ids` take, and what others took."""
    rows = []
    neighbours = Neighbours(*ids)
    for name, call, values in calls(n, classes):
        quiet, busy = compare(call, ids)
        reading = min(seconds_of(values.sum) for _ in range(5))
        rows.append((n, classes, name, 1e3 * quiet, 1e3 * busy, busy / quiet, reading / quiet))
    found = pd.DataFrame(rows, columns=["n", "classes", *HEADS])
    return found.assign(taken=len(ids), cores=os.cpu_count() or 1, others=neighbours.cores())


@click.command()
@click.option("--size", type=click.Choice([*SIZES, "all"]), default="all", show_default=True)
@record.out_option(*record.ENDINGS)
def main(size: str, out: Path | None) -> None:
    """Calls on a quiet and on a busy machine, and the share of the memory's speed that each reaches."""
    tables = []
    cores = os.cpu_count() or 1
    with busy_processes(max(1, cores // 2)) as ids:
        for n, classes in SIZES.values() if size == "all" else (SIZES[size],):
            found = measure(n, classes, ids)
            print(f"{n:,} x {classes}, torch with {torch.get_num_threads()} threads, {len(ids)} of {cores} cores taken")
            print(f"other processes had {found['others'].iloc[0]:.2f} cores meanwhile")
            shown = found[list(HEADS)].rename(columns=HEADS)
            print(shown.to_string(index=False, float_format="{:,.2f}".format), flush=True)
            tables.append(found)
    if out is not None:
        record.write(pd.concat(tables, ignore_index=True).assign(**record.about()), out)


if __name__ == "__main__":
    main()
