"""Where the words that a statement quotes stand: lines of the texts that were read; the book does not distribute them.

`python -m workflow.quoted_lines FOLDER` finds them in a folder of texts and writes quoted_lines.json beside this file:
of each text its checksum and number of lines, of each claim a line for each piece in quotation marks, null for one that
was not found.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("quoted_lines.json")
_FORMULA = re.compile(r"\$[^$]*\$")
_QUOTED = re.compile(r"(?<![\w\x00])'(?=\S)(.+?)(?<=\S)'(?![\w\x00])")


def quoted_pieces(statement: str) -> list[str]:
    """What stands in single quotation marks and has words, in order; a formula in it is a \\x00."""
    found = _QUOTED.findall(_FORMULA.sub("\x00", " ".join(statement.split())))
    return [piece for piece in found if re.search(r"\w", piece)]


@functools.cache
def read_lines() -> dict[str, Any]:
    """quoted_lines.json: `texts`, paper -> sha256 and lines; `claims`, id -> a line or None for each quoted piece."""
    return dict(json.loads(FILE.read_text()))


def lines_of(id: str) -> list[int]:
    """The lines on which quoted pieces of a claim's statement begin, each once, in increasing order; [] without any."""
    return sorted({line for line in read_lines()["claims"].get(id, []) if line is not None})


def say_lines(id: str) -> str:
    """'line 498 of the text that was read', 'lines 11 and 616 of the text that was read'; '' without any."""
    lines = [str(line) for line in lines_of(id)]
    if not lines:
        return ""
    *first, last = lines
    named = f"{', '.join(first)} and {last}" if first else last
    return f"line{'s' * bool(first)} {named} of the text that was read"
