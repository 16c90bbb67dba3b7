"""What is done with samples that lie in a file, a row each: every method of `focal calibrate`, and the metrics.

`measure` is called in a process of its own for each row, so that its memory is that row's.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.__main__ import synthetic_logits
from benchmarks.neighbours import Neighbours
from benchmarks.record import in_short
from focal_lib.calibration import TemperatureScaling
from focal_lib.calibration.calibrators.seen_classes import SeenClassesCalibrator
from focal_lib.calibration.methods import METHODS, build
from focal_lib.metrics.by_name import METRICS, all_metrics

BLOCK = 100_000  # samples; the file is one block of this many again and again
PART = 20  # a row is first done on one of so many parts
_LEAST = 1_000  # samples of a part
ON_DASK = "temperature:nll on Dask, a worker killed"
ALL_METRICS = "all-metrics"


class Found(NamedTuple):
    """What a row computes: the number to compare with that of the block in memory, its name, and what else to say."""

    value: float
    value_of: str
    said: str = ""


@dataclass
class Line:
    """A row; numbers that there are not are nan.

    `seconds` of an estimate are those of a part times how many such parts there are, and its memory is not known.
    """

    kind: str  # fit or metric
    what: str  # method:objective, or the name of a metric
    samples: int
    classes: int
    dtype: str
    file_gb: float  # GiB, as the other two
    seconds: float = math.nan
    estimate: bool = False
    memory_gb: float = math.nan  # the most that the process had for itself
    before_gb: float = math.nan  # what it had of it before
    others: float = math.nan  # cores that other processes had meanwhile
    value: float = math.nan
    value_of: str = ""
    in_memory: float = math.nan  # the same number of the block that is repeated, from an array in memory
    note: str = ""


# --- the file ---------------------------------------------------------------------------


def write(folder: Path, n: int, classes: int) -> None:
    """Logits in float16 and labels; a block of made-up samples again and again."""
    z = np.lib.format.open_memmap(folder / "logits.npy", "w+", np.float16, (n, classes))
    labels = np.empty(n, dtype=np.int16)
    block, y = synthetic_logits(min(BLOCK, n), classes)
    half = block.astype(np.float16)
    for start in tqdm(range(0, n, BLOCK), "writing", disable=None, leave=False):
        size = min(BLOCK, n - start)
        z[start : start + size], labels[start : start + size] = half[:size], y[:size]
    z.flush()
    np.save(folder / "labels.npy", labels)


def load(folder: Path) -> tuple[np.memmap, np.ndarray]:
    """The logits as a memory map, and the labels."""
    return np.load(folder / "logits.npy", mmap_mode="r"), np.load(folder / "labels.npy")


# --- what is done -----------------------------------------------------------------------


def names() -> list[str]:
    """Of all rows: each method with each of its objectives, the metrics, all of them at once, and a fit on Dask."""
    fits = [f"{name}:{objective}" for name, kind in METHODS.items() for objective in kind.options]
    return [*fits, *METRICS, ALL_METRICS, ON_DASK]


def _is_fit(name: str) -> bool:
    return name not in METRICS and name != ALL_METRICS


def _why_not(name: str, n: int, classes: int) -> str:
    """Why a method is not fitted on so many samples; '' for one that reads them in chunks."""
    kind = METHODS.get(name.partition(":")[0])
    if kind is None or not issubclass(kind.calibrator, SeenClassesCalibrator):
        return ""
    return f"does not stream: all log-probabilities in memory, {8 * n * classes / 2**30:,.2f} GiB at least"


def _prepare(name: str, z: np.ndarray, y: np.ndarray) -> Callable[[], Found]:
    """The call to time; of metrics the temperature is fitted before, on the first block."""
    if name == ON_DASK:
        raise ValueError("a fit on Dask is given its file. Got samples.")
    if _is_fit(name):
        return functools.partial(_fit, name, z, y)
    block = slice(0, BLOCK)
    probs: Any = TemperatureScaling().fit(np.array(z[block]), y[block]).lazy_proba(z)
    if name == ALL_METRICS:
        return lambda: Found(all_metrics(probs, y)["ece"], "ECE, as a fraction")
    return lambda: Found(float(METRICS[name].function(probs, y)), "as a fraction" if METRICS[name].per_cent else "")


def _fit(name: str, z: np.ndarray, y: np.ndarray) -> Found:
    fit: Any = build(*name.split(":")).fit(z, y)
    if hasattr(fit, "temperature_"):
        said = f"gamma {fit.gamma_:.4g}" if name.startswith("focal") else ""
        return Found(fit.temperature_, "T", said)
    weight = fit.weight_
    return Found(float(np.mean(np.diag(weight) if weight.ndim == 2 else weight)), "mean scale of a class' own logit")


# --- on Dask ----------------------------------------------------------------------------


def die_once(block: np.ndarray, mark: Path) -> np.ndarray:
    """The first worker that gets here ends as if its machine failed."""
    with contextlib.suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def _on_dask(folder: Path) -> Found:
    """Temperature from blocks that the workers read themselves."""
    import dask.array
    from distributed import Client, LocalCluster

    z, labels = load(folder)
    n, classes = z.shape
    path, mark = folder / "logits.npy", folder / "killed"

    def read(block_info: dict | None = None) -> np.ndarray:
        start, stop = (block_info or {})[None]["array-location"][0]
        return np.load(path, mmap_mode="r")[start:stop]

    cuts = dask.array.empty((n, classes), chunks=(max(1, n // 40), classes), dtype=np.float16).chunks
    lazy = dask.array.map_blocks(read, chunks=cuts, meta=np.empty((0, 0), np.float16))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        fit = TemperatureScaling().fit(lazy.map_blocks(die_once, mark, meta=np.empty((0, 0), np.float16)), labels)
    if not mark.exists():
        raise RuntimeError("a worker must have been killed. None was.")
    return Found(fit.temperature_, "T", "two workers, whose memory is not counted")


# --- measuring --------------------------------------------------------------------------


def own_memory() -> float:
    """GiB in memory that belong to this process alone, in Linux; nan elsewhere.

    Pages of a file that is mapped are the system's, to drop when it likes.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
    return found[0] / 2**20 if found else math.nan


@contextlib.contextmanager
def _watched(line: Line) -> Iterator[None]:
    """Seconds, memory and neighbours of what is inside, into the line."""
    before = own_memory()
    seen, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.append(own_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    neighbours, started = Neighbours(), time.perf_counter()
    try:
        yield
    finally:
        line.seconds, line.others = time.perf_counter() - started, neighbours.cores()
        done.set()
        thread.join()
        line.before_gb, line.memory_gb = before, max(seen)


def empty(name: str, folder: Path) -> Line:
    """The row of that name before anything is measured."""
    z, _ = load(folder)
    return Line("fit" if _is_fit(name) else "metric", name, *z.shape, str(z.dtype), z.nbytes / 2**30)


def measure(name: str, folder: Path, limit: float) -> Line:
    """The row of that name, of the samples in the folder; what is raised becomes its note.

    Args:
        limit: seconds; where a part of the samples says that all of them would take longer, the row is an estimate.
    """
    z, y = load(folder)
    line = empty(name, folder)
    line.note = _why_not(name, line.samples, line.classes)
    if line.note:
        return line
    warnings.simplefilter("ignore")
    try:
        if name == ON_DASK:
            with _watched(line):
                found = _on_dask(folder)
            line.others = math.nan  # the workers would count
            line.in_memory = _in_memory("temperature:nll", z, y)
        else:
            found, used = _whole_or_part(name, z, y, line, limit)
            line.in_memory = _in_memory(name, z[:used], y[:used])
        line.value, line.value_of = float(found.value), found.value_of
        line.note = "; ".join(filter(None, (line.note, found.said)))
    except Exception as error:  # the table goes on past a row that fails
        line.note = in_short(error)
    return line


def _whole_or_part(name: str, z: np.memmap, y: np.ndarray, line: Line, limit: float) -> tuple[Found, int]:
    """What is found, and in how many samples."""
    part = len(z) // PART
    if part >= _LEAST:
        call = _prepare(name, z[:part], y[:part])
        with _watched(line):
            found = call()
        times = len(z) / part
        if times * line.seconds > limit:
            line.note = f"estimate: {times:g} times the {line.seconds:,.1f} s of {part:,} samples"
            line.seconds, line.estimate, line.memory_gb, line.before_gb = times * line.seconds, True, math.nan, math.nan
            return found, part
    call = _prepare(name, z, y)
    with _watched(line):
        return call(), len(z)


def _in_memory(name: str, z: np.memmap, y: np.ndarray) -> float:
    """The same number of the block; nan where the file is not the block again and again, but part of one beside."""
    if len(z) > BLOCK and len(z) % BLOCK:
        return math.nan
    return float(_prepare(name, np.array(z[:BLOCK]), y[:BLOCK])().value)
