"""Files and folders that commands take."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["GRID_FILE", "NEW_FILE", "ROOT_FOLDER"]

GRID_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
ROOT_FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)
