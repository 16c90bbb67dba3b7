"""Cards and what chapters say of each other are true to the table of contents; each chapter has its parts."""

import dataclasses
import re

import jupytext
import pytest
import yaml

from book.ext.contents import cards, chapter_front, label_and_title, read_contents
from reproduction.checkout import ROOT
from reproduction.ledger import ledger
from tests.book.chapters import CONTENTS, SAID, TOC

NUMBERED = [name for name, page in CONTENTS.pages.items() if page.number and name not in CONTENTS.parts["Your model"]]


def first_text(name):
    path = ROOT / f"{name}.md"
    return path.read_text() if path.exists() else jupytext.read(ROOT / f"{name}.py").cells[0].source


def described(contents=CONTENTS):
    pages = {}
    for name, page in contents.pages.items():
        label, title = label_and_title(first_text(name))
        pages[name] = dataclasses.replace(page, label=label, title=title, alt="a picture")
    return dataclasses.replace(contents, pages=pages)


def changed(tmp_path, change):
    said = yaml.safe_load(SAID.read_text())
    change(said)
    path = tmp_path / "chapters.yaml"
    path.write_text(yaml.safe_dump(said, sort_keys=False))
    return path


def needs_that_come_later(contents):
    order = list(contents.pages)
    return [(n, m) for n, page in contents.pages.items() for m in page.needs if order.index(m) >= order.index(n)]


def test_a_card_has_a_picture_if_it_is_a_chapters():
    made = cards(described())
    carded = {name: page for name, page in CONTENTS.pages.items() if page.about}
    assert re.findall(r"^:link: (\S+)$", made, re.MULTILINE) == [
        label_and_title(first_text(name))[0] for name in carded
    ]
    assert all(page.figure for name, page in carded.items() if page.number and name.startswith("notebooks"))
    assert made.count(":img-top:") == sum(bool(page.figure) for page in carded.values())


@pytest.mark.parametrize(
    "page", [{"notebooks/none": {"about": "Nothing."}}, {NUMBERED[1]: {"needs": {"book/none": "x"}}}]
)
def test_a_page_that_is_not_in_the_contents_is_refused(tmp_path, page):
    with pytest.raises(ValueError, match="none"):
        read_contents(TOC, changed(tmp_path, lambda said: said.update(page)))


def test_what_a_chapter_needs_comes_before_it(tmp_path):
    assert needs_that_come_later(CONTENTS) == []
    later = changed(tmp_path, lambda said: said.update({NUMBERED[1]: {"needs": {NUMBERED[2]: "all"}}}))
    assert needs_that_come_later(read_contents(TOC, later)) == [(NUMBERED[1], NUMBERED[2])]


def test_a_chapter_begins_with_its_needs():
    contents = described()
    assert "the map ([chapter" in chapter_front(contents, "notebooks/training")
    assert "no other chapter" in chapter_front(contents, NUMBERED[0])


def parts_missing(source):
    """Of the text of a chapter: what it lacks of a summary, and of three to ten points to remember or to do."""
    box = re.search(r":::\{admonition\} What to (?:remember|do)\n:class: \w+\n(.*?)\n:::\n", source, re.DOTALL)
    points = len(re.findall(r"^\* ", box[1], re.MULTILINE)) if box else 0
    return [] if "**In short" in source and 3 <= points <= 10 else ["In short" if 3 <= points <= 10 else "box"]


@pytest.mark.parametrize("name", NUMBERED)
def test_a_chapter_has_its_parts(name):
    source = "\n\n".join(c.source for c in jupytext.read(ROOT / f"{name}.py").cells if c.cell_type == "markdown")
    assert parts_missing(source) == []


def test_a_missing_part_is_found():
    box = ":::{admonition} What to remember\n:class: tip\n* A.\n* B.\n* C.\n:::\n"
    front = "**In short:** B.\n\n"
    assert parts_missing(front + box) == []
    assert parts_missing(front) == parts_missing(front + box.replace("* C.\n", "")) == ["box"]
    assert parts_missing(box) == ["In short"]


@pytest.mark.parametrize("chapter", sorted({claim.chapter for claim in ledger()}))
def test_a_chapter_shows_each_of_its_claims(chapter):
    """Those that it does not name are in the ledger, where the page leads, once."""
    text = (ROOT / "notebooks" / f"{chapter}.py").read_text()
    assert re.findall(r"^claims_of\((.*)\)$", text, re.M) == [f'"{chapter}"']
