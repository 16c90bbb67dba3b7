"""Figures of executed notebooks: small pictures for cards, and lighter SVG."""

from __future__ import annotations

import base64
import io
import re
from typing import NamedTuple

from nbformat import NotebookNode
from PIL import Image

SIZE = (320, 200)  # pixels of a thumbnail at most
COLOURS = 32
_PATH = re.compile(r'(?<= d=")[^"]*')
_FINE = re.compile(r"-?\d+\.\d{3,}")
_UNSEEN = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)


class Figure(NamedTuple):
    png: bytes
    alt: str


def find_figure(notebook: NotebookNode, name: str) -> Figure:
    """The figure of an executed notebook that has this name, as in 'fig-binary-map'.

    Raises:
        ValueError: no such figure, or none that is a PNG.
    """
    found = {}
    for cell in notebook.cells:
        settings = cell.metadata.get("mystnb", {})
        if "figure" in settings:
            pictures = [o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})]
            found[settings["figure"]["name"]] = pictures, settings["image"]["alt"]
    if name not in found:
        raise ValueError(f"figure must be one of {', '.join(found) or 'none, as there is none'}. Got {name!r}.")
    pictures, alt = found[name]
    if not pictures:
        raise ValueError(f"figure {name} must be a PNG, too. Got other forms only.")
    return Figure(base64.b64decode(pictures[0]), alt)


def thumbnail(png: bytes) -> bytes:
    """The picture within SIZE and in few colours, as PNG."""
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    picture.thumbnail(SIZE, Image.Resampling.LANCZOS)
    small = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
    return small.getvalue()


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
