"""The small picture on a chapter's card: one of the chapter's own figures, as the executed notebook holds it."""

from __future__ import annotations

import base64
import io
from typing import NamedTuple

from nbformat import NotebookNode
from PIL import Image

SIZE = (320, 200)  # pixels at most
MOST_BYTES = 8_000
COLOURS = (64, 32, 16, 8, 4)  # the first that is small enough


class Figure(NamedTuple):
    png: bytes
    alt: str


def find_figure(notebook: NotebookNode, name: str) -> Figure:
    """The figure of an executed notebook that has this name, as in 'fig-binary-map'.

    Raises:
        ValueError: no such figure, or none that is a PNG.
    """
    names = []
    for cell in notebook.cells:
        settings = cell.metadata.get("mystnb", {})
        names += [settings["figure"]["name"]] if "figure" in settings else []
        pictures = [o.data["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
        if names and "figure" in settings and names[-1] == name and pictures:
            return Figure(base64.b64decode(pictures[0]), settings["image"]["alt"])
    if name in names:
        raise ValueError(f"figure {name} must be a PNG, too. Got other forms only.")
    raise ValueError(f"figure must be one of {', '.join(names) or 'none, as there is none'}. Got {name!r}.")


def thumbnail(png: bytes) -> bytes:
    """The picture within SIZE and MOST_BYTES, as PNG.

    Raises:
        ValueError: it stays too large with the fewest colours.
    """
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    picture.thumbnail(SIZE, Image.Resampling.LANCZOS)
    for colours in COLOURS:
        small = io.BytesIO()
        picture.quantize(colours, Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
        if small.tell() <= MOST_BYTES:
            return small.getvalue()
    raise ValueError(
        f"a thumbnail must have at most {MOST_BYTES} bytes. Got {small.tell()} with {COLOURS[-1]} colours."
    )
