"""Rows of a benchmark with what made them, written whole: what results/speed keeps and the book shows."""

from __future__ import annotations

import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pandas as pd
import torch

from focal_lib.atomic_write import check_folder, check_target, write_whole
from reproduction.checkout import commit
from reproduction.engine.machine import machine_name

ENDINGS = (".parquet", ".csv")
_PLACE = re.compile(r"(?:/[\w.@+-]+){2,}/?")  # a file of this machine, which no record names


def about() -> dict[str, Any]:
    """Columns: the commit, the machine by its processor, versions, and how many threads torch has."""
    versions = {f"{name}_version": metadata.version(name) for name in ("focal-lib", "numpy", "scipy", "torch")}
    made = {"commit": commit(written="results"), "machine": machine_name(), "torch_threads": torch.get_num_threads()}
    return {**made, **versions, "python_version": platform.python_version()}


def in_short(error: BaseException) -> str:
    """What was raised, in one line and without files of this machine."""
    said = _PLACE.sub("...", " ".join(str(error).split()))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def write(rows: pd.DataFrame, out: Path) -> None:
    """As parquet or csv by the ending, whole or not at all; the folder is made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, lambda part: _write_as(rows, part))


def _write_as(frame: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def out_option(*endings: str) -> Any:
    """--out of a command, refused before anything is measured where nothing could be written there."""

    def checked(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
        if path is None:
            return None
        if path.suffix not in endings:
            raise click.BadParameter(f"must end in {' or '.join(endings)}. Got {path.name}.")
        try:
            check_folder(path.parent, made=True)
            check_target(path)
        except OSError as error:
            raise click.BadParameter(str(error)) from None
        return path

    words = f"Also write {' or '.join(endings)} here."
    return click.option("--out", type=click.Path(path_type=Path), callback=checked, help=words)
