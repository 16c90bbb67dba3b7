"""The verdicts counted by what they rest on, and the README's table."""

import re
from dataclasses import replace

import pytest

from reproduction.ledger import Verdict, find, ledger, tally
from reproduction.ledger.verdicts import recorded
from reproduction.ledger.weight import Weight


def test_every_verdict_but_two_has_one_group():
    grouped = [verdict for found in tally.GROUPS.values() for verdict in found]
    assert sorted(grouped) == sorted(set(Verdict) - {Verdict.FAILED, Verdict.UNCHECKABLE})


def test_counts_by_weight_and_group():
    ids = ("kk24.prop1", "kk24.prop5", "kk24.fig2_error", "m20.gamma_order", "m20.linear_norm", "kk24.ce_temperature")
    claims, found = [find(id) for id in ids], ("PROVED", "REFUTED", "NOT REPRODUCED", "REPRODUCED", "UNDECIDED")
    verdicts = dict(zip(ids, (*found, "UNCHECKABLE HERE"), strict=True))
    counts = tally.tally(claims, verdicts)
    assert list(counts) == list(Weight)
    found = {weight: {name: n for name, n in row.items() if n} for weight, row in counts.items()}
    assert found == {
        Weight.PROOF: {"statements": 2, "hold": 1, "refuted or not reproduced": 1},
        Weight.FORMULAS: {"statements": 1, "refuted or not reproduced": 1},
        Weight.TABLES: {"statements": 1, "hold": 1},
        Weight.PAPER_SIZE: {},
        Weight.FULL_DATA: {},
        Weight.TOY: {"statements": 1, "undecided": 1},
        Weight.NOTHING: {"statements": 1},
    }
    with pytest.raises(ValueError, match=r"Got CHECK FAILED"):
        tally.tally(claims, verdicts | {"kk24.prop1": "CHECK FAILED"})


def test_a_row_for_each_of_the_best_known():
    verdicts = {claim.id: "PROVED" for claim in ledger()}
    table = tally.readme_table(verdicts, {"kk24.prop5": "n = 2"}).splitlines()
    rows = [line for line in table if "](notebooks/" in line]
    assert len(rows) == sum(claim.in_readme for claim in ledger())
    chapter = "[confidence](notebooks/confidence.py)"
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


def test_corrections_are_in_the_line_below_alone():
    verdicts = {claim.id: "REFUTED" if claim.of_paper else "PROVED" for claim in ledger()}
    counts = tally.tally([claim for claim in ledger() if claim.of_paper], verdicts)
    assert not sum(row["hold"] for row in counts.values())
    ours = sum(not claim.of_paper for claim in ledger())
    assert f"This book adds {ours} statements, corrections among them" in tally.readme_table(verdicts, {})
    assert not [claim.id for claim in ledger() if claim.in_readme and not claim.of_paper]


def test_no_line_sums_what_holds_over_weights():
    verdicts = recorded()
    papers = [claim for claim in ledger() if claim.of_paper]
    hold = sum(row["hold"] for row in tally.tally(papers, verdicts).values())
    assert str(hold) not in re.findall(r"\d+", tally.tally_table(ledger(), verdicts))
