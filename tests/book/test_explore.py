"""The figures that move: the script's formulas are Python's, its size, and that every part it moves is there."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import yaml

from focal_lib.checkout import ROOT
from focal_lib.pages.explore import FIGURES, explore
from workflow import explore_reference

SCRIPT = ROOT / "book" / "_static" / "explore.js"
CHECK = Path(__file__).with_name("explore.test.js")
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NODE), str(CHECK), str(script)], capture_output=True, text=True)


@needs_node
def test_the_script_computes_what_python_does():
    done = run(SCRIPT)
    assert done.returncode == 0, done.stdout


@needs_node
@pytest.mark.parametrize(
    ("before", "after", "noticed"),
    [
        ("expm1(x)", "(exp(x) - 1)", "focalLogit"),
        ("softplus(s) - x", "softplus(s) - 1.0000001 * x", "focalLogProbs"),
        ("abs(s) >= 1", "abs(s) >= 0", "focalLogit"),
        ("2 * LN2 - 1", "0.386294", "temperatureBounds"),
        ("4 * lambda", "2 * lambda", "fclMinimiser"),
        ("i < 200", "i < 20", "closestTemperature"),
        ("1 / n >= low", "1 / n >= 0.15", "tiedCrossing"),
    ],
)
def test_a_planted_fault_is_noticed(tmp_path, before, after, noticed):
    text = SCRIPT.read_text()
    assert before in text
    planted = tmp_path / "explore.js"
    planted.write_text(text.replace(before, after))
    done = run(planted)
    assert done.returncode == 1
    assert f"not ok {list(explore_reference.FUNCTIONS).index(noticed) + 1} - {noticed}" in done.stdout


@pytest.mark.parametrize("name", explore_reference.FUNCTIONS)
def test_the_recorded_values_are_those_of_today(name):
    recorded = json.loads(explore_reference.FILE.read_text())[name]
    found = json.loads(json.dumps(explore_reference.FUNCTIONS[name]()))
    assert [case[0] for case in found] == [case[0] for case in recorded]
    for (_, today), (given, then) in zip(found, recorded, strict=True):
        np.testing.assert_allclose(today, then, rtol=1e-10, atol=1e-13, err_msg=str(given))


def test_what_the_others_tied_lose_is_lost_below_the_crossing_only():
    for n, gamma in ((10, 0.5), (100, 1.0), (1000, 3.0), (100, 10.0)):
        crossing = explore_reference.tied_crossing(n, gamma)
        for top in np.linspace(1 / n, 1, 60)[1:-1]:
            change = explore_reference.confidence_change(explore_reference.tied(top, n), gamma)
            assert (change < 0) == (top < crossing), (n, gamma, top)


def test_the_script_is_small_and_loads_nothing():
    text = SCRIPT.read_text()
    assert len(text.encode()) < 12_000
    assert not re.search(r"https?://|\bimport\b|\bfetch\b|XMLHttpRequest|innerHTML", text)


def test_pages_load_the_script_when_they_are_read():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    assert [SCRIPT.name, {"defer": "defer"}] in config["html_js_files"]


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_on_a_page(name):
    pages = [page.stem for page in (ROOT / "notebooks").glob("*.py") if f'explore("{name}")' in page.read_text()]
    assert len(pages) == 1


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(name):
    parser = Elements()
    parser.feed(explore(name).data)
    return parser.found


def function_of(name):
    """The text of a figure in the script."""
    return re.search(rf"^    {name}\(.*?^    }},$", SCRIPT.read_text(), re.S | re.M)[0]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_whole(name):
    found = elements(name)
    assert [attrs["data-explore"] for tag, attrs in found if tag == "figure"] == [name]
    picture = next(attrs for tag, attrs in found if tag == "svg")
    assert picture["role"] == "img"
    assert len(picture["aria-label"]) > 60
    assert {"aria-live": "polite", "class": "explore-says"} in [attrs for tag, attrs in found if tag == "p"]
    assert next(attrs for tag, attrs in found if tag == "div") == {"class": "explore-controls", "hidden": None}
    html = explore(name).data
    assert re.search(r"<figcaption>.{60,}\.</figcaption>", html)
    assert re.search(r"<p>Try it: [a-z][^.]+\.</p>", html)
    assert html.count("<label>") == len([tag for tag, attrs in found if tag == "input" and attrs["type"] != "hidden"])
    assert "nan" not in html


@pytest.mark.parametrize("name", FIGURES)
def test_sliders_begin_where_they_can_be(name):
    for tag, given in elements(name):
        if tag == "input" and given["type"] == "range":
            low, high, step, value = (float(given[key]) for key in ("min", "max", "step", "value"))
            assert low <= value <= high
            assert abs((value - low) / step - round((value - low) / step)) < 1e-9, given


@pytest.mark.parametrize("name", FIGURES)
def test_script_and_picture_have_the_same_parts(name):
    found = elements(name)
    parts = {attrs["data-part"] for _, attrs in found if "data-part" in attrs}
    text = function_of(name)
    drawn = set(re.findall(r'\.(?:line|part)\("(\w+)"', text))
    assert drawn <= parts
    assert drawn, "a figure that moves nothing"
    panels = {attrs["data-panel"] for _, attrs in found if "data-panel" in attrs}
    inputs = {attrs["name"] for tag, attrs in found if tag == "input"}
    arguments = re.match(r"\s+\w+\(\{ ([^}]*) \}, \{ ([^}]*) \}", text)
    assert set(arguments[1].split(", ")) - {"inputs", "state"} <= panels
    assert set(arguments[2].split(", ")) == inputs


def test_no_other_figure():
    with pytest.raises(ValueError, match=r"name must be one of binary.* Got 'x'"):
        explore("x")
