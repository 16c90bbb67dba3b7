"""Functions of samples with labels, evaluated in chunks: arrays, memory maps and Dask arrays give the same sums.

Every fit and every metric is a sum over samples, or a few numbers for each. A function of a chunk is mapped over all
chunks, so memory is bounded by the chunk and those few numbers.

`collect`, `gather` and `total` copy the results of a chunk into place at once. A list of them would fragment the heap:
thousands of small arrays between the large ones cost gibibytes with ten million samples (benchmarks/large.py).

Each chunk runs in one thread, several chunks at a time. Operations split among threads would be a thousand parallel
regions of some ten microseconds, each of which waits for its slowest thread (benchmarks/busy.py).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from focal_lib.arrays import to_numpy
from focal_lib.threads import limit_this_thread, one_thread
from focal_lib.validation import check_labels

# float64 numbers in a chunk, 2 MiB, so that temporary arrays stay in the cache; twice as many of unconverted float32
CHUNK_SIZE = 262_144
_LEAST_CHUNKS = 4  # fewest chunks for which threads are worth starting
_AHEAD = 4  # chunks begun for each thread, so that none waits for the consumer
Found = TypeVar("Found")
Function = Callable[[np.ndarray, np.ndarray], Found]
Numbers = np.ndarray | float
Parts = tuple[tuple[Numbers, ...], tuple[Numbers, ...]]  # of a chunk: an entry for each sample, and terms of sums
Collected = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]  # of all chunks
Check = Callable[[np.ndarray], None]


class Samples:
    """Values (n, K) with labels (n,): `map` and `total` apply a function of a chunk (m, K) float64, (m,) int64.

    A chunk may be a view of the caller's arrays, so a function must not write to it. Functions are called from several
    threads; blocks of a Dask array go to its workers. Results and sums follow the order of the samples, and do not
    depend on the number of threads.

    Args:
        values: array, memory map or other sliceable array, tensor or Dask array (n, K).
        labels: integers (n,).
        name: name of the values in messages.
        check: called with the values of each chunk first; raises if they are invalid.
        single: do not convert float32 to float64.
        binary: values may be (n,), probabilities p of class 1 of two; a chunk is then (1 - p, p), (m, 2). The check is
            called with p.

    Raises:
        ValueError: shapes that do not match, labels that are not classes.
    """

    values: Any
    labels: Any

    def __init__(
        self,
        values: Any,
        labels: Any,
        name: str = "logits",
        check: Check | None = None,
        single: bool = False,
        binary: bool = False,
    ) -> None:
        self.check, self.single = check, single
        self.on_dask = hasattr(values, "to_delayed")
        self.values = values if self.on_dask else _as_array(values)
        if self.values.ndim != 2 and not (binary and self.values.ndim == 1):
            or_binary = ", or (n,) for two classes" if binary else ""
            raise ValueError(f"{name} must have shape (n, K){or_binary}. Got {tuple(self.values.shape)}.")
        if self.on_dask and any(math.isnan(size) for size in self.values.shape):
            raise ValueError(f"{name} must have blocks of known size: call compute_chunk_sizes() first.")
        self.labels = labels if hasattr(labels, "to_delayed") else _as_array(labels)
        _check_shape(self.values, name)
        if not self.on_dask:
            self.labels = np.asarray(self.labels)
            check_labels(self.labels, len(self), self.classes)
        elif tuple(self.labels.shape) != (len(self),):
            raise ValueError(f"labels must have shape (n,) = ({len(self)},). Got {tuple(self.labels.shape)}.")
        else:
            self.values, self.labels = _aligned(self.values, self.labels)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def classes(self) -> int:
        return _classes(self.values)

    def map(self, function: Function[Found]) -> list[Found]:
        """Results of the function for each chunk, in order."""
        return [found for block in self._of_blocks(_list, function) for found in block]

    def total(self, function: Callable[..., Numbers], weights: np.ndarray | None = None) -> np.ndarray:
        """The sum of the function over all chunks; `weights` as in `collect`."""
        return self.collect(lambda *chunk: ((), (function(*chunk),)), weights)[1][0]

    def gather(self, function: Function[tuple[Numbers, ...]]) -> tuple[np.ndarray, ...]:
        """Arrays with an entry for each sample, joined from those that the function returns for each chunk."""
        return self.collect(lambda *chunk: (function(*chunk), ()))[0]

    def collect(self, function: Callable[..., Parts], weights: np.ndarray | None = None) -> Collected:
        """Arrays with an entry for each sample, and sums, from those that the function returns for each chunk.

        Args:
            weights: (n,), handed to the function as a third argument, (m,).
        """
        blocks = self._of_blocks(_collect, function, *([] if weights is None else [weights]))
        if len(blocks) == 1:
            return blocks[0]
        columns, sums = zip(*blocks, strict=True)
        return tuple(map(np.concatenate, zip(*columns, strict=True))), tuple(
            np.sum(parts, axis=0) for parts in zip(*sums, strict=True)
        )

    def _of_blocks(self, work: Callable[..., Any], function: Callable[..., Any], *weights: np.ndarray) -> Sequence[Any]:
        """`work` on each block of a Dask array, or on all values as one block."""
        if not self.on_dask:
            return [work(function, self.check, self.single, self.values, self.labels, *weights)]
        import dask

        sizes, apart = self.values.chunks[0], dask.delayed(_on_worker, pure=False)
        columns = [_blocks(column, sizes) for column in (self.labels, *weights)]
        blocks = zip(sizes, self.values.to_delayed().ravel(), *columns, strict=True)
        return dask.compute(
            *(apart(work, function, self.check, self.single, *block) for size, *block in blocks if size)
        )


def _blocks(column: Any, sizes: Sequence[int]) -> Any:
    """Entries of each block; arrays stay arrays, as a task that all blocks need would load all blocks first."""
    return np.split(column, np.cumsum(sizes)[:-1]) if isinstance(column, np.ndarray) else column.to_delayed().ravel()


def _classes(values: Any) -> int:
    return int(values.shape[1]) if values.ndim == 2 else 2


def _check_shape(values: Any, name: str) -> None:
    """Check n >= 1 and K >= 2; values are checked chunk by chunk."""
    shape = tuple(values.shape)
    if _classes(values) < 2:
        raise ValueError(f"{name} must have shape (..., K) with K >= 2. Got {shape}.")
    if 0 in shape:
        raise ValueError(f"{name} must not be empty. Got shape {shape}.")


def _as_array(values: Any) -> Any:
    """An array, or an object that can be sliced like one without being read whole."""
    values = to_numpy(values)
    return values if hasattr(values, "ndim") and hasattr(values, "dtype") else np.asarray(values)


def _aligned(values: Any, labels: Any) -> tuple[Any, Any]:
    """Put all classes of a sample in one block, and split lazy labels at the same samples."""
    values = values.rechunk({1: -1}) if values.ndim == 2 else values
    return values, labels.rechunk((values.chunks[0],)) if hasattr(labels, "to_delayed") else np.asarray(labels)


def _each(
    function: Callable[..., Found],
    check: Check | None,
    single: bool,
    values: np.ndarray,
    labels: np.ndarray,
    *weights: np.ndarray,
) -> Iterator[Found]:
    """Results of the function for every chunk of values in memory, in order; consume all of them."""
    kind = np.float32 if single and values.dtype == np.float32 else np.float64
    step = max(1, CHUNK_SIZE * 8 // np.dtype(kind).itemsize // _classes(values))

    def of(start: int) -> Found:
        some = slice(start, start + step)
        chunk = np.ascontiguousarray(values[some], dtype=kind)
        truth = np.ascontiguousarray(labels[some], dtype=np.int64)
        if check is not None:
            check(chunk)
        if chunk.ndim == 1:
            chunk = np.minimum(chunk, 1)  # rounding may put it above
            chunk = np.stack([1 - chunk, chunk], axis=1)
        return function(chunk, truth, *(own[some] for own in weights))

    starts = range(0, values.shape[0], step)
    with one_thread() as threads:
        workers = min(threads, len(starts)) if len(starts) >= _LEAST_CHUNKS else 1
        yield from map(of, starts) if workers == 1 else _in_parallel(of, starts, workers)


def _in_parallel(function: Callable[[int], Found], starts: Iterable[int], workers: int) -> Iterator[Found]:
    """Results in order, only a few of them computed ahead."""
    with ThreadPoolExecutor(workers, initializer=limit_this_thread) as pool:
        tasks = (pool.submit(function, start) for start in starts)
        begun = deque(itertools.islice(tasks, _AHEAD * workers))
        try:
            while begun:
                found = begun.popleft().result()
                begun.extend(itertools.islice(tasks, 1))
                yield found
        finally:
            pool.shutdown(cancel_futures=True)  # drop the rest after an error


def _list(function: Callable[..., Found], *block: Any) -> list[Found]:
    return list(_each(function, *block))


def _collect(
    function: Callable[..., Parts], check: Check | None, single: bool, values: Any, labels: Any, *weights: np.ndarray
) -> Collected:
    """`Samples.collect` of values in memory.

    Raises:
        ValueError: not one entry for each sample; entries of another type than those of the first chunk.
    """

    def of(chunk: np.ndarray, *columns: np.ndarray) -> tuple[int, Parts]:
        return len(chunk), function(chunk, *columns)

    kept: list[np.ndarray] = []
    added: list[Any] = []
    start = 0
    for samples, (columns, sums) in _each(of, check, single, values, labels, *weights):
        parts = [np.asarray(part) for part in columns]
        if not start:
            kept = [np.empty((len(labels), *part.shape[1:]), part.dtype) for part in parts]
        for column, part in zip(kept, parts, strict=True):
            if part.shape != (samples, *column.shape[1:]) or part.dtype != column.dtype:
                raise ValueError(
                    f"function must return for each chunk {column.dtype} of shape {(samples, *column.shape[1:])}. Got "
                    f"{part.dtype} of shape {part.shape}."
                )
            column[start : start + samples] = part
        if start:
            added = [operator.iadd(total, part) for total, part in zip(added, sums, strict=True)]
        else:
            added = [np.sum([np.asarray(part)], axis=0) for part in sums]  # a copy; integers and booleans in int64
        start += samples
    return tuple(kept), tuple(added)


def _on_worker(
    work: Callable[..., Found], function: Callable[..., Any], check: Any, single: bool, *block: Any
) -> Found:
    """`work` on a block of a Dask array, in one thread."""
    values, labels, *_ = block
    check_labels(labels, len(values), _classes(values))
    with one_thread():
        return work(function, check, single, *block)
