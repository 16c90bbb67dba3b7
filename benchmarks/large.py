"""Samples that do not fit: python -m benchmarks.large [--samples 10000000] [--classes 100]

Writes float16 logits to a temporary folder, fits and measures them from there, and prints seconds with the most memory
that the process had for itself (pages of the file are the system's, to drop when it likes). Then the same temperature
from a Dask array on processes of this machine, one of which is killed in the middle.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import dask.array
import numpy as np
from distributed import Client, LocalCluster
from tqdm import tqdm

from benchmarks.__main__ import synthetic_logits
from focal_lib.calibration import FocalTemperatureScaling, TemperatureScaling, VectorScaling
from focal_lib.metrics import adaptive_ece, ece

_BLOCK = 100_000


def write(folder: Path, n: int, classes: int) -> tuple[np.memmap, np.ndarray]:
    """Logits as a memory map, labels; a block of made-up samples again and again, in another order of labels."""
    z = np.lib.format.open_memmap(folder / "logits.npy", "w+", np.float16, (n, classes))
    labels = np.empty(n, dtype=np.int16)
    block, y = synthetic_logits(_BLOCK, classes)
    half = block.astype(np.float16)
    for start in tqdm(range(0, n, _BLOCK), "writing", disable=None):
        size = min(_BLOCK, n - start)
        z[start : start + size], labels[start : start + size] = half[:size], y[:size]
    z.flush()
    return np.load(folder / "logits.npy", mmap_mode="r"), labels


def own_memory() -> float:
    """GB in memory that belong to this process alone, in Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 2**20


@contextlib.contextmanager
def measured(what: str) -> Iterator[None]:
    """Print the seconds and the most memory of what is inside."""
    seen, done = [own_memory()], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.append(own_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - started
        done.set()
        thread.join()
        print(f"{what:40} {seconds:8.1f} s   at most {max(seen):.2f} GB", flush=True)


def die_once(block: np.ndarray, mark: Path) -> np.ndarray:
    """The first worker that gets here ends as if its machine failed."""
    with contextlib.suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def on_dask(z: np.memmap, labels: np.ndarray, path: Path, mark: Path) -> float:
    """Temperature from blocks that the workers read themselves."""
    n, classes = z.shape

    def read(block_info: dict | None = None) -> np.ndarray:
        start, stop = (block_info or {})[None]["array-location"][0]
        return np.load(path, mmap_mode="r")[start:stop]

    cuts = dask.array.empty((n, classes), chunks=(max(1, n // 40), classes), dtype=np.float16).chunks
    lazy = dask.array.map_blocks(read, chunks=cuts, meta=np.empty((0, 0), np.float16))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        fit = TemperatureScaling().fit(lazy.map_blocks(die_once, mark, meta=np.empty((0, 0), np.float16)), labels)
    return fit.temperature_


@click.command()
@click.option("--samples", default=10_000_000, show_default=True)
@click.option("--classes", default=100, show_default=True)
@click.option(
    "--slow", is_flag=True, help="Focal temperature and vector scaling too: half an hour for the default size."
)
def main(samples: int, classes: int, slow: bool) -> None:
    """Fits and metrics of a memory map, with time and memory."""
    with tempfile.TemporaryDirectory(prefix="focal-large-") as name:
        folder = Path(name)
        z, labels = write(folder, samples, classes)
        print(f"{samples:,} x {classes} {z.dtype}, {z.nbytes / 2**30:.2f} GB")
        with measured("temperature scaling"):
            plain = TemperatureScaling().fit(z, labels)
        probs = plain.lazy_proba(z)
        with measured("calibrated ECE, equal width"):
            width = ece(probs, labels)
        with measured("calibrated ECE, equal mass"):
            mass = adaptive_ece(probs, labels)
        print(f"ECE {100 * width:.4f} %, {100 * mass:.4f} %")
        block = slice(0, _BLOCK)  # the file is one block again and again
        few = TemperatureScaling().fit(np.array(z[block]), labels[block])
        off = abs(few.temperature_ / plain.temperature_ - 1)
        print(f"T in memory, of the block that is repeated: differs by {off:.0e}")
        with measured("temperature scaling on Dask, one killed"):
            temperature = on_dask(z, labels, folder / "logits.npy", folder / "killed")
        print(f"T {plain.temperature_:.6f}; on Dask differs by {abs(temperature / plain.temperature_ - 1):.0e}")
        if slow:
            with measured("focal temperature scaling, Newton"):
                focal = FocalTemperatureScaling("nll", "newton").fit(z, labels)
            print(f"focal: T {focal.temperature_:.4f}, gamma {focal.gamma_:.4f}")
            with measured("vector scaling"):
                VectorScaling(1e-3).fit(z, labels)


if __name__ == "__main__":
    main()
