"""Figures of several panels have a class: on a phone they keep the size that their words need, and scroll."""

from __future__ import annotations

import re

from nbformat import NotebookNode

CLASS = "wide-figure"  # see book/_static/book.css
_WIDTH = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)pt"')
_ONE_PANEL = 560.0  # points: seven inches and what labels add


def mark_wide_figures(notebook: NotebookNode) -> None:
    """The class for each image of a cell whose SVG is wider than a figure of one panel, in place."""
    for cell in notebook.cells:
        drawn = ["".join(output.get("data", {}).get("image/svg+xml", "")) for output in cell.get("outputs", [])]
        widths = [float(found[1]) for svg in drawn if (found := _WIDTH.search(svg))]
        if widths and max(widths) > _ONE_PANEL:
            cell.metadata.setdefault("mystnb", NotebookNode()).setdefault("image", NotebookNode())["classes"] = CLASS
