"""Parameter types for files and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

GRID_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)


class _NamedPath(click.Path):
    """Path that is not '', the value of an unset shell variable, which would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("must have a name. Got ''; the current folder is '.'.", param, ctx)
        return super().convert(value, param, ctx)


class _NewFile(click.Path):
    """A file to write; '-' is refused: the result cannot go to standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "-":
            self.fail("must be the name of a file: it is not written to standard output. Got '-'.", param, ctx)
        return super().convert(value, param, ctx)


NEW_FILE = _NewFile(dir_okay=False, path_type=Path)
NAMED_PATH = _NamedPath(path_type=Path)
ROOT_FOLDER = _NamedPath(file_okay=False, resolve_path=True, path_type=Path)
