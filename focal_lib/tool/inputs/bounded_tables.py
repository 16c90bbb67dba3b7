"""Safe reading of untrusted csv and parquet files, checked before memory is allocated."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd

from focal_lib.calibration.memory import require_memory
from focal_lib.tool.inputs.archives import check_not_inflated, require_file
from focal_lib.validation import check_package

_WIDTH = 8  # bytes of a number in a table
_MOST_COLUMNS = 100_000  # pandas takes a millisecond for each
_RAGGED = 4, 1_000_000  # cells of the table for each that is there, and how many are no matter


def read_csv_content(path: Path) -> bytes:
    """The bytes of a csv file, if its table fits into memory, estimated from its first two lines.

    Raises:
        ValueError: no file, NUL bytes, a separator other than a comma, or implausibly many columns or cells.
        OSError: it cannot be read.
    """
    size = require_file(path)
    require_memory(3 * size, f"{path.name} ({size / 1e6:,.0f} MB)")
    content = path.read_bytes()
    if b"\0" in content:
        encoding = ": save it as UTF-8" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise ValueError(f"{path.name} must be text. Got a NUL byte at {content.index(0):,}{encoding}.")
    first, second = _first_lines(path, content)
    if len(first) == 1 and (other := re.search("[;\t|]", first[0])):
        raise ValueError(f"{path.name} must have commas between columns, and decimal points. Got {other[0]!r}.")
    lines, columns = content.count(b"\n") + content.count(b"\r") + 1, max(len(first), len(second))
    if columns > _MOST_COLUMNS:
        raise ValueError(f"{path.name} must have at most {_MOST_COLUMNS:,} columns: else save npz. Got {columns:,}.")
    there, factor, free = content.count(b",") + lines, *_RAGGED
    if lines * columns > max(free, factor * there):
        raise ValueError(
            f"{path.name} must have every number. Got {columns:,} columns, about {lines:,} lines and {there:,} values."
        )
    require_memory(2 * _WIDTH * lines * columns, f"{path.name}, {lines:,} lines of {columns:,} columns,")
    return content


def _first_lines(path: Path, content: bytes) -> tuple[list[str], list[str]]:
    try:
        rows = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""))
        return next(rows, []), next(rows, [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path.name} must be a table of numbers, csv. It is not: {error}") from None


def read_parquet(path: Path) -> pd.DataFrame:
    """The table of a parquet file that fits into memory, its columns named by text.

    Raises:
        ValueError: another file, damage, a table that is much larger than its file, or than memory.
        OSError: it cannot be read.
        ImportError: pyarrow is not installed.
    """
    check_package("pyarrow", f"reading {path.name}", "parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    size, what = require_file(path), f"{path.name} must be a table of numbers, parquet"
    try:
        with pq.ParquetFile(path) as file:
            found = file.metadata
            cells = found.num_rows * found.num_columns
            if found.num_rows < 0 or found.num_columns > _MOST_COLUMNS:
                raise ValueError(f"its header says {found.num_rows:,} rows of {found.num_columns:,} columns")
            check_not_inflated(_WIDTH * cells, size, what)
            require_memory(2 * _WIDTH * cells, f"{path.name}, {found.num_rows:,} rows of {found.num_columns} columns,")
            frame = file.read(use_pandas_metadata=True).to_pandas()
    except (pa.ArrowException, ValueError, OSError, MemoryError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, ValueError) and str(error).startswith(path.name):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{what}. It is not: {reason}") from None
    return frame.set_axis([str(name) for name in frame.columns], axis=1)
