"""The ledger as a page: counts, and a card for each claim, which opens on what its verdict rests on.

book/_static/ledger.js brings the menus and the search to life; without it every card is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from html import escape

from IPython.display import Markdown
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from reproduction.checkout import ROOT
from reproduction.ledger.display import badge
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PAPERS, Claim, Fidelity, corrected_by, ledger
from reproduction.ledger.links import card_anchor, link_ids, places, verdict_anchor
from reproduction.ledger.quoted_lines import say_lines
from reproduction.ledger.tally import tally_table
from reproduction.ledger.verdicts import records
from reproduction.pages.blocks import fold
from reproduction.pages.references import author_names

_INLINE = MarkdownIt("commonmark").use(
    dollarmath_plugin, renderer=lambda tex, _: "\\(" + escape(tex, quote=False) + "\\)"
)
_LONG = 600  # letters of evidence: more is folded once again
REFERENCES = ROOT / "book" / "references.bib"


def code_link(claim: Claim) -> str:
    """Link to the check's source in the book, relative to a page in notebooks/."""
    path = claim.location.rsplit(":", 1)[0].removesuffix(".py")
    anchor = f"#{claim.function}" * bool(claim.function)
    return f'<a href="../_modules/{path}.html{anchor}">{claim.location.rsplit("/", 1)[1]}</a>'


def chapter_link(claim: Claim) -> str:
    """Link to where the chapter shows this verdict, or a nearby one; else to the chapter.

    Nearby is a claim that this one corrects, or one that corrects it.
    """
    shown = places(ROOT)
    near = [claim.id, *claim.corrects, *corrected_by(claim.id)]
    id = next((id for id in near if (claim.chapter, id) in shown), "")
    place, heading = (f"#{verdict_anchor(id)}", f", {shown[claim.chapter, id]}") if id else ("", "")
    return f'<a href="{claim.chapter}.html{place}">{claim.place}{heading}</a>'


def together(claims: Sequence[Claim]) -> list[Claim]:
    """Order of the book, but each correction after the (first) claim it corrects, and so on what corrects that."""
    known = {claim.id for claim in claims}
    corrections: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.corrects:
            corrections.setdefault(claim.corrects[0], []).append(claim)

    def with_corrections(claim: Claim) -> list[Claim]:
        return [claim, *(part for own in corrections.get(claim.id, []) for part in with_corrections(own))]

    first = [claim for claim in claims if not claim.corrects or claim.corrects[0] not in known]
    return [part for claim in first for part in with_corrections(claim)]


def count_table(claims: Sequence[Claim]) -> Markdown:
    """How many claims have each verdict, by paper."""
    papers = [paper for paper in PAPERS if any(claim.paper == paper for claim in claims)]
    counts = Counter((claim.verdict, claim.paper) for claim in claims)
    head = (
        "| verdict | " + " | ".join(PAPERS[p] for p in papers) + " | all |\n|---" + "|---:" * (len(papers) + 1) + "|\n"
    )
    rows = ""
    for verdict in Verdict:
        numbers = [counts[verdict, paper] for paper in papers]
        if any(numbers):
            rows += f"| {verdict} | " + " | ".join(map(str, numbers)) + f" | {sum(numbers)} |\n"
    totals = [sum(claim.paper == paper for claim in claims) for paper in papers]
    return Markdown(head + rows + "| **all** | " + " | ".join(f"**{n}**" for n in totals) + f" | **{len(claims)}** |\n")


def weights(claims: Sequence[Claim]) -> Markdown:
    """What the papers claim, by what the verdict rests on; how much this book adds."""
    return Markdown(tally_table(claims, {claim.id: claim.verdict for claim in claims}))


def cards(claims: Sequence[Claim]) -> Markdown:
    """Search and menus, then a card for each claim, each correction after what it corrects."""
    known, on_record = {claim.id for claim in ledger()}, records()
    made = [
        _card(claim, known, on_record[claim.id].verdict if claim.id in on_record else "") for claim in together(claims)
    ]
    script = '<script src="../_static/ledger.js"></script>'
    return Markdown("\n\n".join([_form(claims), '<div class="ledger">', *made, "</div>", script]))


def _card(claim: Claim, known: Set[str], on_record: str) -> str:
    """The card of a claim; ids that are known lead to theirs. Its first line is what a chapter's chip says."""
    verdict, number = str(claim.verdict), _INLINE.renderInline(claim.number)
    differs = f" <small>on record: {on_record}</small>" if on_record not in ("", claim.without_kernel) else ""
    kinds = f"paper|{claim.fidelity}" if claim.of_paper else str(claim.fidelity)
    said = f'<div class="claim-statement">\n\n{claim.statement}\n\n{_whence(claim)}\n\n</div>\n\n{_body(claim)}'
    return (
        f'<details class="claim" id="{card_anchor(claim.id)}" data-verdict="{verdict}" data-paper="{claim.paper}" '
        f'data-chapter="{claim.chapter}" data-whose="{kinds}">\n'
        f"<summary>{badge(verdict)} <b>{escape(claim.short)}</b>{differs}"
        f"{f' <span>{number}</span>' * bool(number)} <code>{claim.id}</code></summary>\n\n"
        f"{link_ids(said, '', known - {claim.id})}\n\n</details>"  # whose card it is
    )


def _whence(claim: Claim) -> str:
    """Where the statement stands, and what it corrects."""
    said = "; ".join(filter(None, (claim.source, str(claim.fidelity), say_lines(claim.id))))
    return f"*{said}.*" + (f" Corrects {', '.join(f'`{id}`' for id in claim.corrects)}." if claim.corrects else "")


def _body(claim: Claim) -> str:
    """What a card says below the statement."""
    evidence = claim.evidence.describe()
    shown = fold("Evidence", evidence) if len(evidence) > _LONG else f"**Evidence.** {evidence}"
    if evidence.startswith(("1. ", "* ")) and len(evidence) <= _LONG:  # a list begins a line of its own
        shown = f"**Evidence**\n\n{evidence}"
    parts = (
        f"**{claim.verdict_in_full}**: {claim.conclude()}.",
        f"**What would change this**: {claim.would_change()}.",
        evidence and shown,
        claim.coq(),
        f"{chapter_link(claim)}; code: {code_link(claim)}",
    )
    return "\n\n".join(filter(None, parts))


def _form(claims: Sequence[Claim]) -> str:
    """Hidden until the script shows it."""
    papers, chapters = (Counter(getattr(claim, name) for claim in claims) for name in ("paper", "chapter"))
    verdicts = Counter(claim.verdict for claim in claims)
    kinds = Counter(claim.fidelity for claim in claims)
    of_papers = [kind for kind in Fidelity if kind != Fidelity.OURS]
    places_ = {claim.chapter: claim.place for claim in claims}
    menus = {
        "paper": {
            paper: (f"{name}: {', '.join(author_names(REFERENCES, paper))}".removesuffix(": "), papers[paper])
            for paper, name in PAPERS.items()
        },
        "verdict": {str(v): (str(v), verdicts[v]) for v in Verdict},
        "chapter": {stem: (places_[stem], chapters[stem]) for stem in sorted(chapters)},
        "whose": {
            "paper": ("the papers'", sum(kinds[kind] for kind in of_papers)),
            **{str(kind): (f"the papers', {kind}", kinds[kind]) for kind in of_papers},
            str(Fidelity.OURS): ("this book's", kinds[Fidelity.OURS]),
        },
    }
    return (
        '<form class="ledger-filter" role="search" aria-label="Claims" hidden>'
        '<label>search <input type="search" name="text" placeholder="Prop. 5, Mukhoti, temperature ECE" size="26" '
        'autocomplete="off">'
        f"</label>{''.join(_menu(name, entries) for name, entries in menus.items())}"
        f'<button type="reset">show all</button><output>{len(claims)} of {len(claims)} claims</output></form>'
    )


def _menu(name: str, entries: Mapping[str, tuple[str, int]]) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(text)} ({count})</option>'
        for value, (text, count) in entries.items()
        if count
    )
    return f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'
