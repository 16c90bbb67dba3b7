"""Where data sets are looked for, kept and fetched from; a folder is filled whole or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

_NO_DAMAGE = (MemoryError, PermissionError, ImportError)  # of a file; they say themselves what is wrong
_OPTIONS = {  # of pip download
    "wheel": ["--only-binary", ":all:"],
    "source": ["--no-build-isolation", "--no-binary", ":all:"],
}


def own_folder(name: str) -> Path | None:
    """FOCAL_DATA/name, where there is such a folder.

    Raises:
        NotADirectoryError: FOCAL_DATA is no folder: other data would be taken without a word.
    """
    if not (root := os.environ.get("FOCAL_DATA")):
        return None
    if not Path(root).is_dir():
        raise NotADirectoryError(f"FOCAL_DATA must be a folder. Got {root!r}, which is none.")
    folder = Path(root, name)
    return folder if folder.is_dir() else None


def cache(name: str) -> Path:
    """The folder that keeps what was fetched for this data set."""
    if own := os.environ.get("FOCAL_CACHE"):
        return Path(own, name)

    import platformdirs  # a borrowed machine may lack it, and be given its data by FOCAL_DATA

    return Path(platformdirs.user_cache_dir("focal-lib"), name)


def fill(target: Path, ways: Sequence[tuple[str, Callable[[Path], None]]], advice: str) -> None:
    """Fill target by the first of the (name, way) that works; a way writes into the folder it is given.

    Raises:
        FileNotFoundError: none did; the message is the advice and why each way failed.
    """
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    reasons = []
    for name, way in ways:
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            way(part)
            part.rename(target)
            return
        except Exception as error:
            shutil.rmtree(part)
            if target.is_dir():  # another process was faster
                return
            last = str(error).strip().splitlines()
            reasons.append(f"{name}: {last[-1] if last else type(error).__name__}")
    raise FileNotFoundError(f"{target.name} was not found. {advice} Tried: {'; '.join(reasons)}")


def cure_of(folder: Path) -> str:
    """What helps where the folder of a data set is damaged."""
    fetched = folder.parent == cache("any").parent
    return f"move {folder} away, and it is fetched anew" if fetched else "provide it again"


@contextmanager
def reading(path: Path, what: str = "as published", cure: str = "") -> Iterator[None]:
    """While a file or folder of a data set is read: whatever a reader makes of damage names it, with the cure.

    Args:
        what: it must be; cure: '' is that of the folder it lies in.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        yield
    except _NO_DAMAGE:
        raise
    except Exception as error:  # zip, zlib, npy, csv, literals: each has its own
        told = f"{path} must be {what}: {cure or cure_of(path.parent)}."
        raise ValueError(f"{told} Got {type(error).__name__}: {error}") from None


@contextmanager
def downloaded(requirement: str, kind: Literal["wheel", "source"] = "wheel") -> Iterator[Path]:
    """The archive of a Python package, not installed, without those it depends on; it goes with the context.

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
