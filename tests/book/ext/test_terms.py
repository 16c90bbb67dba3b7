"""The first use of a term in a chapter leads to its definition, and what is no prose is left alone."""

import re

import jupytext
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from book.ext.terms import glossary, link_terms
from reproduction.checkout import ROOT
from tests.book.chapters import CHAPTERS

PAGE = ROOT / "book" / "terms.md"
TERMS = glossary(PAGE.read_text())
FEW = {"ECE": "a gap", "expected calibration error": "a gap", "adaptive ECE": "another", "proper loss": "a loss"}


def linked(*texts):
    cells = [new_markdown_cell(text) for text in texts]
    link_terms(cells, FEW)
    return [cell.source for cell in cells]


def test_the_first_use_is_linked_and_no_other():
    assert linked("ECE and ECE.", "More ECE.") == ["{term}`ECE <ECE>` and ECE.", "More ECE."]
    assert linked("Proper loss, a proper\nloss") == ["{term}`Proper loss <proper loss>`, a proper\nloss"]
    assert linked("a proper\nloss") == ["a {term}`proper\nloss <proper loss>`"]


def test_a_longer_term_comes_first_and_names_of_one_thing_count_once():
    assert linked("adaptive ECE, ECE") == ["{term}`adaptive ECE <adaptive ECE>`, {term}`ECE <ECE>`"]
    assert linked("The expected calibration error (ECE)", "ECE") == [
        "The {term}`expected calibration error <expected calibration error>` (ECE)",
        "ECE",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# The ECE",
        "(ECE)=",
        "`ECE`",
        "$ECE$",
        "$$\nECE\n$$",
        "[ECE](#ch-a)",
        "{ref}`the ECE <ch-a>`",
        "'low ECE'",
        "**ECE**",
        "*ECE*",
        "| ECE | b |",
        "```\nECE\n```",
        "```{exercise}\n:label: ex-a\nECE\n```",
        ":::{admonition} As printed: A\nECE\n:::",
        "ECEs, pre-ECE",
    ],
)
def test_what_is_no_prose_is_left_alone(text):
    assert linked(f"Before.\n\n{text}\n\nAfter.") == [f"Before.\n\n{text}\n\nAfter."]


def test_what_to_remember_is_prose_and_so_is_what_follows_a_block():
    box = ":::{admonition} What to remember\n:class: tip\n* ECE.\n:::"
    assert linked(box) == [box.replace("ECE", "{term}`ECE <ECE>`")]
    assert linked("$$\nx\n$$\n\nECE") == ["$$\nx\n$$\n\n{term}`ECE <ECE>`"]


def test_code_is_left_alone():
    cell = new_code_cell("ECE = 1")
    assert link_terms([cell], FEW) == []
    assert cell.source == "ECE = 1"


@pytest.mark.parametrize("page", ["# Terms", "```{glossary}\nECE\n\nAUROC\n  an area\n```"])
def test_a_page_without_definitions_is_refused(page):
    with pytest.raises(ValueError, match="must have"):
        glossary(page)


def test_every_chapter_links_terms_and_every_term_is_linked():
    used = {path.stem: link_terms(jupytext.read(path).cells, TERMS) for path in CHAPTERS}
    assert [stem for stem, terms in used.items() if not terms] == []
    of_definitions = {TERMS[term] for terms in used.values() for term in terms}
    assert [term for term, definition in TERMS.items() if definition not in of_definitions] == []


def test_terms_are_in_order_and_definitions_are_sentences():
    names = [name.lower() for name in TERMS]
    first = [names[i] for i, d in enumerate(TERMS.values()) if d not in list(TERMS.values())[:i]]
    assert first == sorted(first)
    for definition in TERMS.values():
        assert definition.endswith(".")
        assert not set("`$[]{}") & set(definition), "a definition is shown as plain text"


def unknown_terms(text):
    """Terms of roles, '{term}`so <Term>`' or '{term}`Term`', that the page of terms lacks."""
    named = re.findall(r"\{term\}`(?:[^`<]*<([^`>]*)>|([^`<]*))`", text)
    return [target or text for target, text in named if (target or text) not in TERMS]


def test_a_term_that_a_page_links_itself_is_in_the_glossary():
    pages = [*(ROOT / "notebooks").glob("*.py"), *(ROOT / "book").glob("*.md")]
    assert [(page.name, term) for page in pages for term in unknown_terms(page.read_text())] == []
    assert unknown_terms("{term}`ECE`, {term}`so <ECE>`, {term}`ECES` and {term}`so <EC>`") == ["ECES", "EC"]
