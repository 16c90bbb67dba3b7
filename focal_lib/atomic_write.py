"""Files that are whole or not there."""

from __future__ import annotations

import os
import platform
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["check_target", "part_of", "remove_leftovers", "write_whole"]

PART = re.compile(r"\.(\d+)@(.*?)@")  # process and machine: folders may be shared by many
KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def part_of(path: Path) -> Path:
    """Where this process writes before it renames: beside `path`, hidden, with the same ending."""
    return path.with_name(f".{os.getpid()}@{platform.node()}@{path.name}")


def check_target(path: Path, *inputs: Path, ending: str = "") -> None:
    """Whether a file can be written there, asked before any work.

    Args:
        inputs: what is read: a result must not replace it.
        ending: of the name, as readers go by it: '.onnx'.

    Raises:
        FileExistsError: there is something else than a file, such as a device.
        ValueError: the file is one of the inputs, or its name has another ending.
    """
    if path.exists():
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = next((name for is_one, name in KINDS if is_one(mode)), "a device")
            raise FileExistsError(f"{path} must be a file, or nothing yet. Got {kind}.")
        if any(given.exists() and path.samefile(given) for given in inputs):
            raise ValueError(f"the result must go into another file than the input. Got {path} for both.")
    if ending and path.suffix.lower() != ending:
        raise ValueError(f"the result is written as {ending}: its name must end so. Got {path.name}.")


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write beside and rename, so that a file of that name is always whole. What it replaces gives it its mode.

    Raises:
        FileNotFoundError: there is no such folder.
        FileExistsError: there is something else than a file, such as a device.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.name} must go into a folder that exists. There is no {path.parent}.")
    check_target(path)
    before = path.stat().st_mode if path.exists() else None
    path = path.resolve()  # a link stays one
    part = part_of(path)
    try:
        write(part)
        if before is not None:
            part.chmod(stat.S_IMODE(before))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_leftovers(folder: Path, *, of_all: bool = False) -> list[Path]:
    """Remove what killed processes of this machine left half written, in the folder and those in it.

    Args:
        of_all: of every process and machine, for who holds a lock on the folder.

    Returns:
        What was removed.
    """
    removed = []
    for place, _, names in os.walk(folder):
        for name in names:
            match = PART.match(name)
            if match and (of_all or (match[2] == platform.node() and not _runs(int(match[1])))):
                removed.append(Path(place, name))
                removed[-1].unlink(missing_ok=True)
    return removed


def _runs(pid: int) -> bool:
    if os.name != "posix":  # there signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is someone else's
        return True
    return True
