"""Apply a calibrator to files: npy files and pipes in chunks, so that they may exceed memory; npz, jsonl and tables."""

from __future__ import annotations

import math
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

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
from focal_lib.tool.inputs.parts import in_words
from focal_lib.tool.inputs.table_file import LABEL, check_classes, check_once, listed, numbers_of_columns
from focal_lib.tool.inputs.table_formats import TABLES, open_table
from focal_lib.validation import check_package

WRITTEN = (".csv", ".parquet")  # tables
_AT_ONCE = 2**24  # numbers of a chunk, 128 MB in float64, however many samples are asked for


@dataclass(frozen=True)
class Source:
    """Samples (n, ...) of a file, a pipe or memory; `read(start, stop)` gives the next ones."""

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[int, int], np.ndarray]

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """Arrays of at most that many samples; of fewer where each is large.

        Raises:
            ValueError: a stream ends early, or a sample is larger than memory.
        """
        n, numbers = self.shape[0], max(1, math.prod(self.shape[1:]))
        if numbers > _AT_ONCE:
            require_memory(4 * 8 * numbers, f"a sample of shape {self.shape[1:]}")
        size = max(1, min(size, _AT_ONCE // numbers))
        for start in range(0, n, size):
            yield self.read(start, min(start + size, n))


@contextmanager
def open_scores(path: Path, given: Given = "logits") -> Iterator[Source]:
    """Open an npy file, a pipe, standard input ('-'), an npz, or a jsonl file of options, with NaN for missing options.

    Of an npz the array `logits` is read, or `probs` or `log_probs` by `given`, or its only array.

    Raises:
        ValueError: no such file, or other than numbers of samples; of a pipe, stored class by class; of a file another
            length than its header says.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise ValueError("standard input must be an npy stream. It is closed.")
        yield _of_npy(sys.stdin.buffer, "standard input")
    elif path.suffix.lower() == ".jsonl":
        yield _of_array(ragged_as_array(scores_of_samples(path)))
    elif path.suffix.lower() == ".npz":
        yield _of_array(_scores_of_npz(path, given))
    else:
        with path.open("rb") as stream:
            yield _of_npy(stream, path.name)


def _of_array(values: np.ndarray) -> Source:
    return Source(values.shape, values.dtype, lambda start, stop: values[start:stop])


def _scores_of_npz(path: Path, given: Given) -> np.ndarray:
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


def _of_npy(stream: IO[bytes], name: str) -> Source:
    shape, by_column, dtype = header = read_header(stream, f"{name} must be an npy file")
    _check_scores(name, shape, dtype)
    length = _length(stream)
    if length is not None and (there := length - stream.tell()) != header.size:
        raise ValueError(f"{name} must hold {shape[0]:,} samples, {header.size:,} bytes. It has {there:,}.")
    if by_column and min(shape) > 1 and len(shape) > 1:  # as pandas' to_numpy gives it
        if length is None:
            raise ValueError(
                f"a pipe must be stored row by row: save np.ascontiguousarray(logits). Got {name} by column."
            )
        return _of_array(np.memmap(stream, dtype, "r", offset=stream.tell(), shape=shape, order="F"))

    def read(start: int, stop: int) -> np.ndarray:
        wanted = (stop - start) * math.prod(shape[1:]) * dtype.itemsize
        data = stream.read(wanted)
        if len(data) < wanted:
            raise ValueError(f"the npy stream must hold {shape[0]} samples. It ends after {start} or a few more.")
        return np.frombuffer(data, dtype).reshape(stop - start, *shape[1:])

    return Source(shape, dtype, read)


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

    if str(path) != "-":
        write_whole(path, to_file)
    elif sys.stdout is None:
        raise ValueError("standard output must be open for the result. It is closed.")
    else:
        to(sys.stdout.buffer)


def apply_calibrator(
    calibrator: Calibrator, path: Path, out: Path, *, given: Given | None = None, chunk: int = 100_000
) -> int:
    """Write calibrated probabilities of `path`, in the shape of its scores, to the npy file `out`.

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
    with open_scores(path, given or cast(Given, calibrator.given_)) as source:
        axis = class_axis(calibrator, source.shape)
        places = math.prod(source.shape[1:]) // (1 if axis is None else source.shape[axis])
        parts = source.chunks(max(1, chunk // max(1, places)))
        write_npy(out, source.shape, (apply_to_scores(calibrator, part, given) for part in parts), source.dtype)
        return source.shape[0]


# --- tables ---------------------------------------------------------------------------------


def is_table(calibrator: Calibrator, path: Path, scores: str | Sequence[str] | None = None) -> bool:
    """Whether the file holds columns by name; jsonl does if the calibrator, or `scores`, names them."""
    kind = path.suffix.lower()
    return kind in WRITTEN or (kind in TABLES and bool(scores or calibrator.score_columns_))


def apply_to_table(
    calibrator: Calibrator,
    path: Path,
    out: Path,
    given: Given | None = None,
    scores: str | Sequence[str] | None = None,
) -> int:
    """Write the table `path` with probabilities in place of scores, as csv or parquet; or only these, as npy.

    Other columns are unchanged.

    Args:
        out: '-' for standard output, npy.
        given: kind of the scores; None for the kind in fit.
        scores: names of their columns, in the order of the classes; None for those in fit.

    Returns:
        The number of samples.

    Raises:
        ValueError: another file, other columns, or scores that are not of the kind `given`.
        ImportError: parquet, and pyarrow is not installed.
    """
    if (ending := out.suffix.lower()) == ".parquet":
        check_package("pyarrow", f"writing {out.name}", "parquet")
    table = open_table(path)
    columns = _score_columns(calibrator, list(table.names), scores)
    frame = table.read_all({*table.names} - {*columns})
    if calibrator.score_columns_ is None and not scores:
        check_classes(path, frame[columns])
    values = numbers_of_columns(table, frame[columns])
    probs = apply_to_scores(calibrator, values[:, 0] if len(columns) == 1 else values, given)
    if ending not in WRITTEN:
        write_npy(out, probs.shape, [probs], values.dtype)
        return len(frame)
    result = frame.assign(**dict(zip(columns, probs.reshape(len(frame), len(columns)).T, strict=True)))
    write_whole(out, lambda part: result.to_csv(part, index=False) if ending == ".csv" else result.to_parquet(part))
    return len(frame)


def _score_columns(calibrator: Calibrator, names: list[str], scores: str | Sequence[str] | None) -> list[str]:
    """Those that are named, else those of fit, in their order; without such, all but 'label', if as many."""
    asked, of_fit = listed(scores or (), names), calibrator.score_columns_
    found = asked or ([name for name in names if name != LABEL] if of_fit is None else list(map(str, of_fit)))
    if missing := [name for name in found if name not in names]:
        whose = "that --scores names" if asked else "that the calibrator was fitted on"
        raise ValueError(
            f"the table must have the columns of scores {whose}, {in_words(found)}. Got {in_words(names)}; no "
            f"{missing[0]!r}{'' if asked else ': if they have other names, say --scores'}."
        )
    check_once("the table", found, names)
    return found if of_fit is not None and not asked else _as_many(calibrator, found)


def _as_many(calibrator: Calibrator, names: list[str]) -> list[str]:
    layout, k = calibrator.layout_, calibrator.n_classes_
    fits = {"binary": len(names) == 1, "multi-label": False, "options": len(names) >= 2}
    if not fits.get(layout, len(names) == k or (len(names) == 1 and k == 2)):
        wanted = {"binary": "one column", "multi-label": "no table, but npy", "options": "two columns or more"}
        raise ValueError(
            "of a calibrator that was not fitted on a table the scores must be those that --scores names, else all "
            f"columns but 'label', {wanted.get(layout, f'{k} columns')}. Got {in_words(names)}."
        )
    return names
