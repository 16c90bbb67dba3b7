"""The figures that move: the script's formulas are Python's, its size, and that every part it moves is there."""

import functools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.special import softmax

from focal_lib import metrics
from reproduction.checkout import ROOT
from reproduction.pages.explore import FIGURES, explore, logit_sample, sample_log_probs
from reproduction.studies.epochs.while_training import pair_by_epoch
from reproduction.studies.law.figures import networks
from reproduction.studies.law.judged import read_law
from reproduction.studies.shared.recorded import load_recorded
from tests.book.in_node import check_in_node, needs_node, plant, run_node
from workflow import explore_reference

SCRIPT = ROOT / "book" / "_static" / "explore.js"
CHECK = Path(__file__).with_name("explore.test.js")


@needs_node
def test_the_script_computes_what_python_does():
    check_in_node(CHECK, SCRIPT)


@needs_node
@pytest.mark.parametrize(
    ("before", "after", "noticed"),
    [
        ("expm1(x)", "(exp(x) - 1)", "beta"),
        ("softplus(s) - x", "softplus(s) - 1.0000001 * x", "focalLogProbs"),
        ("abs(s) >= 1", "abs(s) >= 0", "beta"),
        ("beta(1e-7, gamma)", "beta(1e-3, gamma)", "temperatureBounds"),
        ("4 * lambda", "2 * lambda", "fclMinimiser"),
        ("sum + q, -1)", "sum + q, -0.99)", "focalMinimiser"),
        ("max(peak(gamma), 1 / n)", "max(peak(gamma), 0.15)", "tiedCrossing"),
        ("ceil(15 * top)", "ceil(14 * top)", "reliability"),
        ("row[0] === 0", "row[1] === 0", "reliability"),
    ],
)
def test_a_planted_fault_is_noticed(tmp_path, before, after, noticed):
    said = plant(tmp_path, CHECK, SCRIPT, before, after)
    assert f"not ok {list(explore_reference.FUNCTIONS).index(noticed) + 1} - {noticed}" in said


def flat(found):
    """Numbers of nested lists."""
    return [value for part in found for value in flat(part)] if isinstance(found, list | tuple) else [found]


@pytest.mark.parametrize("name", explore_reference.FUNCTIONS)
def test_the_recorded_values_are_those_of_today(name):
    recorded = json.loads(explore_reference.FILE.read_text())[name]
    found = json.loads(json.dumps(explore_reference.FUNCTIONS[name]()))
    assert [case[0] for case in found] == [case[0] for case in recorded]
    for (_, today), (given, then) in zip(found, recorded, strict=True):
        np.testing.assert_allclose(flat(today), flat(then), rtol=1e-10, atol=1e-13, err_msg=str(given))


def test_what_the_others_tied_lose_is_lost_below_the_crossing_only():
    for n, gamma in ((10, 0.5), (100, 1.0), (1000, 3.0), (100, 10.0)):
        crossing = explore_reference.tied_crossing(n, gamma)
        for top in np.linspace(1 / n, 1, 60)[1:-1]:
            change = explore_reference.confidence_change(explore_reference.tied(top, n), gamma)
            assert (change < 0) == (top < crossing), (n, gamma, top)


def test_the_script_is_small_and_loads_nothing():
    text = SCRIPT.read_text()
    assert len(text.encode()) < 14_000
    assert not re.search(r"https?://|\bimport\b|\bfetch\b|XMLHttpRequest|innerHTML", text)


def test_pages_load_the_script_when_they_are_read():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    assert [SCRIPT.name, {"defer": "defer"}] in config["html_js_files"]


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_on_a_page(name):
    pages = [page.stem for page in (ROOT / "notebooks").glob("*.py") if f'explore("{name}"' in page.read_text()]
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
    parser.feed(shown(name))
    return parser.found


@functools.cache
def sample():
    """Of the first recorded CIFAR-10 network trained with cross-entropy, as chapter 13 shows it."""
    run = next(run for run in load_recorded("cifar10-resnet8", part=True) if run.spec.label == "cross-entropy")
    return logit_sample(run.test.logits, run.test.labels)


@functools.cache
def shown(name):
    given = {
        "bars": lambda: {"probs": [0.1, 0.6, 0.3], "names": ["cat", "dog", "frog"]},
        "reliability": lambda: {"sample": sample()},
        "law": lambda: {"networks": networks(read_law())},
        "epochs": lambda: pair_by_epoch(load_recorded("cifar10-long"), "focal 3"),
    }
    return explore(name, **given.get(name, dict)()).data


def function_of(name):
    """The text of a figure in the script."""
    return re.search(rf"^  {name}\(.*?^  }},$", SCRIPT.read_text(), re.S | re.M)[0]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_whole(name):
    found = elements(name)
    assert [attrs["data-explore"] for tag, attrs in found if tag == "figure"] == [name]
    picture = next(attrs for tag, attrs in found if tag == "svg")
    assert picture["role"] == "img"
    assert len(picture["aria-label"]) > 60
    assert {"aria-live": "polite", "class": "explore-says"} in [attrs for tag, attrs in found if tag == "p"]
    assert [attrs for tag, attrs in found if tag == "fieldset"] == [{"class": "explore-controls", "hidden": None}]
    html = shown(name)
    assert re.search(r"<figcaption>.{60,}\.</figcaption>", html)
    assert re.search(r"<p>Try it: [a-z][^.]+\.</p>", html)
    assert html.count("<label>") == len([tag for tag, attrs in found if tag == "input" and attrs["type"] != "hidden"])
    assert "nan" not in html
    assert not re.search(r">-[\d.]", html), "a hyphen before a number"


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
    drawn = set(re.findall(r'\.(?:line|dots|part)\("(\w+)"', text))
    assert drawn <= parts
    assert drawn, "a figure that moves nothing"
    panels = {attrs["data-panel"] for _, attrs in found if "data-panel" in attrs}
    inputs = {attrs["name"] for tag, attrs in found if tag == "input"}
    view, values = re.match(r"\s+\w+\(\{ (.*?) \}, \{ ([^}]*) \}", text).groups()
    handled = re.search(r", inputs: \{ T: slider, (\w+)", view)  # the script needs the elements themselves
    assert set(view.split(", inputs")[0].split(", ")) - {"data"} <= panels
    assert set(values.split(", ")) | set(handled.groups() if handled else ()) == inputs


GIVEN = [(gamma, t) for gamma in (0.0, 0.7, 2.0, 5.0) for t in (0.2, 1.0, 2.5, 6.0)]


@needs_node
def test_ece_and_nll_of_the_sample_are_those_of_python():
    code = "const [script, rows, given] = JSON.parse(require('fs').readFileSync(0));"
    code += "const { reliability } = require(script);"
    code += "console.log(JSON.stringify(given.map((pair) => reliability(rows, ...pair))))"
    asked = json.dumps([str(SCRIPT), json.loads(dict(elements("reliability"))["figure"]["data-logits"]), GIVEN])
    done = run_node("-e", code, input=asked, check=True)
    for (gamma, t), found in zip(GIVEN, json.loads(done.stdout), strict=True):
        np.testing.assert_allclose(flat(found), flat(explore_reference.reliability(sample(), gamma, t)), rtol=1e-9)


def test_a_sample_keeps_who_is_right_and_hardly_moves_the_probabilities():
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(scale=4, size=(400, 5)), rng.integers(5, size=400)
    logits[0] = [1.0, 1.01, 0, 0, 0]
    labels[0] = 0
    kept = logit_sample(logits, labels)
    assert kept.shape == (400, 5)
    np.testing.assert_array_equal(kept[:, 0] == 0, logits.argmax(axis=1) == labels)
    probs = np.exp(sample_log_probs(kept, 0, 1))
    assert abs(metrics.ece(probs, np.zeros(400, int)) - metrics.ece(softmax(logits, axis=1), labels)) < 0.01
    assert len(logit_sample(logits, labels, 100)) == 100


def test_a_moment_has_the_gap_and_the_ece_of_its_logits():
    kept = json.loads(dict(elements("epochs"))["figure"]["data-moments"])
    run = next(run for run in load_recorded("cifar10-long") if not run.spec.is_cross_entropy)
    for epoch, _, (gap, error, points) in kept:
        part = {**run.test_by_epoch, run.spec.training.epochs: run.test}[epoch]
        probs = softmax(part.logits.astype(float), axis=1)
        confidence = probs.max(axis=1).mean() - (probs.argmax(axis=1) == part.labels).mean()
        assert (gap, error) == pytest.approx((100 * confidence, 100 * metrics.ece(probs, part.labels)), abs=0.051)
        assert all(0 <= value <= 1 for point in points for value in point)


def test_no_other_figure():
    with pytest.raises(ValueError, match=r"name must be one of law.* Got 'x'"):
        explore("x")
