"""Samples of numbers with labels, in chunks: arrays, memory maps and Dask arrays alike.

Whatever is fitted or measured is a sum over samples, or a few numbers for each. A function of one chunk is mapped over
all of them, so memory is bounded by the chunk and those few numbers a sample. An array in memory, a memory map and a
Dask array give the same sums.

What a chunk gives to `collect`, `gather` or `total` is put where it belongs at once, and dropped. Kept in a list until
the last chunk is done, thousands of small arrays lie between the large ones of the chunks, and the room that those
leave is not given back: of ten million samples that made gibibytes (benchmarks/large.py).

Each chunk is worked on by one thread, and several chunks at a time. Left to itself torch splits each operation among
its threads: a thousand parallel regions of some ten microseconds, each of which waits for its slowest thread. Where
other processes had the cores, too, that made an ECE of 1,000,000 x 10 tens of times slower (benchmarks/busy.py).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from focal_lib.threads import one_torch_thread
from focal_lib.validation import check_labels

# numbers in a chunk, 2 MiB: what a fit keeps of it stays in the cache; twice as many of float32 that is left as it is
CHUNK_SIZE = 262_144
_LEAST_CHUNKS = 4  # from which on threads are worth starting
_AHEAD = 4  # chunks begun for each thread, so that none waits for what is made of the results
Found = TypeVar("Found")
Function = Callable[[Tensor, Tensor], Found]
Numbers = np.ndarray | Tensor | float
Parts = tuple[tuple[Numbers, ...], tuple[Numbers, ...]]  # of a chunk: an entry for each sample, and what is to be added
Collected = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]  # of all of them
Check = Callable[[Tensor], None]


class Samples:
    """Values (n, K) with labels (n,): `map` and `total` apply a function of a chunk (m, K) float64, (m,) int64.

    As many chunks at a time as torch has threads, so the function is called from several; the blocks of a Dask array go
    to its workers. Results come in the order of the samples, and sums are taken in that order: they do not depend on
    the number of threads.

    Args:
        values: array, memory map, anything sliced like one, tensor or Dask array (n, K).
        labels: integers (n,).
        name: of the values, for messages.
        check: called with the values of each chunk before anything is done with them; raises where they are wrong.
        single: leave float32 as it is, for functions that need no more.

    Raises:
        ValueError: shapes that do not fit, labels that are no classes.
    """

    values: Any
    labels: Any

    def __init__(
        self, values: Any, labels: Any, name: str = "logits", check: Check | None = None, single: bool = False
    ) -> None:
        self.check, self.single = check, single
        self.on_dask = hasattr(values, "to_delayed")
        self.values = values if self.on_dask else _as_array(values)
        if self.values.ndim != 2:
            raise ValueError(f"{name} must have shape (n, K). Got {tuple(self.values.shape)}.")
        if self.on_dask and any(math.isnan(size) for size in self.values.shape):
            raise ValueError(f"{name} must have blocks of known size: call compute_chunk_sizes() first.")
        self.labels = labels if hasattr(labels, "to_delayed") else _as_array(labels)
        _check_shape(self.values, name)
        if not self.on_dask:
            self.labels = np.asarray(self.labels)
            check_labels(self.labels, *self.values.shape)
        elif tuple(self.labels.shape) != (len(self),):
            raise ValueError(f"labels must have shape (n,) = ({len(self)},). Got {tuple(self.labels.shape)}.")
        else:
            self.values, self.labels = _aligned(self.values, self.labels)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def classes(self) -> int:
        return int(self.values.shape[1])

    def map(self, function: Function[Found]) -> list[Found]:
        """The function of each chunk, in order."""
        if self.on_dask:
            return [found for block in self._on_workers(_list_of_block, function) for found in block]
        return list(_each(function, self.check, self.single, self.values, self.labels))

    def total(self, function: Function[Numbers]) -> np.ndarray:
        """The sum of the function over all chunks."""
        return self.collect(functools.partial(to_add, function))[1][0]

    def gather(self, function: Function[tuple[Numbers, ...]]) -> tuple[np.ndarray, ...]:
        """Of a function that gives arrays with an entry for each sample: those of all samples."""
        return self.collect(functools.partial(_to_keep, function))[0]

    def collect(self, function: Function[Parts]) -> Collected:
        """Of a function that gives arrays with an entry for each sample, and what is to be added: both, of all."""
        if not self.on_dask:
            return _collect(function, self.check, self.single, self.values, self.labels)
        columns, sums = zip(*self._on_workers(_collect_of_block, function), strict=True)
        return tuple(map(np.concatenate, zip(*columns, strict=True))), tuple(
            np.sum(parts, axis=0) for parts in zip(*sums, strict=True)
        )

    def subsample(self, count: int) -> Samples:
        """That many samples drawn at random, always the same, in memory; itself where there are not twice as many."""
        if len(self) < 2 * count:
            return self
        index = np.sort(np.random.default_rng(0).choice(len(self), count, replace=False))
        return Samples(np.asarray(self.values[index]), np.asarray(self.labels[index]))

    def _on_workers(self, work: Callable[..., Any], function: Function[Any]) -> tuple[Any, ...]:
        import dask

        sizes, apart = self.values.chunks[0], dask.delayed(work, pure=False)
        blocks = zip(sizes, self.values.to_delayed().ravel(), self._labels_of_blocks(), strict=True)
        return dask.compute(*(apart(function, self.check, self.single, *block) for size, *block in blocks if size))

    def _labels_of_blocks(self) -> Any:
        """Arrays stay arrays: a task that all blocks need would have them all loaded before the first is done."""
        if isinstance(self.labels, np.ndarray):
            return np.split(self.labels, np.cumsum(self.values.chunks[0])[:-1])
        return self.labels.to_delayed().ravel()


def _check_shape(values: Any, name: str) -> None:
    """n >= 1 and K >= 2. The numbers are looked at chunk by chunk, by whoever maps."""
    shape = tuple(values.shape)
    if shape[-1] < 2:
        raise ValueError(f"{name} must have shape (..., K) with K >= 2. Got {shape}.")
    if 0 in shape:
        raise ValueError(f"{name} must not be empty. Got shape {shape}.")


def _as_array(values: Any) -> Any:
    """An array, or what can be sliced like one without being read whole."""
    if isinstance(values, Tensor):
        known = values.float() if values.dtype == torch.bfloat16 else values
        return known.detach().cpu().numpy()
    return values if hasattr(values, "ndim") and hasattr(values, "dtype") else np.asarray(values)


def _aligned(values: Any, labels: Any) -> tuple[Any, Any]:
    """All classes of a sample in one block, and lazy labels cut at the same samples."""
    values = values.rechunk({1: -1})
    return values, labels.rechunk((values.chunks[0],)) if hasattr(labels, "to_delayed") else np.asarray(labels)


def _samples_at_once(values: np.ndarray, kind: type) -> int:
    return max(1, CHUNK_SIZE * 8 // np.dtype(kind).itemsize // int(values.shape[1]))


def _tensor(array: np.ndarray, kind: type) -> Tensor:
    """Without a copy where there is nothing to convert; torch wants arrays that it could write."""
    same: np.ndarray = np.ascontiguousarray(array, dtype=kind)
    usable = same.flags.writeable and min(same.strides) >= 0  # a row of a reversed array is contiguous
    return torch.from_numpy(same if usable else same.copy())


def _each(
    function: Function[Found], check: Check | None, single: bool, values: np.ndarray, labels: np.ndarray
) -> Iterator[Found]:
    """The function of every chunk of values in memory, in order; to be asked for all of them."""

    kind = np.float32 if single and values.dtype == np.float32 else np.float64
    step = _samples_at_once(values, kind)

    def of(start: int) -> Found:
        chunk, truth = _tensor(values[start : start + step], kind), _tensor(labels[start : start + step], np.int64)
        if check is not None:
            check(chunk)
        return function(chunk, truth)

    starts = range(0, values.shape[0], step)
    with one_torch_thread() as threads:
        workers = min(threads, len(starts)) if len(starts) >= _LEAST_CHUNKS else 1
        yield from map(of, starts) if workers == 1 else _in_parallel(of, starts, workers)


def _in_parallel(function: Callable[[int], Found], starts: Iterable[int], workers: int) -> Iterator[Found]:
    """Results in order; only a few are there before they are asked for."""
    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        tasks = (pool.submit(function, start) for start in starts)
        begun = deque(itertools.islice(tasks, _AHEAD * workers))
        try:
            while begun:
                found = begun.popleft().result()
                begun.extend(itertools.islice(tasks, 1))
                yield found
        finally:
            pool.shutdown(cancel_futures=True)  # after an error nobody wants the rest


def to_add(function: Callable[..., Numbers], *chunk: Tensor) -> Parts:
    """For `collect`: nothing of each sample; what the function gives of the chunk is to be added."""
    return (), (function(*chunk),)


def _to_keep(function: Function[tuple[Numbers, ...]], values: Tensor, labels: Tensor) -> Parts:
    return function(values, labels), ()


def _collect(
    function: Function[Parts], check: Check | None, single: bool, values: np.ndarray, labels: np.ndarray
) -> Collected:
    """What the function gives of every chunk of values in memory.

    Raises:
        ValueError: not one entry for each sample; entries of another type than those of the first chunk.
    """

    def of(chunk: Tensor, truth: Tensor) -> tuple[int, Parts]:
        return len(chunk), function(chunk, truth)

    kept: list[np.ndarray] = []
    added: list[Any] = []
    start = 0
    for samples, (columns, sums) in _each(of, check, single, values, labels):
        parts = [np.asarray(part) for part in columns]
        if not start:
            kept = [np.empty((len(labels), *part.shape[1:]), part.dtype) for part in parts]
        for column, part in zip(kept, parts, strict=True):
            if part.shape != (samples, *column.shape[1:]) or part.dtype != column.dtype:
                raise ValueError(
                    f"of each chunk a function must give {column.dtype} of shape {(samples, *column.shape[1:])}. Got "
                    f"{part.dtype} of shape {part.shape}."
                )
            column[start : start + samples] = part
        terms = [[np.asarray(part)] for part in sums]
        if start:
            terms = [[total, *term] for total, term in zip(added, terms, strict=True)]
        added = [np.sum(term, axis=0) for term in terms]  # of whole numbers and truth values in int64
        start += samples
    return tuple(kept), tuple(added)


def _list_of_block(
    function: Function[Found], check: Check | None, single: bool, values: np.ndarray, labels: np.ndarray
) -> list[Found]:
    """On a Dask worker, which has as many threads as there are to be."""
    check_labels(labels, *values.shape)
    with one_torch_thread():
        return list(_each(function, check, single, values, labels))


def _collect_of_block(
    function: Function[Parts], check: Check | None, single: bool, values: np.ndarray, labels: np.ndarray
) -> Collected:
    """On a Dask worker, as `_list_of_block`."""
    check_labels(labels, *values.shape)
    with one_torch_thread():
        return _collect(function, check, single, values, labels)
