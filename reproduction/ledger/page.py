"""The ledger as a page: counts, and cards, a claim as printed and what corrects it side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set

from IPython.display import Markdown

from reproduction.checkout import ROOT
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PAPERS, Claim, corrected_by, ledger
from reproduction.ledger.links import card_anchor, link_ids, verdict_anchor
from reproduction.ledger.places import places
from reproduction.ledger.quoted_lines import say_lines
from reproduction.ledger.tally import say_without_coq, tallies, tally_table


def code_link(claim: Claim, text: str | None = None) -> str:
    """Link to the check's source in the book, relative to a page in notebooks/."""
    path = claim.location.rsplit(":", 1)[0].removesuffix(".py")
    anchor = f"#{claim.function}" * bool(claim.function)
    return f'<a href="../_modules/{path}.html{anchor}">{text or claim.location.rsplit("/", 1)[1]}</a>'


def chapter_link(claim: Claim, text: str | None = None) -> str:
    """Link to where the chapter shows this verdict, or a nearby one; else to the section of its verdicts.

    Nearby is a claim that this one corrects, or one that corrects it.

    Args:
        text: of the link; else the chapter, or page, and the heading.
    """
    shown = places(ROOT)
    near = [claim.id, *claim.corrects, *corrected_by(claim.id)]
    id = next((id for id in near if (claim.chapter, id) in shown), "")
    place, heading = (verdict_anchor(id), shown[claim.chapter, id]) if id else ("verdict", "Verdict")
    return f'<a href="{claim.chapter}.html#{place}">{text or f"{claim.place}, {heading}"}</a>'


def together(claims: Sequence[Claim]) -> list[Claim]:
    """Order of the book, but each correction after the (first) claim it corrects, and so on what corrects that."""
    return [claim for group in _groups(claims) for claim in group]


def _groups(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Each claim that corrects none of the others, with its corrections, each followed by what corrects it."""
    known = {claim.id for claim in claims}
    corrections: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.corrects:
            corrections.setdefault(claim.corrects[0], []).append(claim)

    def with_corrections(claim: Claim) -> list[Claim]:
        return [claim, *(part for own in corrections.get(claim.id, []) for part in with_corrections(own))]

    return [with_corrections(claim) for claim in claims if not claim.corrects or claim.corrects[0] not in known]


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


def both_tallies(claims: Sequence[Claim]) -> Markdown:
    """What the papers claim and what this book adds: how many of each hold."""
    return Markdown(tally_table(tallies(claims, {claim.id: claim.verdict for claim in claims})))


def without_coq(claims: Sequence[Claim]) -> str:
    """How many verdicts lack the word of Coq's kernel on this machine, in a sentence; '' for none."""
    return say_without_coq(sum(claim.awaits_kernel for claim in claims))


def detail(claims: Sequence[Claim]) -> Markdown:
    """A card for each claim: statement, verdict, a link to its evidence, which is folded in where no chapter has it.

    A claim and its corrections, and theirs, stand side by side.
    """
    known = {claim.id for claim in ledger()}
    blocks = []
    for group in _groups(claims):
        cards = "\n\n".join(_card(claim, known) for claim in group)
        if len(group) > 1:
            blocks.append(f'<div class="claim-group">\n\n{cards}\n\n</div>')
        else:
            blocks.append(cards)
    return Markdown("\n\n".join(blocks))


def _card(claim: Claim, known: Set[str]) -> str:
    """The card of a claim; ids that are known lead to theirs.

    Plain HTML around it: a card of sphinx-design takes 200 bytes more, on a page that has hundreds.
    """
    corrected = f" Corrects {', '.join(f'`{id}`' for id in claim.corrects)}." if claim.corrects else ""
    title = f"<a id='{card_anchor(claim.id)}'></a>**{claim.id}**"
    where = f"{chapter_link(claim)}, checked in {claim.seconds:.1f} s"
    in_chapter = (claim.chapter, claim.id) in places(ROOT)
    parts = (
        f"{title}<br />*{'; '.join(filter(None, (claim.source, claim.fidelity, say_lines(claim.id))))}.*{corrected}",
        f'<div class="claim-statement">\n\n{claim.statement}\n\n</div>',
        claim.summary(),
        "" if in_chapter else f"```{{dropdown}} Evidence\n{claim.proof()}\n```",
        f"Evidence: {where}" if in_chapter else where,
    )
    said = link_ids("\n\n".join(filter(None, parts)), "", known - {claim.id})  # whose card it is
    return f'<div class="claim-card">\n\n{said}\n\n</div>'
