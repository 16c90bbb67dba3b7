"""Sphinx: a description of each page for search engines, MathJax without what is not used, references as a list.

A page's description is its first paragraph, where the page does not state one.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

LONGEST = 155  # characters, of which search engines show no more
MATHJAX = "mathjax/startup.js"  # loads what mathjax3_config names; tex-chtml.js has a menu as large as the rest


def describe(doctree: nodes.document) -> str:
    """The first paragraph that is long enough to say something, on one line, cut at a word; '' if there is none."""
    for section in doctree.findall(nodes.section):
        for paragraph in section.children:
            if isinstance(paragraph, nodes.paragraph):
                words = re.sub(r"\\(\w+)", r"\1", " ".join(paragraph.astext().split()))
                if len(words) > LONGEST:
                    words = words[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
                if len(words) > LONGEST / 3:
                    return words
    return ""


def _add_description(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if 'name="description"' in context.get("metatags", ""):
        return
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title") or pagename))
    text = (describe(doctree) if doctree else "") or f"{title}, in the book '{app.config.project}'"
    context["metatags"] = f'{context.get("metatags", "")}\n<meta name="description" content="{html.escape(text)}" />'


def _name_references(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """docutils writes 'doc-biblioentry', a role that DPUB-ARIA 1.1 deprecates, and that a list may not hold."""
    if "citation-list" in context.get("body", ""):
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def _use_parts(app: Sphinx, config: Config) -> None:
    config.mathjax_path = MATHJAX  # after sphinx-mathjax-offline has set it


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _use_parts)
    app.connect("html-page-context", _add_description)
    app.connect("html-page-context", _name_references)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
