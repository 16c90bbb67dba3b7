"""Small work on one thread: where threads wait for each other, more of them are slower."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 4_000_000  # numbers, up to which one thread is as fast as two on an idle machine, and faster on a busy one
_here = threading.local()  # most: of this thread, where it is limited


def thread_count() -> int:
    """Threads that work may be split among: those of torch where it is loaded, OMP_NUM_THREADS, or the processors."""
    most = getattr(_here, "most", None)
    if most is not None:
        return int(most)
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "get_num_threads"):
        return int(torch.get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_this_thread(most: int | None = 1) -> None:
    """Let `thread_count` be that in this thread; None for what it is without a limit."""
    _here.most = most


@contextlib.contextmanager
def one_thread() -> Iterator[int]:
    """Inside, torch, and the BLAS and OpenMP libraries loaded so far, use one thread; afterwards as before.

    A decorator, too; as a context it gives the number of threads that there were. Threads of Python may be in it at
    once: who finds more threads gives them back, in his own thread, as BLAS wants it; who finds one changes nothing.

    A parallel region of some microseconds ends when the last thread does, and on a machine with another process on one
    of its cores that one first waits for its turn.
    """
    threads = thread_count()
    if threads == 1:
        yield 1
        return
    with contextlib.ExitStack() as limits:
        limits.callback(limit_this_thread, getattr(_here, "most", None))
        limit_this_thread(1)
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "set_num_threads"):
            limits.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        for library in _controller().lib_controllers:
            if library.num_threads > 1:
                limits.callback(library.set_num_threads, library.num_threads)
                library.set_num_threads(1)
        yield threads


def few_threads(numbers: int) -> contextlib.AbstractContextManager[int | None]:
    """`one_thread` where there are at most SMALL numbers."""
    return one_thread() if numbers <= SMALL else contextlib.nullcontext()


@functools.cache
def _controller() -> ThreadpoolController:
    """Of the libraries there are; to look for them takes longer than a small fit."""
    return ThreadpoolController()
