"""Cards, paths and what chapters say of each other are true to the table of contents; each chapter has its parts."""

import dataclasses
import re

import jupytext
import pytest
import yaml

from book.ext.contents import cards, chapter_end, chapter_front, label_and_title, path_list, read_contents
from reproduction.checkout import ROOT
from reproduction.ledger import ledger
from tests.book.prose import typed_numbers

TOC, SAID = ROOT / "_toc.yml", ROOT / "book" / "chapters.yaml"
CONTENTS = read_contents(TOC, SAID)
CHAPTERS = [name for name in CONTENTS.pages if name.split("/")[1][0].isdigit()]


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


def gaps_of_paths(contents):
    """On a path, what a chapter needs comes before it."""
    found = []
    for path, names in contents.paths.items():
        for i, name in enumerate(names):
            found += [(path, name, need) for need in contents.pages[name].needs if need not in names[:i]]
    return found


def test_cards_are_of_every_page_of_the_contents():
    made = cards(described())
    labels = re.findall(r"^:link: (\S+)$", made, re.MULTILINE)
    assert labels == [label_and_title(first_text(name))[0] for name in CONTENTS.pages]
    assert all(CONTENTS.pages[name].figure for name in CHAPTERS), "a chapter's card has a picture"
    assert made.count(":img-top:") == sum(bool(page.figure) for page in CONTENTS.pages.values())


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["pages"].pop("notebooks/03_binary"),
        lambda said: said["pages"].update({"notebooks/99_none": {"about": "Nothing."}}),
        lambda said: said["paths"]["theory"].append("notebooks/99_none"),
        lambda said: said["pages"]["notebooks/05_simplex"]["needs"].update({"notebooks/99_none": "nothing"}),
    ],
)
def test_a_page_that_is_in_one_only_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"03_binary|99_none"):
        read_contents(TOC, changed(tmp_path, change))


def test_what_a_chapter_needs_comes_before_it(tmp_path):
    assert needs_that_come_later(CONTENTS) == []
    later = changed(tmp_path, lambda said: said["pages"]["notebooks/02_convexity"].update(needs={CHAPTERS[2]: "all"}))
    assert needs_that_come_later(read_contents(TOC, later)) == [(CHAPTERS[1], CHAPTERS[2])]


def test_along_a_path_nothing_is_needed_that_it_left_out(tmp_path):
    assert gaps_of_paths(CONTENTS) == []
    short = changed(tmp_path, lambda said: said["paths"]["theory"].remove("notebooks/05_simplex"))
    assert ("theory", "notebooks/06_confidence", "notebooks/05_simplex") in gaps_of_paths(read_contents(TOC, short))


def test_a_chapter_begins_with_its_needs_and_ends_with_what_is_next():
    contents = described()
    front = chapter_front(contents, "notebooks/06_confidence")
    assert "[chapter 5](#ch-simplex)" in front
    assert "no other chapter" in chapter_front(contents, CHAPTERS[0])
    end = chapter_end(contents, "notebooks/03_binary")
    assert "For practice, [chapter 8](#ch-training)" in end
    assert "For theory, [chapter 4](#ch-bounds)" in end
    assert chapter_end(contents, "notebooks/20_landscape") == ""


def parts_missing(source):
    """Of the text of a chapter: what it lacks of question, summary, and what to remember, in three to ten points."""
    box = re.search(r":::\{admonition\} What to remember\n:class: tip\n(.*?)\n:::\n", source, re.DOTALL)
    points = len(re.findall(r"^\* ", box[1], re.MULTILINE)) if box else 0
    missing = [part for part in ("**The question.**", "**In short:**", "\n## Verdict") if source.count(part) != 1]
    missing += [] if 3 <= points <= 10 else ["What to remember"]
    return missing + (["order"] if box and source.find("\n## Verdict") < box.start() else [])


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_its_parts(name):
    source = "\n\n".join(c.source for c in jupytext.read(ROOT / f"{name}.py").cells if c.cell_type == "markdown")
    assert parts_missing(source) == []


def test_a_missing_part_is_found():
    box = ":::{admonition} What to remember\n:class: tip\n* A.\n* B.\n* C.\n:::\n"
    front, end = "**The question.** A? **In short:** B.\n\n", "\n## Verdict\n"
    assert parts_missing(front + box + end) == []
    assert parts_missing(front + end) == ["What to remember"]
    assert parts_missing(front + box.replace("* C.\n", "") + end) == ["What to remember"]
    assert parts_missing(front.replace("**In short:** ", "") + box + end) == ["**In short:**"]
    assert parts_missing(front + end + box) == ["order"]


def test_paths_list_their_pages():
    listed = path_list(described()).splitlines()
    assert [line.count("](#") for line in listed] == [len(names) for names in CONTENTS.paths.values()]


def test_no_number_is_typed_in_what_cards_say():
    said = [text for page in CONTENTS.pages.values() for text in (page.about, *page.needs.values())]
    assert [number for text in said for number in typed_numbers(text)] == []


@pytest.mark.parametrize("chapter", sorted({claim.chapter for claim in ledger()}))
def test_a_chapter_shows_each_of_its_claims(chapter):
    """Those that it does not name are in the ledger, where the page leads, once."""
    text = (ROOT / "notebooks" / f"{chapter}.py").read_text()
    assert re.findall(r"^claims_of\((.*)\)$", text, re.M) == [f'"{chapter}"']
