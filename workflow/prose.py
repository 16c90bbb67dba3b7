"""Text of a page that is neither code nor a formula, for what is set in it."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes

__all__ = ["prose"]

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
