"""Texts with sentiment ratings of Hutto and Gilbert (2014), as the source distribution of vaderSentiment has them."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path

from reproduction.engine.data.packages import downloaded

SOURCE = "vaderSentiment==3.3.2"


def fetch_hutto(folder: Path, names: Sequence[str]) -> None:
    """Those files of the archive hutto_ICWSM_2014 into a folder, by pip.

    Raises:
        RuntimeError: pip could not download it.
        KeyError: no such file in the archive.
    """
    with downloaded(SOURCE, "source") as archive, tarfile.open(archive) as outer:
        (member,) = (m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=outer.extractfile(member)) as inner:
            for name in names:
                content = inner.extractfile(f"hutto_ICWSM_2014/{name}")
                assert content is not None
                (folder / name).write_bytes(content.read())
