"""The ledger's page: its cards, and the script that searches and filters them, in node and in Chromium."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import find, ledger, page, show
from reproduction.ledger.links import card_anchor, places, verdict_anchor
from reproduction.ledger.page import cards, chapter_link, together
from tests.book.in_node import check_in_node, needs_node, plant
from tests.book.made_ledger import SCRIPT, found_in_chromium, made
from workflow.chromium import find_chromium

CHECK = Path(__file__).with_name("ledger.test.js")

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="chromium is not installed")


@needs_node
def test_the_script_finds_and_keeps_what_is_asked():
    check_in_node(CHECK, SCRIPT)


@needs_node
@pytest.mark.parametrize(
    ("before", "after", "noticed"),
    [
        ('"(?!\\\\d)"', '""', "search"),
        ('γ: "gamma"', 'γ: "x"', "search"),
        ("menus.every", "menus.some", "menus"),
        ("known.length ? ", "known.length >= 0 ? ", "the address"),
    ],
)
def test_a_planted_fault_is_noticed(tmp_path, before, after, noticed):
    said = plant(tmp_path, CHECK, SCRIPT, before, after)
    assert re.search(rf"^not ok \d+ - {noticed}", said, re.M), said


@needs_chromium
def test_a_reader_searches_and_filters(tmp_path):
    found = found_in_chromium(
        tmp_path,
        made(12),
        """
        found.said = form.querySelector("output").textContent;
        found.visible = !form.hidden;
        ask("verdict", "REFUTED"); found.refuted = shown(); found.address = location.search;
        found.count = form.querySelector("output").textContent;
        ask("text", "Prop. 9"); found.both = shown();
        form.reset(); found.all = shown().length; found.bare = location.search;
        ask("chapter", "binary"); found.chapter = shown();
        form.reset(); ask("text", "number 7 lowers"); found.words = shown();
        ask("text", "golodetz"); found.author = shown();
        ask("whose", "paper"); location.hash = "#claim-kk24-made-4"; await later();
        found.anchor = shown().length; found.open = every.filter((one) => one.open).map((one) => one.id);
        found.set = window.set;
        location.hash = "#paper=m20&text=made_3"; await later(); found.followed = shown();
        """,
    )
    assert found["visible"]
    assert found["said"] == "12 of 12 claims"
    assert found["refuted"] == ["0", "3", "6", "9"]
    assert found["count"] == "4 of 12 claims"
    assert found["address"] == "?verdict=REFUTED"
    assert found["both"] == ["9"]
    assert (found["all"], found["bare"]) == (12, "")
    assert found["chapter"] == ["6", "7", "8", "9", "10", "11"]
    assert found["words"] == ["7"]
    assert found["author"] == ["1", "3", "5", "7", "9", "11"]
    assert (found["anchor"], found["open"]) == (12, ["claim-kk24-made-4"])
    assert found["set"] == [0, "claim-kk24-made-4"], "formulas of a card are set when it opens"
    assert found["followed"] == ["3"]


@needs_chromium
@pytest.mark.parametrize("sign", ["?", "#"])
def test_an_address_shows_what_it_says(tmp_path, sign):
    ask = "found.shown = shown(); found.text = form.elements.text.value; found.paper = form.elements.paper.value;"
    found = found_in_chromium(tmp_path, made(12), ask, f"{sign}text=ece&paper=m20&verdict=NO+SUCH")
    assert found == {"shown": ["1", "3", "5", "7", "9", "11"], "text": "ece", "paper": "m20"}


@needs_chromium
@pytest.mark.slow
def test_a_thousand_claims_are_searched(tmp_path):
    """How fast: benchmarks/ledger_page.py."""
    ask = 'ask("text", "prop 77"); found.some = shown(); ask("text", ""); found.all = shown().length;'
    found = found_in_chromium(tmp_path, made(1000), ask)
    assert found == {"some": ["77"], "all": 1000}


def test_every_claim_is_a_card():
    shown = re.findall(r"<details class=.claim..*?</summary>", cards(made(4)).data, re.S)
    assert len(shown) == 4
    assert 'data-whose="paper|quoted"' in shown[1]
    assert "<b>Number 1 lowers the gap</b>" in shown[1]
    assert 'data-chapter="confidence"' in shown[1]


def test_links_from_the_ledger_lead_to_verdicts_that_chapters_show():
    shown = places(ROOT)
    for claim in ledger():
        anchor = re.search(rf'"{claim.chapter}\.html(?:#([\w-]+))?"', chapter_link(claim))[1]
        anchors = {verdict_anchor(id) for chapter, id in shown if chapter == claim.chapter}
        assert anchor in anchors | {None}, claim.id
        if (claim.chapter, claim.id) in shown:
            assert anchor == verdict_anchor(claim.id)
    assert f'id="{verdict_anchor("kk24.prop5")}"' in show("kk24.prop5")._repr_html_()


def test_a_verdict_is_shown_once_on_a_page():
    for path in sorted((ROOT / "notebooks").glob("*.py")):
        ids = [
            id for call in re.findall(r"^show\((.*?)\)$", path.read_text(), re.S | re.M) for id in call.split('"')[1::2]
        ]
        assert len(ids) == len(set(ids)), path.stem


def test_a_correction_of_a_correction_is_on_the_page():
    """After what it corrects."""
    corrected = {3: 1, 2: 3, 4: 1, 5: 2}  # by number: what it corrects
    claims = made(6)
    claims = [replace(c, corrects=(claims[corrected[i]].id,)) if i in corrected else c for i, c in enumerate(claims)]
    in_order = [claims[i].id for i in (0, 1, 3, 2, 5, 4)]
    assert [claim.id for claim in together(claims)] == in_order
    text = cards(claims).data
    assert re.findall(r"<code>([\w.]+)</code></summary>", text) == in_order
    assert {claim.id for claim in together(ledger())} == {claim.id for claim in ledger()}


def test_the_ledger_is_gone_through_once_for_all_cards(monkeypatch):
    calls = []
    monkeypatch.setattr(page, "ledger", lambda: calls.append(1) or ledger())
    cards(made(5))
    assert len(calls) == 1


def test_ids_in_a_card_lead_to_cards():
    (block,) = [cards([find("kk24.prop5")]).data]
    linked = re.findall(r'href="#(claim-[\w-]+)"', block)
    assert len(linked) >= 4
    assert set(linked) <= {card_anchor(claim.id) for claim in ledger()}
