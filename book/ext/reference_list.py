"""Sphinx: the list of references as a list that assistive technology reads.

docutils writes items as 'doc-biblioentry', a role that DPUB-ARIA 1.1 deprecates, and that a list may not hold.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def _name_items(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if "citation-list" in context.get("body", ""):
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _name_items)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
