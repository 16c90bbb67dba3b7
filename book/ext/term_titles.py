"""A Sphinx extension: a link to a term of the glossary carries the definition, shown where the pointer rests on it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE = "book/terms"


def definitions(page: nodes.document) -> dict[str, str]:
    """Of the page with the glossary: the id of each term -> its definition."""
    found: dict[str, str] = {}
    for glossary in page.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            text = " ".join(part.astext().replace("\n", " ") for part in item.findall(nodes.definition))
            found |= {name: text for term in item.findall(nodes.term) for name in term["ids"]}
    return found


def _add_titles(app: Sphinx, document: nodes.document, name: str) -> None:
    if PAGE not in app.env.found_docs or name == PAGE:
        return
    known = definitions(app.env.get_doctree(PAGE))
    for link in document.findall(nodes.reference):
        _, _, anchor = link.get("refuri", "").partition("#")
        if anchor in known:
            link["reftitle"] = known[anchor]


def _with_the_glossary(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Every page is made again where definitions changed."""
    return sorted(env.found_docs) if PAGE in added | changed else []


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _add_titles)
    app.connect("env-get-outdated", _with_the_glossary)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
