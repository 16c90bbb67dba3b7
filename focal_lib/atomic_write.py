"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["write_whole"]


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write beside and rename, so that a file of that name is always whole.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.name} must go into a folder that exists. There is no {path.parent}.")
    part = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
