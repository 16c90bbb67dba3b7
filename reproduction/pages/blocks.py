"""Blocks of a text: folded away until a reader asks for it, or made by a command, between two marks."""

from __future__ import annotations

import re


def fold(title: str, body: str) -> str:
    """Markdown that JupyterLab, HTML pages and the book show alike: the title, the body below it on a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def replace_block(text: str, start: str, end: str, block: str) -> str:
    """The text with what is between its marks replaced.

    Raises:
        ValueError: there is not one such block.
    """
    found = re.subn(f"{re.escape(start)}.*?{re.escape(end)}", lambda _: f"{start}\n{block}\n{end}", text, flags=re.S)
    if found[1] != 1:
        raise ValueError(f"there must be one block from {start} to {end}. Got {found[1]}.")
    return found[0]
