"""A page's text is held to its numbers, in the run it was written for and in no other."""

import pytest

from reproduction.checkout import ROOT
from reproduction.pages.expected import written_for

DEFAULTS = {"gamma": 1.0, "classes": 100}


def test_a_text_that_its_numbers_contradict_stops_the_page(capsys):
    expect = written_for("confidence", DEFAULTS | {"np": "what else the page has"})
    expect(True, "one is below two")
    with pytest.raises(ValueError, match=r"text of confidence .* this is not so: two is below one"):
        expect(False, "two is below one")
    assert capsys.readouterr().out == ""


def test_with_other_parameters_a_page_says_so_and_checks_nothing(monkeypatch):
    shown = []
    monkeypatch.setattr("reproduction.pages.expected.display", shown.append)
    written_for("confidence", DEFAULTS | {"gamma": 2.0})(False, "two is below one")
    (notice,) = shown
    assert "This one has `gamma = 2.0`:" in notice.data


@pytest.mark.parametrize("page", sorted(path.stem for path in (ROOT / "notebooks").glob("*.py")))
def test_defaults_are_read_of_every_page(page):
    source = (ROOT / "notebooks" / f"{page}.py").read_text()
    given = {}
    if 'tags=["parameters"]' in source:
        exec(source.split('tags=["parameters"]\n')[1].split("\n\n#")[0], given)
    written_for(page, given)(True, "it says nothing")
