"""Under which heading of its chapter a claim's verdict is shown."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import jupytext

_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@functools.cache
def places(root: Path) -> dict[tuple[str, str], str]:
    """(chapter, claim id) -> the heading under which the chapter under `root` shows the claim's verdict.

    Nothing where there are no notebooks, as in an installed package.
    """
    found: dict[tuple[str, str], str] = {}
    for path in sorted((root / "notebooks").glob("*.py")):
        heading = ""
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "markdown":
                heading = [heading, *_HEADING.findall(cell.source)][-1]
            else:
                for id in _shown(cell.source):
                    found.setdefault((path.stem, id), heading)
    return found


def _shown(source: str) -> Iterator[str]:
    """Ids in calls of `show`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "show":
            yield from (str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))
