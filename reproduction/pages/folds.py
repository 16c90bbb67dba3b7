"""Text that is folded away until a reader asks for it."""

from __future__ import annotations


def fold(title: str, body: str) -> str:
    """Markdown that JupyterLab, HTML pages and the book show alike: the title, the body below it on a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
