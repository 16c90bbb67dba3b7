"""Citations from the book's references; numbers and titles of labels, as Sphinx counts them."""

import pytest

from reproduction.checkout import ROOT
from reproduction.pages.references import cite, labels, reference_list

FILE = ROOT / "book" / "references.bib"


@pytest.mark.parametrize(
    ("keys", "textual", "text"),
    [
        (["kk24"], True, "Komisarenko & Kull (2024)"),
        (["l25"], True, "Liang et al. (2025)"),
        (["guo17", "lin17"], False, "(Guo et al., 2017; Lin et al., 2017)"),
    ],
)
def test_authors_and_year(keys, textual, text):
    assert cite(FILE, keys, textual=textual) == text


def test_an_unknown_key_is_no_citation():
    with pytest.raises(KeyError):
        cite(FILE, ["nobody99"], textual=True)


def test_cited_works_are_listed_with_their_accents():
    listed = reference_list(FILE, ["lin17", "guo17"])
    assert listed.startswith("* Chuan Guo")
    assert "Dollár" in listed


TOC = """format: jb-book
root: book/index
parts:
  - caption: One
    numbered: 1
    chapters: [{file: notebooks/a}]
  - caption: Two
    numbered: 1
    chapters: [{file: notebooks/b}]
  - caption: Reference
    chapters: [{file: book/c}]
"""
CHAPTER = """# %% [markdown]
# (ch-{0})=
# # Title of {0}
#
# ```{{math}}
# :label: eq-{0}-one
# x
# ```
#
# ```{{math}}
# no label, no number
# ```
#
# ```{{math}}
# :label: eq-{0}-two
# y
# ```
#
# (sec-{0})=
# ## A section
#
# ```{{exercise}}
# :label: ex-{0}
# Show it.
# ```

# %% mystnb={{"figure": {{"name": "fig-{0}", "caption": "c"}}}}
draw()
"""


@pytest.fixture
def book(tmp_path):
    for folder in ("notebooks", "book"):
        (tmp_path / folder).mkdir()
    (tmp_path / "_toc.yml").write_text(TOC)
    for name in "ab":
        (tmp_path / "notebooks" / f"{name}.py").write_text(CHAPTER.format(name))
    (tmp_path / "book" / "c.md").write_text("(page-c)=\n# Title of c\n")
    return tmp_path


def test_numbers_run_on_over_parts_and_start_anew_in_a_chapter(book):
    found = labels(book)
    assert found["ch-b"] == "chapter 2, *Title of b*"
    assert found["eq-b-two"] == "equation (2.2)"
    assert found["ex-a"] == "Exercise 1.1"
    assert found["fig-b"] == "Fig. 2.1"


def test_pages_without_number_and_sections_are_named(book):
    found = labels(book)
    assert found["page-c"] == "the page *Title of c*"
    assert found["sec-a"] == "the section *A section* of chapter 1"


def test_the_books_own_labels_are_found():
    found = labels(ROOT)
    assert found["ch-confidence"].startswith("chapter 4, *")
    assert found["eq-binary-logit"] == "equation (3.1)"
