"""Sphinx: a formula stays in one line with the brackets, quotation marks and stops beside it, a number with its %.

Browsers break lines on both sides of what MathJax sets, as if it were a picture.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book.ext.prose import prose

CLASS = "together"  # see book/_static/book.css
_BEFORE = re.compile(r"(?:(?<=\s)|^)[(\[‘“'\"]+$")
_PERCENT = re.compile(r"(?:(?<=\d)|^)\s%")  # a number may stand before the text
_AFTER = re.compile(r"^[.,;:!?)\]’”'\"]+")


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
    keep_together(doctree)
    keep_percent(doctree)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _set)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
