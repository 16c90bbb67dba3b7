"""The README's table of claims, made from the ledger: nothing in it is typed."""

from __future__ import annotations

from collections.abc import Mapping

from reproduction.ledger.ledger import ledger
from reproduction.ledger.tally import tallies, tally_table
from reproduction.pages.blocks import replace_block

START, END = "<!-- verdicts: focal claims --record -->", "<!-- end -->"

HEADLINES = (
    "A correction is never counted as a reproduction; a sentence that is checked against its paper's table and "
    "against our runs counts twice. {} of the statements are measured on networks that `make book` trains: another "
    "processor rounds otherwise, and a verdict near its limit can come out as another. The best-known claims of the "
    "papers:"
)


def table(verdicts: Mapping[str, str], instead: Mapping[str, str]) -> str:
    """The two tallies, then a row for each claim with a headline: source, words, chapter, verdict, what holds instead.

    Args:
        verdicts: claim id -> verdict.
        instead: claim id -> what holds instead, where something does.
    """
    trained = sum(claim.needs == "runs" for claim in ledger())
    lines = [tally_table(tallies(ledger(), verdicts)), "", HEADLINES.format(trained), ""]
    lines += ["| claim | says | chapter | verdict | instead |", "|---|---|---|---|---|"]
    for claim in ledger():
        if claim.headline:
            name = claim.source.split(",")[0]
            chapter = f"[{claim.chapter_number or claim.place.lower()}](notebooks/{claim.chapter}.py)"
            cells = (name, claim.headline, chapter, f"**{verdicts[claim.id]}**", instead.get(claim.id, ""))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_table(text: str, block: str) -> str:
    """A README's text with the table between its marks replaced.

    Raises:
        ValueError: the text has no such marks.
    """
    return replace_block(text, START, END, block)
