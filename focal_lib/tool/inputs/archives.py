"""Safe reading of untrusted npy and npz files.

The size in a header is compared with the file's size and with available memory before memory is allocated. Nothing is
unpickled. Any damage is a ValueError that describes it.
"""

from __future__ import annotations

import io
import lzma
import math
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from focal_lib.calibration.memory import require_memory

_LONGEST_HEADER = 10_000  # NumPy's own bound, here asked before the header is read
_KINDS = "biufcSUmM"
Errors = tuple[type[Exception], ...]
_NO_HEADER: Errors = (ValueError, EOFError, SyntaxError, TypeError, KeyError, OverflowError, tokenize.TokenError)
_NO_HEADER += (RecursionError, MemoryError)
# what zipfile and the decompressors raise on damage, an encrypted member and a method there is not among it
_NO_ARCHIVE: Errors = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError)
_NO_ARCHIVE += (OverflowError, RuntimeError)
_BLOCK = 2**20
_MOST_INFLATED, _FREE_TO_INFLATE = 200, 2**28  # numbers from a network shrink by a quarter, not two hundredfold


class Header(NamedTuple):
    """The fields of an npy header."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


def require_file(path: Path) -> int:
    """The size of a plain file.

    Raises:
        ValueError: a folder, a pipe or a device, which cannot be read twice or has no end.
        OSError: the file does not exist.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path.name or path} must be a file. Got a folder, a pipe or a device.")
    return found.st_size


def read_header(stream: IO[bytes], what: str) -> Header:
    """Read an npy header of any version, at most 10,000 bytes of it.

    Args:
        what: the stream holds, for messages: 'x.npy must be an npy file of numbers'.

    Raises:
        ValueError: no npy, objects or records, a shape that cannot be.
    """
    try:
        version = np.lib.format.read_magic(stream)
        width = 2 if version == (1, 0) else 4
        length = stream.read(width)
        if len(length) < width or (count := int.from_bytes(length, "little")) > _LONGEST_HEADER:
            raise ValueError
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        found = Header(*read(io.BytesIO(length + stream.read(count))))
    except _NO_HEADER:
        raise ValueError(f"{what}. It is not.") from None
    if found.dtype.kind not in _KINDS or found.dtype.itemsize == 0:  # NumPy would unpickle objects
        raise ValueError(
            f"{what}. It holds objects or records: save names as text, labels.astype(str), with --class-names in the "
            "order of the columns."
        )
    if any(isinstance(length, bool) or length < 0 for length in found.shape):
        raise ValueError(f"{what}. Its header says {found}.")
    return found


def read_npy(path: Path, *, mapped: bool = False) -> np.ndarray:
    """The array of an npy file, in memory or as a read-only memory map.

    Raises:
        ValueError: another file, missing or surplus bytes, or more than fits into memory.
        OSError: the file does not exist.
    """
    size, what = require_file(path), f"{path.name} must be an npy file of numbers"
    with path.open("rb") as stream:
        header = read_header(stream, what)
        offset = stream.tell()
        if header.size != size - offset:
            _refuse_size(what, header, size - offset)
        if mapped and header.size:
            order = "F" if header.by_column else "C"
            return np.memmap(stream, header.dtype, "r", offset, header.shape, order)  # type: ignore[call-overload]
        return _filled(stream, header, what)


class Npz:
    """The arrays of an open npz archive by name, each read on access."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self._archive = path, archive
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            shown = "".join(letter if letter.isprintable() else "?" for letter in name)  # as messages can show it
            self._members.setdefault(shown, []).append(entry)

    @property
    def names(self) -> set[str]:
        return set(self._members)

    def __getitem__(self, name: str) -> np.ndarray:
        """Raises ValueError: no array of numbers, damage, more than the archive can hold or than fits into memory."""
        what = f"{name} in {self.path.name} must be an array of numbers"
        entry, *others = self._members[name]
        if others:
            raise ValueError(f"{what}. It stands in the archive more than once.")
        try:
            with self._archive.open(entry) as stream:
                header = read_header(stream, what)
                size = entry.file_size - stream.tell()
                if header.size != size:
                    _refuse_size(what, header, size)
                check_not_inflated(header.size, entry.compress_size, what)
                found = _filled(stream, header, what)
                if stream.read(1):  # at its end the archive compares its checksum
                    raise ValueError(f"{what}. It goes on after {header}.")
                return found
        except _NO_ARCHIVE as error:
            if isinstance(error, ValueError) and str(error).startswith(what):
                raise
            raise ValueError(f"{what}. It holds objects, or is damaged.") from None


@contextmanager
def open_npz(path: Path) -> Iterator[Npz]:
    """An npz archive, to read arrays from by name.

    Raises:
        ValueError: another file.
        OSError: the file does not exist.
    """
    require_file(path)
    with path.open("rb") as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except _NO_ARCHIVE:
            raise ValueError(f"{path.name} must be an npz file of numbers. It is not.") from None
        with archive:
            yield Npz(path, archive)


def check_not_inflated(size: int, stored: int, what: str) -> None:
    """Raise ValueError if more than 256 MB are compressed 200-fold: a decompression bomb, or constant numbers."""
    if size > _FREE_TO_INFLATE and size > _MOST_INFLATED * stored:
        raise ValueError(
            f"{what} and not {size / 1e6:,.0f} MB out of {stored / 1e6:,.3g}, as no predictions are: "
            "if it is as it should be, save it without compression."
        )


def _refuse_size(what: str, header: Header, there: int) -> None:
    raise ValueError(
        f"{what}. Its header says {header}, {header.size:,} bytes; {'only ' if there < header.size else ''}"
        f"{max(there, 0):,} follow."
    )


def _filled(stream: IO[bytes], header: Header, what: str) -> np.ndarray:
    """Read in pieces into memory that is committed only as it is written."""
    require_memory(header.size, f"{what}. {header}")
    try:
        flat = np.empty(math.prod(header.shape), header.dtype)
    except (MemoryError, ValueError):
        raise ValueError(f"{what}. {header} do not fit into memory.") from None
    raw, at = flat.view(np.uint8), 0
    while at < len(raw):
        part = stream.read(min(_BLOCK, len(raw) - at))
        if not part:
            raise ValueError(f"{what}. It ends early: its header says {header}.")
        raw[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    return flat.reshape(header.shape, order="F" if header.by_column else "C")
