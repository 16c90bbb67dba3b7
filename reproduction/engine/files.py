"""Files of a run: written whole, checked by their sum, moved aside, never deleted."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from focal_lib.atomic_write import write_whole


class DiskFull(OSError):
    """No room for a file; what was there before is as it was."""


def write(path: Path, content: bytes) -> None:
    """Write the file whole, or leave what is there.

    Raises:
        DiskFull: with the space needed and the space there is, or that the disk can hold no more files.
    """
    try:
        write_whole(path, lambda part: part.write_bytes(content))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DiskFull(
            f"{path.name} needs {len(content) / 1e6:.2f} MB in {path.parent}. Got {_free(path.parent)}"
            f"{'' if error.errno == errno.ENOSPC else f' ({error.strerror})'}. "
            "Make room and call again: it goes on from the last checkpoint."
        ) from None


def _free(folder: Path) -> str:
    """'12.50 MB free', or that there is room, but for no more files."""
    free = f"{shutil.disk_usage(folder).free / 1e6:.2f} MB free"
    if hasattr(os, "statvfs"):
        disk = os.statvfs(folder)
        if disk.f_files and not disk.f_favail:  # some file systems count no files, and have 0 of both
            return f"{free}, but all of its {disk.f_files:,} inodes taken: it can hold no more files"
    return free


def move_aside(path: Path) -> Path:
    """Rename a file or folder to the first free of `path`.1, .2, ...; returns the new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return path.rename(aside)
