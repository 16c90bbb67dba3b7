"""The picture on a card is the chapter's own figure, small; a lighter figure is the same picture."""

import base64
import io
import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from book.ext.figures import SIZE, find_figure, lighten, thumbnail


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
def test_a_thumbnail_is_small_and_keeps_its_shape(shape):
    height, width = shape
    small = thumbnail(png(np.add.outer(np.arange(height), np.arange(width)) % 256))
    assert len(small) <= 20_000  # of forty on the landing page
    picture = Image.open(io.BytesIO(small))
    assert all(side <= most for side, most in zip(picture.size, SIZE, strict=True))
    assert picture.size[0] / picture.size[1] == pytest.approx(width / height, rel=0.05)


def test_a_transparent_ground_stays_transparent():
    pixels = np.zeros((50, 80, 4))
    pixels[20:30] = (0, 114, 178, 255)
    corner = Image.open(io.BytesIO(thumbnail(png(pixels)))).convert("RGBA").getpixel((0, 0))
    assert corner[3] == 0


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    figure, (left, right) = plt.subplots(1, 2)
    left.plot(np.linspace(0, 1, 500), np.random.default_rng(0).standard_normal(500).cumsum(), label="a line")
    left.legend()
    right.scatter([0.1, 0.2], [-1e-7, 3.5])
    path = tmp_path_factory.mktemp("svg") / "figure.svg"
    figure.savefig(path)
    plt.close(figure)
    return path.read_text()


def elements(svg):
    svg = re.sub("<metadata>.*</metadata>", "", svg, flags=re.DOTALL)
    return list(ElementTree.fromstring(svg).iter())


def test_only_the_points_of_paths_change_and_by_less_than_a_hundredth(drawn):
    old, new = elements(drawn), elements(lighten(drawn))
    assert [one.tag for one in old] == [one.tag for one in new]
    assert len(new) > 100
    for before, after in zip(old, new, strict=True):
        was, now = dict(before.attrib), dict(after.attrib)
        words, others = was.pop("d", "").split(), now.pop("d", "").split()
        assert was == now
        assert len(words) == len(others)
        for word, other in zip(words, others, strict=True):
            assert word == other or abs(float(word) - float(other)) <= 0.005 + 1e-9


def test_it_is_lighter_and_twice_is_once(drawn):
    once = lighten(drawn)
    assert len(once) < 0.8 * len(drawn)
    assert lighten(once) == once


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 1.234567 -0.000001", "M 1.23 -0"),
        ("M 10 20.5 \nL 3.999999 1", "M 10 20.5 L 4 1"),
        ("M 1e-05 2", "M 1e-05 2"),
    ],
)
def test_points(path, short):
    assert lighten(f'<path d="{path}" id="x1.234567"/>') == f'<path d="{short}" id="x1.234567"/>'
