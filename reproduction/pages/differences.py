"""What a page's result was made otherwise than a paper's."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from IPython.display import HTML, Markdown

from reproduction.pages.blocks import fold


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


def folded_differences(texts: Mapping[str, Sequence[str]]) -> HTML:
    """The same, folded away, of runs that a page shows in passing.

    Args:
        texts: what runs, as 'the runs on CIFAR-10' -> those of their grid.
    """
    folds = [
        fold(
            f"Differs from the papers in: {runs}",
            "<ul>" + "".join(f"<li>{html.escape(t)}</li>" for t in lines) + "</ul>",
        )
        for runs, lines in texts.items()
        if lines
    ]
    return HTML("\n".join(folds))
