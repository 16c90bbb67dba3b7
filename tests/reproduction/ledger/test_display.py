"""What a page shows: steps as lists, also inside cards and folds."""

import re

import pytest
from markdown_it import MarkdownIt

from reproduction.ledger import Derivation, display, find, ledger, page, proof, recall, show, show_rest
from reproduction.ledger.links import card_anchor, link_ids
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


@pytest.fixture
def no_chapter_has_it(monkeypatch):
    """As in an installed package."""
    monkeypatch.setattr(page, "places", lambda root: {})


def test_a_card_keeps_the_lines_of_a_list_apart(no_chapter_has_it):
    block = page.detail([find("m20.prop2_equality")]).data
    evidence = block.split("{dropdown} Evidence\n")[1].split("\n```")[0]
    assert len(items(evidence)) == len(re.findall("[✓✗]", evidence)) > 5


def shown_html(markdown):
    """As the book's parser shows it."""
    from docutils.core import publish_parts
    from myst_parser.parsers.docutils_ import Parser

    settings = {"myst_enable_extensions": ["dollarmath"], "report_level": 2, "halt_level": 2, "raw_enabled": True}
    return publish_parts(markdown, parser=Parser(), writer_name="html5", settings_overrides=settings)["body"]


@pytest.mark.parametrize("id", ["kk24.prop5", "kk24.prop1", *CONDITIONAL])
def test_two_lines_say_what_holds_and_the_proof_is_folded_below_them(id):
    claim = find(id)
    shown = shown_html(claim._repr_markdown_())
    above, folded = shown.split("<details>")
    lines = re.search(
        r"<p><strong>(.*?)</strong>: (.*)<br />\s*<em>What would change the verdict</em>: (.*)</p>", above
    )
    assert lines[1] == claim.verdict_in_full
    assert "✓" not in above
    assert folded.count("✓") == claim.evidence.describe().count("✓")
    assert folded.strip().endswith("</details>")


def test_a_card_says_the_same_two_lines_above_its_fold(no_chapter_has_it):
    block = page.detail([find("kk24.prop5")]).data
    above, below = block.split("```{dropdown} Evidence")
    assert link_ids(find("kk24.prop5").summary(), "", {claim.id for claim in ledger()}) in above
    assert find("kk24.prop5").evidence.describe() in below


def test_a_card_leads_to_the_evidence_that_its_chapter_has():
    block = page.detail([find("kk24.prop5")]).data
    assert link_ids(find("kk24.prop5").summary(), "", {claim.id for claim in ledger()}) in block
    assert find("kk24.prop5").evidence.describe() not in block
    assert 'Evidence: <a href="06_confidence.html#verdict-kk24-prop5">' in block


def test_a_card_stands_alone_but_beside_its_correction():
    alone, both = (page.detail([find(id) for id in ids]).data for ids in (["kk24.prop5"], ["l25.a3", "l25.bias"]))
    assert alone.startswith('<div class="claim-card">')
    assert both.startswith('<div class="claim-group">')
    assert both.count('<div class="claim-card">') == 2


def test_measurements_of_one_claim_are_a_list():
    text = find("kk24.fig3_tighter").evidence.describe()
    assert len(items(text)) == 2


def test_show_and_proof_are_markdown():
    assert show("kk24.prop5")._repr_markdown_().startswith('<span id="verdict-kk24-prop5"></span>')
    steps = find("kk24.prop1").evidence.steps
    assert proof(steps)._repr_markdown_() == proof(Derivation(steps))._repr_markdown_()
    assert proof(steps)._repr_markdown_().startswith("**PROVED**\n\n1. ✓")
    with pytest.raises(ValueError, match=r"claim id must be a known one"):
        show("kk24.prop1", "kk24.no")


def test_what_is_recalled_is_a_line_that_leads_to_the_card():
    first, second = recall("kk24.prop1", "kk24.prop5")._repr_markdown_().split("\n")
    assert first.startswith("* **")
    assert f'href="ledger.html#{card_anchor("kk24.prop1")}"' in first
    assert find("kk24.prop5").verdict_in_full in second
    assert "```" not in first + second


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
    shown = [show("kk24.prop1", "kk24.prop5"), proof(turning_certificate())]
    for one in shown:
        assert repr(one) == one._repr_markdown_()
        assert " at 0x" not in repr(one)
        assert len(repr(one)) < 20_000


def test_the_rest_is_what_the_chapter_has_not_shown(monkeypatch):
    own = [claim.id for claim in ledger() if claim.chapter == "02_convexity"]
    monkeypatch.setattr(display, "_shown", set())
    show(*own[:-1])
    left = show_rest("02_convexity")
    assert left.data.startswith("```{dropdown} 1 more of this chapter's claims\n* **")
    assert f"<code>{own[-1]}</code>" in left.data
    assert show_rest("02_convexity")._repr_markdown_() == ""
    with pytest.raises(ValueError, match=r"must be one that has claims: 01_overconfidence, .* Got 2_convexity"):
        show_rest("2_convexity")


def test_a_page_that_is_no_chapter_is_named():
    assert [find(id).place for id in ("kk24.prop5", "kk24.architectures_ece")] == ["Chapter 6", "Open questions"]
