"""The published books, a folder each, beside a list of them for the pages' menu and a first page that leads to one.

    python -m workflow.versions FOLDER https://owner.github.io/name

Writes versions.json and index.html into the folder: the newest version first, `latest`, of the main branch, last.
"""

import json
import sys
from pathlib import Path

LATEST = "latest"
FIRST = '<!DOCTYPE html><title>Focal loss and calibration</title><meta http-equiv="refresh" content="0; url={}/">'


def write_list(folder: Path, address: str) -> None:
    """versions.json, as pydata-sphinx-theme reads it, and index.html.

    Args:
        folder: has a folder for each version, '1.0.0' say, and perhaps 'latest'.
        address: of the folder when it is published.

    Raises:
        ValueError: a folder is named otherwise, or there is none.
    """
    names = [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    numbered = sorted((name for name in names if name != LATEST), key=_number, reverse=True)
    ordered = numbered + [LATEST] * (LATEST in names)
    if not ordered:
        raise ValueError(f"{folder.name} must have a folder for each version. Got none.")
    listed = [{"version": name, "url": f"{address}/{name}/", "preferred": name == ordered[0]} for name in ordered]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (folder / "index.html").write_text(FIRST.format(ordered[0]) + "\n")


def _number(version: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, version.split(".")))
    except ValueError:
        raise ValueError(f"a version must be numbers with dots between, or {LATEST}. Got {version!r}.") from None


if __name__ == "__main__":
    write_list(Path(sys.argv[1]), sys.argv[2])
