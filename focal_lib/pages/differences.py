"""What a page's result was made otherwise than a paper's."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

__all__ = ["differences"]


def differences(texts: Sequence[str], missing: Sequence[str] = ()) -> Markdown:
    """'Differs from the paper in' and a list, to stand beside the result; nothing for an empty list.

    Args:
        texts: those of a grid, `read_notes(path).differs`.
        missing: what of the paper is not there.
    """
    blocks = []
    for heading, lines in (("Differs from the paper in", texts), ("Of the paper, missing", missing)):
        if lines:
            blocks.append(f"**{heading}**\n\n" + "\n".join(f"* {line}" for line in lines))
    return Markdown("\n\n".join(blocks))
