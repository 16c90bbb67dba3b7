"""A lighter figure is the same picture."""

import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

from workflow.light_svg import lighten


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
