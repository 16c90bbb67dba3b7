"""JUnit of a check, as servers of continuous integration read it."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from focal_lib.tool.gate import Outcome, Part, did_not_run


@pytest.mark.parametrize("name", ["a\x07b", "\ufffe", "\ud800", "<&\"'>]]>", "Ärger \U0001f600", "a\tb\nc"])
def test_it_is_well_formed_whatever_a_slice_is_called(name, tmp_path):
    part = Part(name, Outcome.FAIL, 5.0, 4.0, 6.0, 100)
    found = replace(did_not_run(f"because of {name}"), slices=(part,))
    found.save(tmp_path / "j.xml")
    cases = ElementTree.parse(tmp_path / "j.xml").getroot().findall("testcase")
    shown = {"a\x07b": "a\\u0007b", "\ufffe": "\\ufffe", "\ud800": "\\ud800"}.get(name, name)
    assert cases[1].get("name") == f"{shown}: ece"
    found.save(tmp_path / "j.json")
    assert json.loads((tmp_path / "j.json").read_text())["slices"][0]["name"] == name
