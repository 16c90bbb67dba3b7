"""Files and folders that commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

GRID_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)


class _NamedPath(click.Path):
    """Not '', as a variable of the shell that is not set gives: that would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("must have a name. Got ''; the current folder is '.'.", param, ctx)
        return super().convert(value, param, ctx)


class _NewFile(click.Path):
    """A file to write; '-' would be one of that name, and what is printed has no place for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "-":
            self.fail("must be the name of a file: it is not written to standard output. Got '-'.", param, ctx)
        return super().convert(value, param, ctx)


NEW_FILE = _NewFile(dir_okay=False, path_type=Path)
NAMED_PATH = _NamedPath(path_type=Path)
ROOT_FOLDER = _NamedPath(file_okay=False, resolve_path=True, path_type=Path)
