"""Where a claim stands in the book: its card on the ledger's page, and where its chapter shows it."""

from __future__ import annotations

import re
from collections.abc import Container

__all__ = ["card_anchor", "link_ids", "verdict_anchor"]

_ID = re.compile(r"`([a-z]+\d+\.\w+)`")


def _slug(id: str) -> str:
    return id.replace(".", "-").replace("_", "-")


def card_anchor(id: str) -> str:
    """That of the claim's card on the ledger's page."""
    return f"claim-{_slug(id)}"


def verdict_anchor(id: str) -> str:
    """That of its verdict in its chapter."""
    return f"verdict-{_slug(id)}"


def link_ids(text: str, page: str, known: Container[str]) -> str:
    """The Markdown with each id of a known claim, between backticks, leading to its card.

    Args:
        page: the ledger's address, relative to where the text stands; '' on the ledger's own.
    """

    def link(match: re.Match[str]) -> str:
        if match[1] not in known:
            return match[0]
        return f'<a class="claim-id" href="{page}#{card_anchor(match[1])}"><code>{match[1]}</code></a>'

    return _ID.sub(link, text)
