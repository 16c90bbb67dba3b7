"""Small work on one thread: where threads wait for each other, more of them are slower."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from threadpoolctl import ThreadpoolController

SMALL = 4_000_000  # numbers, up to which one thread is as fast as two on an idle machine, and faster on a busy one


@contextlib.contextmanager
def one_torch_thread() -> Iterator[int]:
    """Operations of torch on one thread, this one's and that of threads begun meanwhile; how many it had."""
    import torch  # slow, and commands that only plan training do without

    threads = torch.get_num_threads()
    if threads == 1:
        yield 1
        return
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch, and the BLAS and OpenMP libraries loaded so far, use one thread; afterwards as before.

    A decorator, too. Threads of Python may be in it at once: who finds more threads gives them back, in his own thread,
    as BLAS wants it; who finds one changes nothing, nor does he where torch has one, as in a worker.

    A parallel region of some microseconds ends when the last thread does, and on a machine with another process on one
    of its cores that one first waits for its turn.
    """
    with one_torch_thread() as threads, contextlib.ExitStack() as limits:
        if threads > 1:
            for library in _controller().lib_controllers:
                if library.num_threads > 1:
                    limits.callback(library.set_num_threads, library.num_threads)
                    library.set_num_threads(1)
        yield


def few_threads(numbers: int) -> contextlib.AbstractContextManager[None]:
    """`one_thread` where there are at most SMALL numbers."""
    return one_thread() if numbers <= SMALL else contextlib.nullcontext()


@functools.cache
def _controller() -> ThreadpoolController:
    """Of the libraries there are; to look for them takes longer than a small fit."""
    return ThreadpoolController()
