"""A lock for each run, held by the process that does it and gone with that process, however it ends."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

__all__ = ["RunTaken", "held", "is_locked"]

log = logging.getLogger(__name__)


class RunTaken(RuntimeError):
    """Another process is doing this run."""


def _lock(folder: Path) -> FileLock:
    """The lock of a run's folder. It lies beside it, as the folder may be moved aside."""
    locks = folder.parent / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    return FileLock(locks / folder.name)


@contextlib.contextmanager
def held(folder: Path, name: str, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a run's folder.

    Raises:
        RunTaken: another process holds it and `wait` is false.
    """
    lock = _lock(folder)
    try:
        hold = lock.acquire(blocking=False)
    except Timeout:
        if not wait:
            raise RunTaken(f"{name} is being done by another process.") from None
        log.warning("%s: another process is doing it, waiting", name)
        hold = lock.acquire(poll_interval=0.5)
    with hold:
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is at it now."""
    if not (folder.parent / ".locks" / folder.name).exists():
        return False
    try:
        with _lock(folder).acquire(blocking=False):
            return False
    except Timeout:
        return True
