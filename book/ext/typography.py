"""Sphinx: minus signs, and lines that end where they may.

* Negative numbers of prose and tables have a minus sign, not the hyphen of Python, which screen readers pass over.
* A formula stays in one line with the brackets, quotation marks and stops beside it, a number with its %: browsers
  break lines on both sides of what MathJax sets, as if it were a picture.

Code, formulas and names stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

# what a reader may copy, a package's descriptions with their defaults among it, and formulas
_NO_PROSE = (
    *(nodes.literal, nodes.literal_block, nodes.doctest_block, addnodes.desc),
    *(nodes.math, nodes.math_block, nodes.raw, nodes.comment),
)
_MINUS = "\N{MINUS SIGN}"
# begins the text, or stands after a space or a bracket
_NEGATIVE = re.compile(r"(?<![^\s(\[±])-(?=\.?\d)")
_CELL = re.compile(r"(<td[^>]*>)([^<]*-[^<]*)(</td>)")
_OF_NUMBERS = re.compile(r"(?:[-+\d.,;\s\[\]()±%*e]|\bto\b)+")
CLASS = "together"  # see book/_static/book.css
_BEFORE = re.compile(r"(?:(?<=\s)|^)[(\[‘“'\"]+$")
_PERCENT = re.compile(r"(?:(?<=\d)|^)\s%")  # a number may stand before the text
_AFTER = re.compile(r"^[.,;:!?)\]’”'\"]+")


def prose(tree: nodes.Element) -> Iterator[nodes.Text]:
    """Each such piece of text, in the order of the page."""
    for text in list(tree.findall(nodes.Text)):
        around = text.parent
        while around is not None and not isinstance(around, _NO_PROSE):
            around = around.parent
        if around is None:
            yield text


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


def set_signs(tree: nodes.Element) -> None:
    """Minus signs in its prose, and in the HTML of tables that notebooks put out, in place."""
    for raw in list(tree.findall(nodes.raw)):
        if "html" in raw.get("format", "") and "<td" in raw.astext():
            raw.parent.replace(raw, nodes.raw(raw.rawsource, with_minus_in_cells(raw.astext()), **raw.attributes))
    for text in prose(tree):
        if "-" in text:
            begins = "pasted-text" in text.parent.get("classes", []) or text.parent.index(text) == 0
            text.parent.replace(text, nodes.Text(with_minus(str(text), begins=begins)))


def keep_together(tree: nodes.Element) -> None:
    """Wrap each such formula with what stands beside it, in place."""
    for formula in list(tree.findall(nodes.math)):
        parent = formula.parent
        at = parent.index(formula)
        before = _taken(parent, at - 1, _BEFORE)
        at = parent.index(formula)
        after = _taken(parent, at + 1, _AFTER)
        if before or after:
            at = parent.index(formula)
            parent.remove(formula)
            parts = [nodes.Text(before)] if before else []
            parts += [formula, *([nodes.Text(after)] if after else [])]
            parent.insert(at, nodes.inline("", "", *parts, classes=[CLASS]))


def _taken(parent: nodes.Element, at: int, beside: re.Pattern[str]) -> str:
    """What the text there has beside the formula, which is taken from it."""
    text = parent[at] if 0 <= at < len(parent) else None
    if not isinstance(text, nodes.Text) or not (found := beside.search(text)):
        return ""
    left = text[: found.start()] + text[found.end() :]
    parent.remove(text)
    if left:
        parent.insert(at, nodes.Text(left))
    return found[0]


def keep_percent(tree: nodes.Element) -> None:
    """No line ends before a percent sign; code stays as it is."""
    for text in prose(tree):
        if "%" in text:
            text.parent.replace(text, nodes.Text(_PERCENT.sub("\N{NO-BREAK SPACE}%", text)))


def _set(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    set_signs(doctree)
    keep_together(doctree)
    keep_percent(doctree)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _set)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
