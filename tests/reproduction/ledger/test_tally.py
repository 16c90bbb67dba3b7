"""Two tallies of verdicts, and the README's table."""

from dataclasses import replace

import pytest

from reproduction.ledger import Verdict, find, ledger, tally


def test_every_verdict_but_a_failed_check_has_one_group():
    grouped = [verdict for found in tally.GROUPS.values() for verdict in found]
    assert sorted(grouped) == sorted(set(Verdict) - {Verdict.FAILED})


def test_counts_by_group():
    counts = tally.tally(["PROVED", "NUMERIC", "REFUTED", "NOT CONFIRMED", "UNDECIDED"])
    assert counts == {
        "hold": 2,
        "hold under a condition": 0,
        "refuted or not reproduced": 2,
        "undecided": 1,
        "out of regime": 0,
        "not checkable here": 0,
    }
    with pytest.raises(ValueError, match=r"Got CHECK FAILED"):
        tally.tally(["CHECK FAILED"])


def test_a_row_for_each_of_the_best_known():
    verdicts = {claim.id: "PROVED" for claim in ledger()}
    table = tally.readme_table(verdicts, {"kk24.prop5": "n = 2"}).splitlines()
    rows = [line for line in table if "](notebooks/" in line]
    assert len(rows) == sum(claim.in_readme for claim in ledger())
    chapter = "[6](notebooks/06_confidence.py)"
    assert f"| KK24 Prop. 5 | The map never lowers the top probability | {chapter} | **PROVED** | n = 2 |" in table


def test_a_row_of_a_page_that_is_no_chapter(monkeypatch):
    one = replace(find("kk24.prop5"), chapter="open_questions")
    monkeypatch.setattr(tally, "ledger", lambda: [one])
    assert "| [open questions](notebooks/open_questions.py) | **PROVED** |" in tally.readme_table(
        {one.id: "PROVED"}, {}
    )


def test_only_one_block_is_replaced():
    text = f"a\n{tally.START}\nx\n{tally.END}\nb"
    assert tally.with_table(text, "| t |") == f"a\n{tally.START}\n| t |\n{tally.END}\nb"
    with pytest.raises(ValueError, match=r"there must be one block from .*Got 0"):
        tally.with_table("no marks", "")
    with pytest.raises(ValueError, match=r"Got 2"):
        tally.with_table(text + text, "")


def test_numbers_come_from_the_evidence():
    claim = find("kk24.fig2_error")
    assert claim.instead == f"up to {claim.evidence.measured:.4f}"
    assert find("kk24.prop1").instead == ""


def test_corrections_are_in_the_second_tally_alone():
    verdicts = {claim.id: "REFUTED" if claim.of_paper else "PROVED" for claim in ledger()}
    papers, ours = (sum(claim.of_paper is which for claim in ledger()) for which in (True, False))
    lines = tally.readme_table(verdicts, {}).splitlines()
    assert f"| the papers claim | {papers} | 0 | 0 | {papers} | 0 | 0 | 0 |" in lines
    assert f"| this book adds | {ours} | {ours} | 0 | 0 | 0 | 0 | 0 |" in lines
    assert not [claim.id for claim in ledger() if claim.in_readme and not claim.of_paper]
