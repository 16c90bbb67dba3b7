"""Small work on one thread: where threads wait for each other, more of them are slower."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import torch
from threadpoolctl import ThreadpoolController

__all__ = ["SMALL", "few_threads"]

SMALL = 4_000_000  # numbers, up to which one thread is as fast as two on an idle machine, and faster on a busy one


@contextlib.contextmanager
def few_threads(numbers: int) -> Iterator[None]:
    """Inside, torch, BLAS and OpenMP use one thread where there are at most SMALL numbers; afterwards as before.

    A parallel region of some microseconds ends when the last thread does, and on a machine with another process on one
    of its cores that one first waits for its turn.
    """
    threads = torch.get_num_threads()
    if numbers > SMALL or threads == 1:  # one already, such as of a worker, whose limits would meet those of others
        yield
        return
    with _controller().limit(limits=1):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


@functools.cache
def _controller() -> ThreadpoolController:
    """Of the libraries there are; to look for them takes longer than a small fit."""
    return ThreadpoolController()
