"""What a result was made otherwise than a paper's, on its page."""

import re

import pytest

from reproduction.checkout import ROOT
from reproduction.pages.differences import differences, folded_differences


def test_lists():
    assert differences(()).data == ""
    assert differences(["a", "b"]).data == "**Differs from the paper in**\n\n* a\n* b"
    assert differences((), ["c"]).data == "**Of the paper, missing**\n\n* c"


def test_folded():
    found = folded_differences({"the runs on CIFAR-10": ["epochs < 350"], "others": []}).data
    assert "<summary>Differs from the papers in: the runs on CIFAR-10</summary>" in found
    assert "<ul><li>epochs &lt; 350</li></ul>" in found
    assert "others" not in found


@pytest.mark.parametrize("name", ["training", "focal_temperature_scaling", "table1"])
def test_pages_with_results_of_runs_say_in_what_they_differ(name):
    """From the grid that they read, not typed."""
    text = (ROOT / "notebooks" / f"{name}.py").read_text()
    assert re.search(r"^(folded_)?differences\(", text, re.MULTILINE)
    assert "read_notes(" in text
    assert re.search(r"\"cifar10-record\"|grids/(cifar10-record|\{recorded\})\.yaml\"\)\.differs", text)


@pytest.mark.parametrize("name", ["kk24", "m20", "kn24", "l25"])
def test_a_papers_page_says_in_what_repeating_it_would_differ(name):
    text = (ROOT / "notebooks" / f"{name}.py").read_text()
    assert f'"{name}-' in text
    assert re.search(r"^folded_differences\(", text, re.MULTILINE)
