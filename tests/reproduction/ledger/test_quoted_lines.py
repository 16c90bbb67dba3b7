"""Lines of quoted words: as the statements have them, and right where the texts are at hand (FOCAL_PAPERS)."""

import hashlib
import os
from pathlib import Path

import pytest

from reproduction.ledger import find, ledger, page
from reproduction.ledger.ledger import PAPERS, Fidelity
from reproduction.ledger.quoted_lines import lines_of, quoted_pieces, read_lines, say_lines
from workflow.quoted_lines import Text, find_all, find_pieces

WITHOUT = {  # claims that are quoted, and whose words are on no line
    "m20.app_h": "a formula alone",
    "m20.app_h_kl": "a formula alone",
    "m20.prop1_iff": "a formula with two common words",
    "m20.prop2_inequality": "a formula with three common words",
}
TEXT = """He said: the ﬁrst cali-
bration “map” raises
p = 0.8 confidence in general.
A table 1 2 3
and of every class.
"""


def test_every_quotation_has_a_line_or_a_reason():
    quoted = {claim.id for claim in ledger() if claim.fidelity == Fidelity.QUOTED}
    assert {id for id in quoted if not lines_of(id)} == set(WITHOUT)


def test_the_lines_are_of_the_statements_as_they_are():
    """Else: python -m workflow.quoted_lines FOLDER."""
    known = {claim.id: claim for claim in ledger()}
    for id, lines in read_lines()["claims"].items():
        assert len(lines) == len(quoted_pieces(known[id].statement)), id
        assert max(filter(None, lines)) <= read_lines()["texts"][known[id].paper]["lines"]
    assert set(read_lines()["texts"]) == set(PAPERS)


def test_pieces_are_what_stands_in_quotation_marks():
    said = (
        "Bayes' rule: 'the map raises $L'(q)$ of a model's output' and $f'$, 'as $x$' of 'all'. ('$x$' is a formula.)"
    )
    assert quoted_pieces(said) == ["the map raises \x00 of a model's output", "as \x00", "all"]


def test_words_are_found_through_hyphens_ligatures_formulas_and_page_ends():
    text = Text.read(TEXT.encode())
    assert text.lines == 5
    assert find_pieces(text, ["first calibration 'map'", "map raises \x00 confidence"]) == [1, 2]
    assert find_pieces(text, ["confidence in general and of every class"]) == [3]
    assert find_pieces(text, ["first calibration", "raises", "nowhere in the text"]) == [1, 2, None]
    assert find_pieces(text, ["in"]) == [None], "a short word alone could be any"


def test_a_card_and_the_data_name_the_lines():
    assert say_lines("kk24.fig4_shapes").startswith("lines 4")
    assert " and " in say_lines("kk24.fig4_shapes")
    assert say_lines("kk24.prop3_simple") == ""
    assert say_lines("kk24.prop2_differentiable") in page.cards([find("kk24.prop2_differentiable")]).data


@pytest.mark.skipif("FOCAL_PAPERS" not in os.environ, reason="FOCAL_PAPERS names no folder with the papers' texts")
def test_the_lines_are_right():
    files = [path.read_bytes() for path in Path(os.environ["FOCAL_PAPERS"]).glob("*.txt")]
    by_sum = {hashlib.sha256(content).hexdigest(): content for content in files}
    on_record = read_lines()["texts"]
    if missing := [paper for paper, text in on_record.items() if text["sha256"] not in by_sum]:
        pytest.skip(f"the folder has other texts of {', '.join(missing)}")
    texts = {paper: Text.read(by_sum[text["sha256"]]) for paper, text in on_record.items()}
    assert {paper: text.lines for paper, text in texts.items()} == {p: t["lines"] for p, t in on_record.items()}
    assert find_all(texts, ledger()) == read_lines()["claims"]
