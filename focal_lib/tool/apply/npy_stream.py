"""Read and write npy files and pipes in chunks, for samples that exceed memory.

samples_*.jsonl of lm-evaluation-harness and npz, which are small, are read whole.
"""

from __future__ import annotations

import math
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from focal_lib.atomic_write import check_target, write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import Given
from focal_lib.calibration.memory import require_memory
from focal_lib.tool.apply.new_scores import apply_to_scores, class_axis
from focal_lib.tool.inputs.archives import open_npz, read_header
from focal_lib.tool.inputs.layouts import ragged_as_array
from focal_lib.tool.inputs.lm_eval_file import scores_of_samples
from focal_lib.tool.inputs.npz_file import NAMES_OF_SCORES

_AT_ONCE = 2**24  # numbers of a chunk, 128 MB in float64, however many samples are asked for


@dataclass(frozen=True)
class NpyReader:
    """An npy stream after its header: samples (n, ...), one after the other."""

    stream: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """Arrays of at most that many samples; of fewer where each is large.

        Raises:
            ValueError: the stream ends early.
        """
        n, rest = self.shape[0], self.shape[1:]
        size = _at_once(rest, size)
        for start in range(0, n, size):
            count = min(size, n - start)
            wanted = count * math.prod(rest) * self.dtype.itemsize
            data = self.stream.read(wanted)
            if len(data) < wanted:
                raise ValueError(f"the npy stream must hold {n} samples. It ends after {start} or a few more.")
            yield np.frombuffer(data, self.dtype).reshape(count, *rest)


@dataclass(frozen=True)
class ArrayReader:
    """Samples (n, ...) in memory or in a memory map, with the interface of a stream."""

    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """Arrays of at most that many samples; of fewer where each is large."""
        size = _at_once(self.shape[1:], size)
        for start in range(0, len(self.values), size):
            yield self.values[start : start + size]


def _at_once(sample: tuple[int, ...], size: int) -> int:
    """Number of samples of this shape to hold in memory, at most `size`; requires memory for one."""
    numbers = max(1, math.prod(sample))
    if numbers > _AT_ONCE:
        require_memory(4 * 8 * numbers, f"a sample of shape {sample}")
    return max(1, min(size, _AT_ONCE // numbers))


@contextmanager
def open_scores(path: Path, given: str = "logits") -> Iterator[NpyReader | ArrayReader]:
    """Open an npy file, a pipe, standard input ('-'), an npz, or a jsonl file of options, with NaN for missing options.

    Of an npz the array `logits` is read, or `probs` or `log_probs` by `given`, or its only array.

    Raises:
        ValueError: no such file, or other than numbers of samples; of a pipe, stored class by class; of a file another
            length than its header says.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise ValueError("standard input must be an npy stream. It is closed.")
        yield _after_header(sys.stdin.buffer, "standard input")
        return
    if path.suffix.lower() == ".jsonl":
        yield ArrayReader(ragged_as_array(scores_of_samples(path)))
        return
    if path.suffix.lower() == ".npz":
        yield ArrayReader(_scores_of_npz(path, given))
        return
    with path.open("rb") as stream:
        yield _after_header(stream, path.name)


def _scores_of_npz(path: Path, given: str) -> np.ndarray:
    with open_npz(path) as file:
        own = NAMES_OF_SCORES[given]
        name = next((name for name in (own, "logits") if name in file.names), next(iter(file.names), ""))
        if name not in (own, "logits") and len(file.names) != 1:
            raise ValueError(
                f"{path.name} must hold {own}, or one array alone. Got {', '.join(sorted(file.names)) or 'nothing'}."
            )
        found = file[name]
    _check_scores(path.name, found.shape, found.dtype)
    return found


def _check_scores(name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if not shape or dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold scores of samples, (n, K) say. Got {dtype} {shape}.")


def _after_header(stream: IO[bytes], name: str) -> NpyReader | ArrayReader:
    shape, by_column, dtype = header = read_header(stream, f"{name} must be an npy file")
    _check_scores(name, shape, dtype)
    length = _length(stream)
    if length is not None and length - stream.tell() != header.size:
        there = length - stream.tell()
        raise ValueError(f"{name} must hold {shape[0]:,} samples, {header.size:,} bytes. It has {there:,}.")
    if by_column and min(shape) > 1 and len(shape) > 1:  # as pandas' to_numpy gives it
        if length is None:
            raise ValueError(
                f"a pipe must be stored row by row: save np.ascontiguousarray(logits). Got {name} by column."
            )
        return ArrayReader(np.memmap(stream, dtype, "r", offset=stream.tell(), shape=shape, order="F"))
    return NpyReader(stream, shape, dtype)


def _length(stream: IO[bytes]) -> int | None:
    """Size of a file in bytes; None for a pipe."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def write_npy(path: Path, shape: tuple[int, ...], chunks: Iterable[np.ndarray], like: np.dtype) -> None:
    """Write chunks of samples as one npy of that shape, atomically; '-' is standard output.

    Args:
        like: dtype of the input: float32 is written for at most 4 bytes per number, else float64.
    """
    kind = np.dtype(np.float32 if like.itemsize <= 4 else np.float64)

    def to(stream: IO[bytes]) -> None:
        header: dict[str, Any] = {"descr": kind.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        for chunk in chunks:
            stream.write(chunk.astype(kind).tobytes())
        stream.flush()

    def to_file(part: Path) -> None:
        with part.open("wb") as stream:
            to(stream)

    if str(path) == "-":
        if sys.stdout is None:
            raise ValueError("standard output must be open for the result. It is closed.")
        to(sys.stdout.buffer)
    else:
        write_whole(path, to_file)


def apply_calibrator(
    calibrator: Calibrator, path: Path, out: Path, *, given: Given | None = None, chunk: int = 100_000
) -> int:
    """Write calibrated probabilities of the npy file `path`, which may exceed memory, to the npy file `out`.

    Shape and layout are those of apply_to_scores. For a samples_*.jsonl of lm-evaluation-harness, the probabilities are
    those of its options, and 0 for missing options.

    Args:
        path, out: '-' for standard input and output.
        given: kind of the scores; None for the kind in fit.
        chunk: samples in memory at a time; of images, pixels.

    Returns:
        The number of samples.

    Raises:
        ValueError: another file, or scores that are not of the kind `given`. Then no file is left.
    """
    if str(out) != "-":
        check_target(out, path, ending=".npy")
    with open_scores(path, given or calibrator.given_) as source:
        axis = class_axis(calibrator, source.shape)
        places = math.prod(source.shape[1:]) // (1 if axis is None else source.shape[axis])
        parts = source.chunks(max(1, chunk // max(1, places)))
        write_npy(out, source.shape, (apply_to_scores(calibrator, part, given) for part in parts), source.dtype)
        return source.shape[0]
