"""Lay out the book's sources for Sphinx: book/ and the executed notebooks, in one folder.

    python workflow/stage.py _build/notebooks _build/source

Only files that differ are written, so that Sphinx rebuilds only the pages that changed.
"""

from __future__ import annotations

import filecmp
import shutil
import sys
from pathlib import Path

SCHEMA = Path("focal_lib/claims/ledger.schema.json")  # on the page 'How a verdict is reached'


def stage(notebooks: Path, target: Path) -> None:
    """Make `target` hold the configuration, book/**, notebooks/*.ipynb and what pages show whole, and nothing else."""
    wanted = {Path("notebooks") / p.name: p for p in notebooks.glob("[!.]*.ipynb") if ".failed" not in p.name}
    wanted |= {p: p for p in (Path("_config.yml"), Path("_toc.yml"), SCHEMA)}
    wanted |= {p: p for p in Path("book").rglob("*") if p.is_file()}
    for name, source in wanted.items():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
            shutil.copyfile(source, copy)
    for old in [p for p in target.rglob("*") if p.is_file() and p.relative_to(target) not in wanted]:
        old.unlink()


if __name__ == "__main__":
    stage(Path(sys.argv[1]), Path(sys.argv[2]))
