"""Give readers of the book notebooks with their numbers filled in: the files behind its download buttons.

    python book/ext/downloads.py _build/notebooks _build/html/_sources/notebooks

Sphinx puts there what it was given, with roles that only Sphinx understands.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reproduction.pages.resolve import resolve


def fill(executed: Path, downloads: Path) -> None:
    """Replace each notebook in `downloads` by the resolved form of the one of its name in `executed`."""
    for download in sorted(downloads.glob("*.ipynb")):
        resolve(executed / download.name, download)


if __name__ == "__main__":
    fill(Path(sys.argv[1]), Path(sys.argv[2]))
