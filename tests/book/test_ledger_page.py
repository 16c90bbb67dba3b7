"""The ledger's page: its table, and the script that searches, filters and sorts it, in node and in Chromium."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import find, ledger, page
from reproduction.ledger.links import card_anchor, places, verdict_anchor
from reproduction.ledger.page import chapter_link, detail, overview, short_statement, together
from tests.book.in_node import check_in_node, needs_node, plant
from tests.book.made_ledger import SCRIPT, found_in_chromium, made
from workflow.chromium import find_chromium

CHECK = Path(__file__).with_name("ledger.test.js")

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="chromium is not installed")


@needs_node
def test_the_script_finds_sorts_and_keeps_what_is_asked():
    check_in_node(CHECK, SCRIPT)


@needs_node
@pytest.mark.parametrize(
    ("before", "after", "noticed"),
    [
        ('"(?!\\\\d)"', '""', "search"),
        ('γ: "gamma"', 'γ: "x"', "search"),
        ("menus.every", "menus.some", "menus"),
        ("numeric: true", "numeric: false", "order"),
        ("&& !known.length", "&& known.length < 0", "the address"),
    ],
)
def test_a_planted_fault_is_noticed(tmp_path, before, after, noticed):
    said = plant(tmp_path, CHECK, SCRIPT, before, after)
    assert re.search(rf"^not ok \d+ - {noticed}", said, re.M), said


@needs_chromium
def test_a_reader_searches_filters_and_sorts(tmp_path):
    found = found_in_chromium(
        tmp_path,
        made(12),
        """
        found.said = form.querySelector("output").textContent;
        found.visible = !form.hidden;
        ask("verdict", "REFUTED"); found.refuted = shown(); found.cards = cards(); found.hash = location.hash;
        found.count = form.querySelector("output").textContent;
        ask("text", "Prop. 9"); found.both = shown();
        form.reset(); found.all = shown().length; found.bare = location.hash;
        heading("claim").firstChild.click(); found.first = shown()[0]; found.up = heading("claim").ariaSort;
        heading("claim").firstChild.click(); found.last = shown()[0]; found.down = heading("claim").ariaSort;
        found.sorted = location.hash;
        heading("claim").firstChild.click(); found.book = shown(); found.none = heading("claim").ariaSort;
        ask("whose", "paper"); location.hash = "#claim-kk24-made-4"; await later();
        found.anchor = shown().length; found.kept = location.hash;
        location.hash = "#paper=m20&text=made_3"; await later(); found.followed = shown();
        """,
    )
    assert found["visible"]
    assert found["said"] == "12 of 12 claims"
    assert found["refuted"] == ["0", "3", "6", "9"]
    assert found["cards"] == 4
    assert found["count"] == "4 of 12 claims"
    assert found["hash"] == "#verdict=REFUTED"
    assert found["both"] == ["9"]
    assert (found["all"], found["bare"]) == (12, "")
    assert (found["first"], found["up"]) == ("0", "ascending")
    assert (found["last"], found["down"]) == ("11", "descending")
    assert found["sorted"] == "#sort=-claim"
    assert (found["book"], found["none"]) == ([str(i) for i in range(12)], "none")
    assert (found["anchor"], found["kept"]) == (12, "#claim-kk24-made-4")
    assert found["followed"] == ["3"]


@needs_chromium
def test_an_address_shows_what_it_says(tmp_path):
    ask = "found.shown = shown(); found.text = form.elements.text.value; found.paper = form.elements.paper.value;"
    found = found_in_chromium(tmp_path, made(12), ask, "text=ece&paper=m20&verdict=NO+SUCH&sort=-claim")
    assert found == {"shown": ["11", "9", "7", "5", "3", "1"], "text": "ece", "paper": "m20"}


@needs_chromium
@pytest.mark.slow
def test_a_thousand_claims_are_searched(tmp_path):
    """How fast: benchmarks/ledger_page.py."""
    ask = 'ask("text", "prop 77"); found.some = shown(); ask("text", ""); found.all = shown().length;'
    found = found_in_chromium(tmp_path, made(1000), ask)
    assert found == {"some": ["77"], "all": 1000}


def test_every_claim_is_a_row_in_full_sentences():
    claims = made(4)
    rows = re.findall(r"<tr data-verdict.*?</tr>", overview(claims).data)
    assert len(rows) == 4
    assert 'data-whose="paper|quoted"' in rows[1]
    assert '<span class="math inline">\\(\\gamma = 1\\)</span> the ECE is lower.' in rows[1]
    assert "taken" not in rows[1]


def test_short_statements_are_whole_sentences_with_whole_formulas():
    assert short_statement("See App. A and Eq. (3) of $a. B$. Then more.") == "See App. A and Eq. (3) of $a. B$."
    for claim in ledger():
        short = short_statement(claim.statement)
        assert 20 < len(short) < 350, (claim.id, short)
        assert short.count("$") % 2 == 0, (claim.id, short)
        assert short[-1] in ".…'", (claim.id, short)


def test_links_from_the_ledger_lead_to_verdicts_that_chapters_show():
    shown = places(ROOT)
    for claim in ledger():
        anchor = re.search(rf'"{claim.chapter}\.html#([\w-]+)"', chapter_link(claim))[1]
        anchors = {verdict_anchor(id) for chapter, id in shown if chapter == claim.chapter}
        assert anchor in anchors | {"verdict"}, claim.id
        if (claim.chapter, claim.id) in shown:
            assert anchor == verdict_anchor(claim.id)
    assert f'id="{verdict_anchor("kk24.prop5")}"' in find("kk24.prop5")._repr_markdown_()


def test_a_verdict_is_shown_once_in_its_own_chapter():
    ids = []
    for path in sorted((ROOT / "notebooks").glob("*.py")):
        for call in re.findall(r"^show\((.*?)\)$", path.read_text(), re.S | re.M):
            here = call.split('"')[1::2]
            assert {find(id).chapter for id in here} == {path.stem}
            ids += here
    assert len(ids) == len(set(ids)) > 250


def test_a_correction_of_a_correction_is_on_the_page():
    """After what it corrects, and beside it."""
    corrected = {3: 1, 2: 3, 4: 1, 5: 2}  # by number: what it corrects
    claims = made(6)
    claims = [replace(c, corrects=(claims[corrected[i]].id,)) if i in corrected else c for i, c in enumerate(claims)]
    in_order = [claims[i].id for i in (0, 1, 3, 2, 5, 4)]
    assert [claim.id for claim in together(claims)] == in_order
    text = detail(claims).data
    assert re.findall(r"</a>\*\*([\w.]+)\*\*<br />", text) == in_order
    assert text.split('<div class="claim-group">')[1].count('<div class="claim-card">') == 5
    assert {claim.id for claim in together(ledger())} == {claim.id for claim in ledger()}


def test_the_ledger_is_gone_through_once_for_all_cards(monkeypatch):
    calls = []
    monkeypatch.setattr(page, "ledger", lambda: calls.append(1) or ledger())
    detail(made(5))
    assert len(calls) == 1


def test_ids_in_a_card_lead_to_cards():
    (block,) = [detail([find("kk24.prop5")]).data]
    linked = re.findall(r'href="#(claim-[\w-]+)"', block)
    assert len(linked) >= 4
    assert set(linked) <= {card_anchor(claim.id) for claim in ledger()}
