"""The picture on a card is the chapter's own figure, small."""

import base64
import io

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from workflow import thumbnails
from workflow.thumbnails import MOST_BYTES, SIZE, find_figure, thumbnail


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def figure(name, picture):
    cell = new_code_cell(
        "draw()", outputs=[new_output("display_data", {"image/png": base64.b64encode(picture).decode()})]
    )
    cell.metadata["mystnb"] = {"image": {"alt": f"alt of {name}"}, "figure": {"name": name, "caption": ""}}
    return cell


def test_the_figure_is_found_by_its_name():
    first, second = (png(np.full((4, 4), value)) for value in (0, 255))
    notebook = new_notebook(cells=[new_code_cell("x"), figure("fig-a", first), figure("fig-b", second)])
    assert find_figure(notebook, "fig-b") == (second, "alt of fig-b")
    with pytest.raises(ValueError, match=r"one of fig-a, fig-b\. Got 'fig-c'"):
        find_figure(notebook, "fig-c")


@pytest.mark.parametrize("shape", [(500, 800), (2000, 300), (30, 40)])
def test_it_is_small_and_keeps_its_shape(shape):
    height, width = shape
    small = thumbnail(png(np.add.outer(np.arange(height), np.arange(width)) % 256))
    assert len(small) <= MOST_BYTES
    picture = Image.open(io.BytesIO(small))
    assert all(side <= most for side, most in zip(picture.size, SIZE, strict=True))
    assert picture.size[0] / picture.size[1] == pytest.approx(width / height, rel=0.05)


def test_one_that_stays_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(thumbnails, "COLOURS", (256,))
    noise = np.random.default_rng(0).integers(0, 256, (*SIZE[::-1], 3))
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES} bytes"):
        thumbnail(png(noise))


def test_a_transparent_ground_stays_transparent():
    pixels = np.zeros((50, 80, 4))
    pixels[20:30] = (0, 114, 178, 255)
    corner = Image.open(io.BytesIO(thumbnail(png(pixels)))).convert("RGBA").getpixel((0, 0))
    assert corner[3] == 0
