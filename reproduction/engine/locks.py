"""A lock for each run, and for each place on a GPU: held by the process at work, gone with it however it ends."""

from __future__ import annotations

import contextlib
import getpass
import logging
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

_GLANCE = 0.25  # seconds: `is_locked` of another process holds a lock for much less


class RunTaken(RuntimeError):
    """Another process is doing this run."""


class TimeUp(RuntimeError):
    """The time given is over; the next call goes on, from the checkpoint where there is one."""


def _lock_file(folder: Path) -> Path:
    """The lock of a run's folder lies beside it, as the folder may be moved aside."""
    return folder.parent / ".locks" / folder.name


@contextlib.contextmanager
def held(folder: Path, name: str, wait: bool = True, until: float = math.inf) -> Iterator[None]:
    """Hold the lock of a run's folder; wait for it while another process holds it.

    Args:
        until: seconds since 1970, at which waiting ends.

    Raises:
        RunTaken: another process holds it, and `wait` is false.
        TimeUp: another process holds it still.
    """
    _lock_file(folder).parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(_lock_file(folder))
    try:
        hold = lock.acquire(timeout=_GLANCE, poll_interval=_GLANCE / 50)
    except Timeout:
        if not wait:
            raise RunTaken(f"{name} is being done by another process.") from None
        log.warning("%s: another process is doing it, waiting", name)
        left = -1 if until == math.inf else max(until - time.time(), 0)  # -1: without end
        try:
            hold = lock.acquire(timeout=left, poll_interval=0.1)
        except Timeout:
            raise TimeUp(f"time is up, and another process is still doing {name}.") from None
    with hold:
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is at it now, said at once: looks share the lock, and nobody shares it with who holds it."""
    if not _lock_file(folder).exists():
        return False
    if fcntl is not None:
        with contextlib.suppress(OSError), _lock_file(folder).open("rb") as file:  # closing it gives the lock back
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False
    try:  # a file system without such locks: there `held` has a file of its own
        with FileLock(_lock_file(folder)).acquire(timeout=_GLANCE):
            return False
    except Timeout:
        return True


def gpus_here() -> list[str]:
    """Names of this machine's GPUs that tell them apart in every process, in PyTorch's order.

    Raises:
        ValueError: there is none.
    """
    import torch

    from reproduction.engine.trainer import pick_device

    pick_device("cuda")
    found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return [str(getattr(properties, "uuid", i)) for i, properties in enumerate(found)]


@contextlib.contextmanager
def place_on_a_gpu(
    per_gpu: int, gpus: Sequence[str] | None = None, poll: float = 1.0, until: float = math.inf
) -> Iterator[str]:
    """'cuda:<number>', a GPU with fewer than `per_gpu` jobs of this user; waits for one. Each has a job before any two.

    Args:
        poll: seconds between two looks.
        until: seconds since 1970, at which waiting ends.

    Raises:
        ValueError: no GPU.
        TimeUp: none has a place yet.
    """
    gpus = gpus_here() if gpus is None else gpus
    folder = Path(tempfile.gettempdir(), f"focal-gpus-{getpass.getuser()}")  # of the machine, as they are
    folder.mkdir(mode=0o700, exist_ok=True)
    while (taken := _take_place(folder, gpus, per_gpu)) is None:
        if (left := until - time.time()) <= 0:
            raise TimeUp("time is up, and every GPU is still taken.")
        time.sleep(min(poll, left))
    number, hold = taken
    with hold:
        yield f"cuda:{number}"


def _take_place(
    folder: Path, gpus: Sequence[str], per_gpu: int
) -> tuple[int, contextlib.AbstractContextManager[object]] | None:
    """The number of a GPU and a place there, held; None where all are taken."""
    for place in range(per_gpu):
        for number, gpu in enumerate(gpus):
            with contextlib.suppress(Timeout):
                return number, FileLock(folder / f"{gpu}-{place}").acquire(blocking=False)
    return None
