"""Samples that do not fit, measured: python -m benchmarks.large [--samples 10000000] [--classes 100] [--out FILE]

Float16 logits lie in a temporary folder and are read from there as a memory map, by every method of `focal calibrate`
that streams and by the metrics; then a temperature from a Dask array on processes of this machine, one of which is
killed in the middle. Others say why they are left out. Each row has a process of its own; with --out it is kept as soon
as it is there, and a second call goes on with those that are missing.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import click
import pandas as pd

from benchmarks import large_rows, record
from reproduction.engine.machine import machine_name
from reproduction.studies.shared.going_on import made_by, rows_so_far


def _so_far(out: Path, code: str, samples: int, classes: int) -> list[dict[Any, Any]]:
    """Rows of the record, which must be of this code, machine and size."""
    rows = rows_so_far(out, code)
    wanted = {"samples": samples, "classes": classes, "machine": machine_name()}
    others = [row for row in rows if any(row[name] != value for name, value in wanted.items())]
    if others:
        got = {name: others[0][name] for name in wanted}
        raise SystemExit(f"{out.name} must hold rows of {wanted}. Got {got}: move it aside to begin anew.")
    return rows


def _in_own_process(name: str, folder: Path, limit: float) -> large_rows.Line:
    """The row, measured where nothing else was done; one whose process is killed says so."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(large_rows.measure, name, folder, limit).result()
        except BrokenProcessPool:
            return dataclasses.replace(large_rows.empty(name, folder), note="its process was killed: for memory?")


def as_text(line: large_rows.Line) -> str:
    """A line as printed."""
    time = f"{line.seconds:10,.1f} s{'?' if line.estimate else ' '}" if line.seconds == line.seconds else " " * 13
    memory = f"{line.memory_gb:6.2f} GiB" if line.memory_gb == line.memory_gb else " " * 10
    value = f"{line.value:12.6f}" if line.value == line.value else " " * 12
    return f"{line.what:42} {time} {memory} {value}   {line.note}"


def _names(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    known = large_rows.names()
    if unknown := sorted(set(given) - set(known)):
        raise click.BadParameter(f"must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    return [name for name in known if name in given]


@click.command()
@click.option("--samples", type=click.IntRange(1), default=10_000_000, show_default=True)
@click.option("--classes", type=click.IntRange(2), default=100, show_default=True)
@click.option("--only", multiple=True, callback=_names, help="A row by its name, measured again; may be repeated.")
@click.option("--limit", default=1800.0, show_default=True, help="Seconds; rows that would take longer are estimated.")
@record.out_option(".parquet")
def main(samples: int, classes: int, only: list[str], limit: float, out: Path | None) -> None:
    """Fits and metrics of a memory map, with time and memory."""
    code = made_by(large_rows.__file__)
    made = record.about() | code
    rows = _so_far(out, code["code"], samples, classes) if out is not None else []
    wanted = only or [name for name in large_rows.names() if name not in {row["what"] for row in rows}]
    if not wanted:
        print(f"{len(rows)} rows are there. Name those to measure again: --only NAME")
        return
    with tempfile.TemporaryDirectory(prefix="focal-large-") as place:
        folder = Path(place)
        large_rows.write(folder, samples, classes)
        print(f"{samples:,} x {classes} float16; ? after seconds that are estimated", flush=True)
        for name in wanted:
            line = _in_own_process(name, folder, limit)
            print(as_text(line), flush=True)
            rows = [row for row in rows if row["what"] != name]
            rows.append(dataclasses.asdict(line) | made)
            rows.sort(key=lambda row: large_rows.names().index(row["what"]))
            if out is not None:
                record.write(pd.DataFrame(rows), out)


if __name__ == "__main__":
    main()
