"""Sphinx: negative numbers of prose and tables with a minus sign, not the hyphen that Python writes.

Screen readers pass over a hyphen. Code, formulas and names stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book.ext.prose import prose, rewrite_tables

_MINUS = "\N{MINUS SIGN}"
# begins the text, or stands after a space or a bracket
_NEGATIVE = re.compile(r"(?<![^\s(\[±])-(?=\.?\d)")
_CELL = re.compile(r"(<td[^>]*>)([^<]*-[^<]*)(</td>)")
_OF_NUMBERS = re.compile(r"(?:[-+\d.,;\s\[\]()±%*e]|\bto\b)+")


def with_minus(text: str, *, begins: bool = True) -> str:
    """The text with a minus sign before each number that has a hyphen.

    Args:
        begins: whether nothing stands before it, else a hyphen at its beginning belongs to a name.
    """
    before = "" if begins else "x"
    return _NEGATIVE.sub(_MINUS, before + text).removeprefix(before)


def with_minus_in_cells(html: str) -> str:
    """HTML with it in those cells of tables that hold only numbers."""
    return _CELL.sub(lambda cell: cell[1] + _in_cell(cell[2]) + cell[3], html)


def _in_cell(text: str) -> str:
    return with_minus(text) if _OF_NUMBERS.fullmatch(text) else text


def _set_signs(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    rewrite_tables(doctree, with_minus_in_cells)
    for text in prose(doctree):
        if "-" in text:
            begins = "pasted-text" in text.parent.get("classes", []) or text.parent.index(text) == 0
            text.parent.replace(text, nodes.Text(with_minus(str(text), begins=begins)))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _set_signs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
