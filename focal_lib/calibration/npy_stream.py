"""npy files read and written in chunks, from pipes too: samples that need not fit into memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from focal_lib.atomic_write import check_target, write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.inputs.new_scores import apply_to_scores, class_axis
from focal_lib.calibration.logit_sets import Given

__all__ = ["NpyReader", "apply_calibrator", "open_npy", "write_npy"]


@dataclass(frozen=True)
class NpyReader:
    """An npy stream after its header: samples (n, ...), one after the other."""

    stream: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """Arrays of at most that many samples.

        Raises:
            ValueError: the stream ends early.
        """
        n, rest = self.shape[0], self.shape[1:]
        for start in range(0, n, size):
            count = min(size, n - start)
            wanted = count * math.prod(rest) * self.dtype.itemsize
            data = self.stream.read(wanted)
            if len(data) < wanted:
                raise ValueError(f"the npy stream must hold {n} samples. It ends after {start} or a few more.")
            yield np.frombuffer(data, self.dtype).reshape(count, *rest)


@contextmanager
def open_npy(path: Path) -> Iterator[NpyReader]:
    """Open an npy file, or standard input for '-'.

    Raises:
        ValueError: no npy, or other than numbers of shape (n, K), stored sample by sample.
    """
    if str(path) == "-":
        yield _after_header(sys.stdin.buffer, "standard input")
        return
    with path.open("rb") as stream:
        yield _after_header(stream, path.name)


def _after_header(stream: IO[bytes], name: str) -> NpyReader:
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, dtype = read(stream)
    except ValueError:
        raise ValueError(f"{name} must be an npy file. It is not.") from None
    if not shape or min(shape) < 0 or dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold scores of samples, (n, K) say. Got {dtype} {shape}.")
    if by_column and min(shape) > 1 and len(shape) > 1:
        raise ValueError(f"{name} must be stored row by row: save np.ascontiguousarray(logits).")
    return NpyReader(stream, shape, dtype)


def write_npy(path: Path, shape: tuple[int, ...], chunks: Iterable[np.ndarray], like: np.dtype) -> None:
    """Write chunks of samples as one npy of that shape, whole or not at all; '-' is standard output.

    Args:
        like: what was read: float32 is written for at most 4 bytes a number, else float64.
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
        to(sys.stdout.buffer)
    else:
        write_whole(path, to_file)


def apply_calibrator(
    calibrator: Calibrator, path: Path, out: Path, *, given: Given = "logits", chunk: int = 100_000
) -> int:
    """Calibrated probabilities of the npy file `path`, that may be larger than memory, as the npy file `out`.

    In the layout that the calibrator was fitted on, and of the same shape: see apply_to_scores.

    Args:
        path, out: '-' for standard input and output.
        given: what the file holds.
        chunk: samples in memory at a time; of images, pixels.

    Returns:
        The number of samples.

    Raises:
        ValueError: another file, or numbers that are not what they are said to be. Then no file is left.
    """
    if str(out) != "-":
        check_target(out, path, ending=".npy")
    with open_npy(path) as source:
        axis = class_axis(calibrator, source.shape)
        places = math.prod(source.shape[1:]) // (1 if axis is None else source.shape[axis])
        parts = source.chunks(max(1, chunk // max(1, places)))
        write_npy(out, source.shape, (apply_to_scores(calibrator, part, given) for part in parts), source.dtype)
        return source.shape[0]
