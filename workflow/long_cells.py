"""Sphinx: long words in a table of numbers break between words, where its other cells stay in one line."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book.ext.prose import rewrite_tables

_LONG = 24  # letters
_CELL = re.compile(r"(<(td|th)(?=[ >])(?![^>]*col_heading)[^>]*>)([^<]+)(</\2>)")
_FITS = re.compile(r'<table[^>]*class="[^"]*\b(words|ledger)\b')  # its cells break anyway


def with_long_cells(text: str) -> str:
    """HTML of a table whose cells of many words have the class 'long', see book/_static/book.css."""

    def mark(cell: re.Match[str]) -> str:
        said = html.unescape(cell[3]).strip()
        if len(said) <= _LONG or " " not in said or not re.search(r"[^\W\d_]{2}", said):
            return cell[0]
        return f'{cell[1]}<span class="long">{cell[3].strip()}</span>{cell[4]}'

    return text if _FITS.search(text) else _CELL.sub(mark, text)


def _mark_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    rewrite_tables(doctree, with_long_cells)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _mark_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
