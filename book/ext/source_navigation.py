"""Sphinx: the sidebar of the pages of source code, made once for each depth of folders.

It is the same in all of them, none is listed in it, and links are relative: they depend on how deep the page is. Made
anew for each of some 180 pages, it takes most of the time in which they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SOURCES = "_modules/"  # where sphinx.ext.viewcode has them
BEFORE_THEMES = 400  # which ask for the table of contents at 500


def make_once(make: Callable[..., str], to_root: str, made: dict[Any, str]) -> Callable[..., str]:
    """The function, asked once for each way to the first page and arguments; `made` holds its answers."""

    def known(**kwargs: Any) -> str:
        key = to_root, tuple(sorted(kwargs.items()))
        if key not in made:
            made[key] = make(**kwargs)
        return made[key]

    return known


def setup(app: Sphinx) -> dict[str, bool]:
    made: dict[Any, str] = {}

    def keep_contents(
        app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
    ) -> None:
        if pagename.startswith(SOURCES):
            to_root = app.builder.get_relative_uri(pagename, app.config.root_doc)
            context["toctree"] = make_once(context["toctree"], to_root, made)

    app.connect("html-page-context", keep_contents, priority=BEFORE_THEMES)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
