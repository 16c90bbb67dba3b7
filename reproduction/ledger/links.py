"""Where a claim stands in the book: its card on the ledger's page, and where its chapter shows it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Container
from pathlib import Path

LEDGER_PAGE, VERDICTS_PAGE = "ledger.html", "../book/verdicts.html"  # from a chapter
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# An id of a claim, in code letters or not; first what may hold one and stays as it is.
_ID = re.compile(
    r"""
    ^[ ]*(?P<block>`{3,}|~{3,})(?=\w).*?^[ ]*(?P=block)[ ]*$  # a block of code of a named language
    | ^[ ]*(?:`{3,}|~{3,}|:{3,})[^\n]*$  # where a directive begins or ends, not what it holds
    | <(?P<tag>a|code|pre)\b.*?</(?P=tag)> | </?[a-z][^<>]*> | <!--.*?-->
    | \[[^\]]*\]\([^)]*\)
    | `(?P<code>[a-z]+\d+\.\w+)` | ``[^`].*?`` | `[^`]*`
    | (?<![\w./\#=?&:-])(?P<bare>[a-z]+\d+\.[a-z]\w*)(?![\w/-]|\.\w)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def _slug(id: str) -> str:
    return id.replace(".", "-").replace("_", "-")


def card_anchor(id: str) -> str:
    """That of the claim's card on the ledger's page."""
    return f"claim-{_slug(id)}"


def verdict_anchor(id: str) -> str:
    """That of its verdict in its chapter."""
    return f"verdict-{_slug(id)}"


def index_entry(id: str, source: str) -> str:
    """A directive that puts the claim into the book's index, and so before other pages in its search.

    Args:
        source: of a paper's claim, up to the first comma, 'KK24 Prop. 5'; '' for none.
    """
    name = source.split(",")[0]  # with its stop and without, as people search
    entries = dict.fromkeys(entry for entry in (name, name.replace(". ", " "), id) if entry)
    return "```{index} " + ", ".join(f"! {entry}" for entry in entries) + "\n```\n\n"


def link_ids(text: str, page: str, known: Container[str]) -> str:
    """The Markdown with each id of a known claim, between backticks or not, leading to its card.

    Args:
        page: the ledger's address, relative to where the text stands; '' on the ledger's own.
    """

    def link(match: re.Match[str]) -> str:
        id = match["code"] or match["bare"]
        if id not in known:  # None is not
            return match[0]
        return f'<a class="claim-id" href="{page}#{card_anchor(id)}"><code>{id}</code></a>'

    return _ID.sub(link, text)


@functools.cache
def places(root: Path) -> dict[tuple[str, str], str]:
    """(chapter, claim id) -> the heading under which the chapter under `root` calls `show` for the claim.

    Nothing where there are no notebooks, as in an installed package.
    """
    import jupytext  # takes half a second, and most who read claims need none of it

    found: dict[tuple[str, str], str] = {}
    for path in sorted((root / "notebooks").glob("*.py")):
        heading = ""
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "markdown":
                heading = [heading, *_HEADING.findall(cell.source)][-1]
                continue
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "show":
                    for arg in node.args:
                        if isinstance(arg, ast.Constant):
                            found.setdefault((path.stem, str(arg.value)), heading)
    return found
