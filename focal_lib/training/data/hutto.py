"""Texts with sentiment ratings of Hutto and Gilbert (2014), as the source distribution of vaderSentiment has them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["fetch_hutto"]

VERSION = "3.3.2"


def fetch_hutto(folder: Path, names: Sequence[str]) -> None:
    """Those files of the archive hutto_ICWSM_2014 into a folder, by pip.

    Raises:
        RuntimeError: pip could not download it.
        KeyError: no such file in the archive.
    """
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
        command += ["--no-binary", "vaderSentiment", "-d", work, f"vaderSentiment=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or "pip could not download vaderSentiment")
        (archive,) = Path(work).glob("*.tar.gz")
        with tarfile.open(archive) as outer:
            (member,) = (m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
            with tarfile.open(fileobj=outer.extractfile(member)) as inner:
                for name in names:
                    content = inner.extractfile(f"hutto_ICWSM_2014/{name}")
                    assert content is not None
                    (folder / name).write_bytes(content.read())
