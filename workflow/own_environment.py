"""Environments beside the project's own: of linters, of browser tests. Each is made of a lock file, once."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from workflow.install import install

_MADE_OF = "made-of.lock"


def make_environment(home: Path, lock: Path, *afterwards: Sequence[str | Path]) -> None:
    """Make a virtual environment where it is not there, or was made of another lock file.

    Args:
        home: its folder.
        lock: the pinned packages.
        afterwards: arguments of its Python, run once when the packages are there.

    Raises:
        subprocess.CalledProcessError: packages could not be installed, or a command failed.
    """
    made_of = home / _MADE_OF
    if made_of.is_file() and made_of.read_text() == lock.read_text():
        return
    print(f"Installing {lock.name} into {home.name} ...", file=sys.stderr)
    venv.create(home, with_pip=True, clear=True)  # of another lock file, or half made
    python = home / "bin" / "python"
    install(lock, python)
    for arguments in afterwards:
        subprocess.run([python, *arguments], check=True)
    made_of.write_text(lock.read_text())
