"""Text of a page that is neither code nor a formula, and its tables, for what is set in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from docutils import nodes
from sphinx import addnodes

# what a reader may copy, a package's descriptions with their defaults among it, and formulas
_NO_PROSE = (
    *(nodes.literal, nodes.literal_block, nodes.doctest_block, addnodes.desc),
    *(nodes.math, nodes.math_block, nodes.raw, nodes.comment),
)


def prose(tree: nodes.Element) -> Iterator[nodes.Text]:
    """Each such piece of text, in the order of the page."""
    for text in list(tree.findall(nodes.Text)):
        around = text.parent
        while around is not None and not isinstance(around, _NO_PROSE):
            around = around.parent
        if around is None:
            yield text


def rewrite_tables(tree: nodes.Element, change: Callable[[str], str]) -> None:
    """The HTML of tables that notebooks put out, changed in place."""
    for raw in list(tree.findall(nodes.raw)):
        if "html" in raw.get("format", "") and "<td" in raw.astext():
            raw.parent.replace(raw, nodes.raw(raw.rawsource, change(raw.astext()), **raw.attributes))
