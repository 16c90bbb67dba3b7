"""Files of a run: written whole, checked by their sum, moved aside, never deleted."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from focal_lib.atomic_write import write_whole


class DiskFull(OSError):
    """No room for a file; what was there before is as it was."""


def write(path: Path, content: bytes) -> None:
    """Write the file whole, or leave what is there.

    Raises:
        DiskFull: with the space needed, the space there is, and what the system says: a disk may lack inodes, too.
    """
    try:
        write_whole(path, lambda part: part.write_bytes(content))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DiskFull(
            f"{path.name} needs {len(content) / 1e6:.2f} MB in {path.parent}. Got "
            f"{shutil.disk_usage(path.parent).free / 1e6:.2f} MB free ({error.strerror}). "
            "Make room and call again: it goes on from the last checkpoint."
        ) from None


def move_aside(path: Path) -> Path:
    """Rename a file or folder to the first free of `path`.1, .2, ...; returns the new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return path.rename(aside)
