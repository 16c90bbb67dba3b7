"""csv, parquet and lines of JSON as tables: names of their columns first, then those that are wanted.

Sizes are checked before memory is allocated. Of text in parquet that is what it takes once it is decoded, as a
dictionary holds a value once.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from focal_lib.calibration.memory import require_memory
from focal_lib.tool.inputs.archives import check_not_inflated, require_file
from focal_lib.tool.inputs.parts import in_words
from focal_lib.validation import check_package

TABLES = (".csv", ".parquet", ".jsonl")
_NO_NUMBER = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"]
_WIDTH = 8  # bytes of a number in a table
_MOST_COLUMNS = 20_000  # pandas takes a millisecond for each
_RAGGED = 4, 1_000_000  # cells of the table for each that is there, and how many are no matter


class Table:
    """A table whose columns have names; `index` are those that pandas had as an index."""

    names: Sequence[str]
    index: Sequence[str] = ()

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path, self.size = path, require_file(path) if content is None else len(content)

    def read(self, wanted: Sequence[str], text: Container[str], either: Container[str] = ()) -> pd.DataFrame:
        """These columns, each of which the table must have once; there may be no rows.

        Args:
            text: columns whose values stay text: 001 is not 1.
            either: columns that may hold text or numbers.

        Raises:
            ValueError: damage, implausibly many cells, or more than fits into memory.
        """
        raise NotImplementedError

    def read_all(self, text: Container[str]) -> pd.DataFrame:
        """Every column, others than those of numbers unchanged, also where two have one name."""
        return self.read(self.names, text)

    def place(self, sample: int) -> str:
        """Where a sample stands, for messages: 'sample 2 (line 4)'."""
        return f"sample {sample}"

    def refuse_many(self, columns: int) -> None:
        if columns > _MOST_COLUMNS:
            raise ValueError(
                f"{self.path.name} must have at most {_MOST_COLUMNS:,} columns: else save npz. Got {columns:,}."
            )


def open_table(path: Path, content: bytes | None = None, kind: str = "") -> Table:
    """The table of a csv, parquet or jsonl file, or of the content of a csv or jsonl file.

    Raises:
        ValueError: another file, damage, no names of columns, too many of them.
        OSError: it cannot be read.
        ImportError: of parquet, pyarrow is not installed.
    """
    if (kind := kind or path.suffix.lower()) == ".parquet":
        return _Parquet(path)
    return {".csv": _Csv, ".jsonl": _JsonLines}[kind](path, content)


# --- csv ------------------------------------------------------------------------------------


class _Csv(Table):
    def __init__(self, path: Path, content: bytes | None = None) -> None:
        super().__init__(path, content)
        require_memory(3 * self.size, f"{path.name} ({self.size / 1e6:,.0f} MB)")
        self._content = content = path.read_bytes() if content is None else content
        if b"\0" in content:
            encoding = ": save it as UTF-8" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
            raise ValueError(f"{path.name} must be text. Got a NUL byte at {content.index(0):,}{encoding}.")
        try:
            content.decode()
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise ValueError(
                f"{path.name} must be text in UTF-8: save it so. Got byte 0x{content[error.start]:02x} in line {line}."
            ) from None
        records = self._records()
        self._skipped, self.names = next(((number, cells) for number, _, cells in records), (0, []))
        second = next(records, (0, 0, []))[2]
        self._check_size(second)
        if not self.names:
            raise ValueError(f"{path.name} must have a header and lines. Got none.")
        if len(second) > len(self.names) and any(second[len(self.names) :]):
            raise ValueError(
                f"{path.name} must have the names of its columns in its first line. Got {len(self.names)}, "
                f"{in_words(self.names)}, for {len(second)} cells in the next: leave out lines before the header."
            )

    def _records(self) -> Iterator[tuple[int, int, list[str]]]:
        """Number of the record from 1, its last line, its cells; blank lines are passed over, as pandas does."""
        rows = csv.reader(io.TextIOWrapper(io.BytesIO(self._content), encoding="utf-8-sig", newline=""))
        try:
            for number, cells in enumerate(rows, 1):
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield number, rows.line_num, cells
        except csv.Error as error:
            raise ValueError(f"{self.path.name} must be csv. It is not, in line {rows.line_num}: {error}.") from None

    def _check_size(self, second: Sequence[str]) -> None:
        content, name = self._content, self.path.name
        if len(self.names) == 1 and (other := re.search("[;\t|]", self.names[0])):
            raise ValueError(f"{name} must have commas between columns, and decimal points. Got {other[0]!r}.")
        lines, columns = content.count(b"\n") + content.count(b"\r") + 1, max(len(self.names), len(second))
        self.refuse_many(columns)
        there, factor, free = content.count(b",") + lines, *_RAGGED
        if lines * columns > max(free, factor * there):
            raise ValueError(
                f"{name} must have every number. Got {columns:,} columns, about {lines:,} lines and {there:,} values."
            )
        require_memory(2 * _WIDTH * lines * columns, f"{name}, {lines:,} lines of {columns:,} columns,")

    def place(self, sample: int) -> str:
        line = next((line for at, (_, line, _) in enumerate(self._records(), -1) if at == sample), 0)
        return f"sample {sample} (line {line})"

    def read(self, wanted: Sequence[str], text: Container[str], either: Container[str] = ()) -> pd.DataFrame:
        return self._read([self.names.index(name) for name in wanted], text, either)

    def read_all(self, text: Container[str]) -> pd.DataFrame:
        return self._read(list(range(len(self.names))), text, ())

    def _read(self, places: list[int], text: Container[str], either: Container[str]) -> pd.DataFrame:
        # columns by their places, as words: of a table without rows pandas takes a number for a place among usecols
        names, beyond = {str(place): self.names[place] for place in places}, str(len(self.names))  # cells of no column
        words = {place for place, name in names.items() if name in text}
        unsaid = {place: [""] if place in words or name in either else _NO_NUMBER for place, name in names.items()}
        try:
            found = pd.read_csv(
                io.BytesIO(b"," * len(self.names) + b"\n" + self._content.removeprefix(codecs.BOM_UTF8)),
                header=0,
                skiprows=range(1, self._skipped + 1),
                names=[str(place) for place in range(len(self.names) + 1)],
                usecols=[*names, beyond],
                index_col=False,
                low_memory=False,
                keep_default_na=False,  # a class may be called None
                dtype=dict.fromkeys(words, str),
                na_values=unsaid | {beyond: [""]},
            )
        except pd.errors.EmptyDataError:
            return pd.DataFrame(columns=list(names.values()))
        except (ValueError, OSError) as error:  # pandas' own are among them
            reason = "a quotation mark is not closed." if "EOF inside string" in str(error) else str(error)
            reason = " ".join(reason.split())
            raise ValueError(f"{self.path.name} must be a table of numbers, csv. It is not: {reason}") from None
        if (more := found[beyond].notna()).any():
            where = self.place(int(more.to_numpy().argmax()))
            raise ValueError(
                f"{self.path.name} must be a table of numbers, csv. It is not: {where} has more cells than the header, "
                f"{beyond}."
            )
        return found[list(names)].set_axis(list(names.values()), axis=1)


# --- parquet --------------------------------------------------------------------------------


class _Parquet(Table):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        check_package("pyarrow", f"reading {path.name}", "parquet")
        self._what = f"{path.name} must be a table of numbers, parquet"
        self._text: dict[str, Any] = {}  # columns of text, and their types
        with self._open() as file:
            found, schema = file.metadata, file.schema_arrow
            if found.num_rows < 0:
                raise ValueError(f"its header says {found.num_rows:,} rows")
            self.refuse_many(found.num_columns)
            self._rows, self._all = found.num_rows, list(schema.names)
            self._text = {own.name: own.type for own in schema if _holds_text(own.type)}
            of_pandas = (schema.pandas_metadata or {}).get("index_columns", ())
        self.index = [name for name in of_pandas if isinstance(name, str)]
        self.names = [name for name in self._all if not re.fullmatch("__index_level_[0-9]+__", name)]

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """The open file, whose errors are refusals; text is read as dictionaries, which take what they take in it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        damage = (pa.ArrowException, ValueError, OSError, MemoryError, TypeError, KeyError, AttributeError)
        try:
            with pq.ParquetFile(self.path, read_dictionary=list(self._text)) as file:
                yield file
        except damage as error:
            if isinstance(error, ValueError) and str(error).startswith(self.path.name):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{self._what}. It is not: {reason}") from None

    def _bounded(self, file: Any, wanted: Sequence[str]) -> Any:
        import pyarrow.compute as pc

        size = _WIDTH * self._rows * len(wanted)
        self._require(size, len(wanted))
        table = file.read(columns=list(wanted))
        for column in {*wanted} & self._text.keys():
            for chunk in table[column].chunks:  # decoded, a value is there as often as it is named
                chunk.dictionary.validate(full=True)
                size += pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
        self._require(size, len(wanted))
        return table

    def _require(self, size: int, columns: int) -> None:
        check_not_inflated(size, self.size, self._what)
        require_memory(2 * size, f"{self.path.name}, {self._rows:,} rows of {columns:,} columns,")

    def read(self, wanted: Sequence[str], text: Container[str], either: Container[str] = ()) -> pd.DataFrame:
        with self._open() as file:
            frame = self._bounded(file, wanted).to_pandas(ignore_metadata=True)
        objects = {name: frame[name].astype(object) for name in wanted if name in self._text}
        return frame.assign(**objects)[list(wanted)]

    def read_all(self, text: Container[str]) -> pd.DataFrame:
        with self._open() as file:
            table = self._bounded(file, self._all)
            for name, kind in self._text.items():
                table = table.set_column(self._all.index(name), name, table[name].cast(kind))
            frame = table.to_pandas()
        frame = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
        return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _holds_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    own = kind.value_type if kinds.is_dictionary(kind) else kind
    return any(is_it(own) for is_it in (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary))


# --- lines of JSON --------------------------------------------------------------------------


class _JsonLines(Table):
    def __init__(self, path: Path, content: bytes | None = None) -> None:
        super().__init__(path, content)
        self._content = content
        self.names = list({name: None for _, row in self._rows() for name in row})
        self.refuse_many(len(self.names))
        if not self.names:
            raise ValueError(f"{path.name} must hold an object of JSON in each line. Got none.")

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return objects_of(self.path, self._content)

    def place(self, sample: int) -> str:
        line = next((line for at, (line, _) in enumerate(self._rows()) if at == sample), 0)
        return f"sample {sample} (line {line})"

    def read(self, wanted: Sequence[str], text: Container[str], either: Container[str] = ()) -> pd.DataFrame:
        found: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in self._rows():
            for name, values in found.items():
                value = row.get(name)
                if isinstance(value, list | dict) or (isinstance(value, int) and abs(value) >= 2**63):
                    shown = type(value).__name__ if isinstance(value, list | dict) else "a whole number beyond 64 bits"
                    raise ValueError(
                        f"{self.path.name} must hold numbers or text. Got {shown} in column {name}, line {number}."
                    )
                values.append(str(value) if name in text and value is not None else value)
        return pd.DataFrame(found)


def objects_of(path: Path, content: bytes | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of JSON in each line that is not blank, of a file or its content, with its number from 1.

    Raises:
        ValueError: no plain file, one that memory does not hold, or another line.
    """
    if content is None:
        require_memory(4 * require_file(path), path.name)
    with path.open("rb") if content is None else io.BytesIO(content) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if not isinstance(found, dict):
                raise ValueError(f"line {number} of {path.name} must be an object of JSON. It is not.")
            yield number, found
