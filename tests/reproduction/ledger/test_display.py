"""What a page shows: chips, cards, and steps as lists inside them."""

import html
import re
from fractions import Fraction

import flint
import pytest
from markdown_it import MarkdownIt

from focal_lib.metrics.intervals import Interval
from reproduction.checkout import ROOT
from reproduction.ledger import (
    All,
    Claim,
    Counterexample,
    Derivation,
    Measurement,
    Search,
    Verdict,
    claims_of,
    display,
    find,
    page,
    proof,
    show,
    step,
    verdicts,
)
from reproduction.ledger.display import badge
from reproduction.ledger.links import card_anchor, link_ids
from reproduction.ledger.regime import Condition, InRegime
from reproduction.ledger.verdicts import Record
from reproduction.theorems.kk24.prop5 import largest_fall
from reproduction.theorems.lemmas.confidence import drop_of_ties
from reproduction.theorems.lemmas.turning import turning_certificate

CONDITIONAL = ("m20.prop2_equality", "m20.principal_branch", "m20.prop1_iff", "kk24.prop1_negative")


def items(markdown):
    return [t.level for t in MarkdownIt().parse(markdown) if t.type == "list_item_open"]


def paragraphs_outside_lists(markdown):
    depth, found = 0, []
    for token in MarkdownIt().parse(markdown):
        depth += token.type.endswith("list_open") - token.type.endswith("list_close")
        if token.type == "inline" and depth == 0:
            found.append(token.content)
    return found


@pytest.mark.parametrize("id", [*CONDITIONAL, "kk24.prop2", "m20.g_slope_decreasing", "l25.a8_zero"])
def test_each_step_is_an_item_of_a_list(id):
    text = find(id).evidence.describe()
    assert len(items(text)) == len(re.findall("[✓✗]", text)) > 0
    assert not [p for p in paragraphs_outside_lists(text) if "✓" in p]


def test_a_card_keeps_the_lines_of_a_list_apart():
    block = page.cards([find("m20.prop2_equality")]).data
    evidence = block.split("Evidence")[1]
    assert len(items(evidence)) == len(re.findall("[✓✗]", evidence)) > 5


def shown_html(markdown):
    """As the book's parser shows it."""
    from docutils.core import publish_parts
    from myst_parser.parsers.docutils_ import Parser

    settings = {"myst_enable_extensions": ["dollarmath"], "report_level": 2, "halt_level": 2, "raw_enabled": True}
    return publish_parts(markdown, parser=Parser(), writer_name="html5", settings_overrides=settings)["body"]


@pytest.mark.parametrize("id", ["kk24.prop5", "kk24.prop1", *CONDITIONAL])
def test_a_cards_first_line_is_the_chips_and_the_rest_is_folded(id):
    claim = find(id)
    first, rest = shown_html(page.cards([claim]).data).split("</summary>", 1)
    assert f"{badge(str(claim.verdict))} <b>{html.escape(claim.short)}</b>" in first
    assert "✓" not in first
    assert rest.count("✓") == claim.proof().count("✓")
    for part in ("claim-statement", "What would change this", "Evidence", f'href="{claim.chapter}.html'):
        assert part in rest


def test_a_cards_first_line_has_the_number_that_matters_most():
    assert "it falls by up to 1.5 points</span>" in page.cards([find("kk24.prop5")]).data
    assert find("kk24.prop5").number == f"with 100 classes it falls by up to {100 * largest_fall(100):.1f} points"
    assert find("m20.nll_not_convex").number == ""


def test_the_fall_is_not_less_than_the_one_that_ball_arithmetic_proves():
    proved = drop_of_ties(1, ("0.13", 1), (Fraction("0.87") / 99, 99))
    assert 0.015 < largest_fall(100) < 0.016
    assert largest_fall(100) > proved
    assert largest_fall(2) <= 0


@pytest.mark.parametrize(
    ("evidence", "number"),
    [
        (Measurement("rows, of 10", "most", 7.0, holds=True, said="claimed"), "7 of 10, claimed most"),
        (
            Measurement.signed("", "lower", Interval(-0.2, -0.3, -0.1, "t", 0.95, 3), -1),
            "-0.2 [-0.3, -0.1], claimed below 0",
        ),
        (Measurement("T", "2", 2.05, 2.0, 0.1), "2.05, printed 2"),
        (Measurement("T", "2", float("nan"), 2.0, 0.1), ""),
        (Search("[0, 1]", 1000, 0.25), "smallest margin 0.25"),
        (Counterexample("x = 1", flint.arb(0.25)), "violated by 0.25"),
        (Derivation((step("x = x", 1, 1),)), ""),
        (All((Search("", 10, 0.5), Search("", 10, 0.25))), "smallest margin 0.5 (2 of 2 parts)"),
        (
            InRegime((Condition("T", 1.3, (2.0, 3.0), "Table 1"),), Search("", 10, 0.5)),
            "T: 1.3 here, at least 2 and at most 3 by Table 1",
        ),
    ],
)
def test_the_number_of_each_kind_of_evidence(evidence, number):
    assert evidence.number() == number


def test_a_card_says_what_is_on_record_where_that_differs(monkeypatch):
    monkeypatch.setattr(page, "records", lambda: {"kk24.prop5": Record("PROVED")})
    assert "<small>on record: PROVED</small>" in page.cards([find("kk24.prop5")]).data
    monkeypatch.setattr(page, "records", lambda: {"kk24.prop5": Record("REFUTED")})
    assert "on record" not in page.cards([find("kk24.prop5")]).data


def test_measurements_of_one_claim_are_a_list():
    text = find("kk24.fig3_tighter").evidence.describe()
    assert len(items(text)) == 2


def test_a_chip_has_badge_words_what_holds_instead_and_a_link_to_the_card():
    chip = show("kk24.prop5", "kk24.prop1")
    shown = chip._repr_html_()
    assert shown.count("<li id=") == 2
    assert (
        '<li id="verdict-kk24-prop5"><strong class="verdict refuted">REFUTED</strong> <span><a href="ledger.html#'
        in shown
    )
    assert f'#{card_anchor("kk24.prop5")}">The map never lowers the top probability</a>; instead: true for two' in shown
    assert shown.endswith("<small>KK24 Prop. 1</small></span></li>\n</ul></div>")
    assert 'Recorded verdicts (<a href="../book/verdicts.html">what they mean</a>)' in shown
    assert repr(chip).splitlines()[0].startswith("REFUTED: The map never lowers the top probability; instead: true for")
    assert repr(chip).splitlines()[1].endswith("(KK24 Prop. 1, kk24.prop1)")
    with pytest.raises(ValueError, match=r"claim id must be a known one"):
        show("kk24.prop1", "kk24.no")


def test_chips_are_of_the_record_and_no_evidence_is_computed(monkeypatch):
    def computed(_):
        raise AssertionError("a chapter must not compute the evidence of its chips")

    monkeypatch.setattr(Claim, "_checked", property(computed))
    monkeypatch.setattr(display, "_records", lambda: {"kk24.prop5": Record("PROVED", "no use", formal=True)})
    assert repr(show("kk24.prop5")).startswith("FORMALLY PROVED: The map never lowers the top probability (KK24")
    assert repr(show("kk24.prop1")).startswith("NOT ON RECORD: ")


def test_what_does_not_hold_as_it_stands_says_what_holds_instead():
    for id, found in verdicts.records().items():
        if found.verdict in ("REFUTED", "NOT REPRODUCED", "NOT CONFIRMED", "CONDITIONAL"):
            assert 1 <= len(found.instead.split()) <= 16, id
            assert "; instead: " in repr(show(id)), id
        else:
            assert "; instead: " not in repr(show(id)), id


def test_each_verdict_has_a_colour_that_can_be_read_and_that_of_out_of_regime_is_no_others():
    css = (ROOT / "book" / "_static" / "book.css").read_text()
    for dark, ground in (("", "#ffffff"), ('html[data-theme="dark"] ', "#14181e")):
        rules = re.findall(rf"^{re.escape(dark)}strong\.verdict([^{{]*?) \{{\s*--badge: (#\w+)", css, re.M)
        colours = {
            verdict: next(c for names, c in reversed(rules) if not names or re.search(rf"\.{verdict}(?![\w-])", names))
            for verdict in (str(v).lower().replace(" ", "-") for v in Verdict)
        }
        assert min(contrast(colour, ground) for colour in colours.values()) > 4.5
        regime = colours.pop("out-of-regime")
        assert regime not in colours.values()
        assert colours["refuted"] != colours["not-reproduced"] == colours["not-confirmed"] != colours["proved"]
        assert colours["undecided"] not in (colours["proved"], colours["refuted"])


def contrast(one, other):
    """Of two colours, by WCAG."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_chapter_leads_to_its_claims_in_the_ledger():
    line = claims_of("convexity")
    assert line._repr_html_().startswith('<p class="chips-more"><a href="ledger.html?chapter=convexity">All 3 claims')
    assert repr(line) == "All 3 claims of this page, with their evidence: ledger.html?chapter=convexity"
    with pytest.raises(ValueError, match=r"must be one that has claims: binary, .* Got 2_convexity"):
        claims_of("2_convexity")


def test_a_proof_is_markdown():
    steps = find("kk24.prop1").evidence.steps
    assert proof(steps)._repr_markdown_() == proof(Derivation(steps))._repr_markdown_()
    assert proof(steps)._repr_markdown_().startswith("**PROVED**\n\n1. ✓")


def test_an_id_leads_to_its_card_where_there_is_one():
    text = link_ids("`kk24.prop1`, `kk24.none`, `numpy.exp2`, (kk24.prop1.)", "ledger.html", {"kk24.prop1"})
    card = '<a class="claim-id" href="ledger.html#claim-kk24-prop1"><code>kk24.prop1</code></a>'
    assert text == f"{card}, `kk24.none`, `numpy.exp2`, ({card}.)"


@pytest.mark.parametrize(
    "text",
    [
        "`focal claims kk24.prop1`",
        "[kk24.prop1](#here)",
        '<a href="#here">see kk24.prop1</a>',
        "<code>kk24.prop1</code>",
        "focal_lib/kk24.prop1",
        "kk24.prop1_none",
        "kk24.prop1.html",
        "kk24.prop1-none",
        "https://here/#kk24.prop1",
        '<span title="kk24.prop1">',
        "``kk24.prop1``",
        "```bash\nfocal claims kk24.prop1\n```",
    ],
)
def test_an_id_within_something_else_stays_as_it_is(text):
    assert link_ids(text, "ledger.html", {"kk24.prop1"}) == text


def test_an_id_within_a_directive_leads_to_its_card():
    text = "```{dropdown} Evidence\nBy `kk24.prop1`; run `focal claims kk24.prop1`.\n```\n\nAs kk24.prop1 says."
    linked = link_ids(text, "", {"kk24.prop1"})
    assert linked.count('<a class="claim-id"') == 2
    assert "`focal claims kk24.prop1`" in linked
    assert linked.startswith("```{dropdown} Evidence\nBy <a ")


@pytest.mark.slow
def test_what_a_notebook_shows_reads_the_same_without_markdown_and_holds_no_address():
    one = proof(turning_certificate())
    assert repr(one) == one._repr_markdown_()
    assert " at 0x" not in repr(one)
    assert len(repr(one)) < 20_000


def test_a_page_is_named():
    assert [find(id).place for id in ("kk24.prop5", "kk24.architectures_ece")] == ["Confidence", "Open questions"]
