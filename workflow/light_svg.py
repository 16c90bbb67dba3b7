"""Figures as SVG, lighter: Matplotlib writes coordinates to a millionth of a point, and a word beside each glyph."""

from __future__ import annotations

import re

from nbformat import NotebookNode

_PATH = re.compile(r'(?<= d=")[^"]*')
_FINE = re.compile(r"-?\d+\.\d{3,}")
_UNSEEN = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)


def lighten(svg: str) -> str:
    """The same picture: the points of its paths to 0.01 pt; without comments, metadata and indents."""

    def shorten(path: re.Match[str]) -> str:
        points = _FINE.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), path[0])
        return " ".join(points.split())

    return re.sub(r"\n\s*", "\n", _PATH.sub(shorten, _UNSEEN.sub("", svg)))


def lighten_figures(notebook: NotebookNode) -> None:
    """All SVG that the notebook's cells put out, in place."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                output.data["image/svg+xml"] = lighten("".join(output.data["image/svg+xml"]))
