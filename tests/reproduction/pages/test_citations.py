"""Citations from the book's references."""

import pytest

from reproduction.checkout import ROOT
from reproduction.pages.citations import cite, reference_list

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
