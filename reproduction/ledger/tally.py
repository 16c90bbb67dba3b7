"""The verdicts counted by what they rest on; with the best-known claims they are the README's table.

That a claim holds is never one number: a proof, a count of printed cells and a toy network are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from reproduction.ledger.formal import say_checked
from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import Claim, ledger
from reproduction.ledger.weight import Weight, weigh
from reproduction.pages.blocks import replace_block

START, END = "<!-- verdicts: focal claims --record -->", "<!-- end -->"
HEADLINES = "The best-known claims of the papers; what is measured is of recorded runs:"

GROUPS = {  # words for a tally -> verdicts; what is not checkable has a row of its own
    "hold": HOLDS,
    "hold under a condition": (Verdict.CONDITIONAL,),
    "refuted or not reproduced": (Verdict.REFUTED, Verdict.NOT_REPRODUCED, Verdict.NOT_CONFIRMED),
    "undecided": (Verdict.UNDECIDED,),
    "out of regime": (Verdict.OUT_OF_REGIME,),
}


def tally(claims: Sequence[Claim], verdicts: Mapping[str, str]) -> dict[Weight, dict[str, int]]:
    """For each weight, in its order: how many of the claims are there, 'statements', and how many of each group.

    Args:
        claims: of the ledger.
        verdicts: claim id -> verdict.

    Raises:
        ValueError: a verdict of no group, such as a failed check.
    """
    group = {str(verdict): name for name, found in GROUPS.items() for verdict in found}
    group[str(Verdict.UNCHECKABLE)] = ""
    if unknown := sorted({str(verdicts[claim.id]) for claim in claims} - set(group)):
        raise ValueError(f"verdicts must be one of {', '.join(filter(None, group))}. Got {', '.join(unknown)}.")
    weights = Counter(weigh(claim, verdicts[claim.id]) for claim in claims)
    both = Counter((weigh(claim, verdicts[claim.id]), group[verdicts[claim.id]]) for claim in claims)
    return {
        weight: {"statements": weights[weight]} | {name: both[weight, name] for name in GROUPS} for weight in Weight
    }


def tally_table(claims: Sequence[Claim], verdicts: Mapping[str, str]) -> str:
    """The papers' claims by what their verdicts rest on, a table in Markdown; a line on those of this book."""
    names = ("statements", *GROUPS)
    lines = [f"| what the papers claim, by what the verdict rests on | {' | '.join(names)} |"]
    lines += [f"|---{'|---:' * len(names)}|"]
    for weight, counts in tally([claim for claim in claims if claim.of_paper], verdicts).items():
        judged = counts["statements"] and weight != Weight.NOTHING
        cells = [str(counts[name]) if judged or name == "statements" else "" for name in names]
        lines.append(f"| {weight} | {' | '.join(cells)} |")
    ours = {w: counts["statements"] for w, counts in tally([c for c in claims if not c.of_paper], verdicts).items()}
    kinds = "; ".join(f"{weight.short}, {number}" for weight, number in ours.items() if number)
    said = f"This book adds {sum(ours.values())} statements, corrections among them, which never count as reproductions"
    formal = sum(verdicts[claim.id] == Verdict.FORMALLY_PROVED for claim in claims)
    coq = f"{formal} verdicts are FORMALLY PROVED, {say_checked()}."
    return "\n".join([*lines, "", f"{said}: {kinds}. {coq}"])


def readme_table(verdicts: Mapping[str, str], instead: Mapping[str, str]) -> str:
    """The tally, then the best-known claims: source, words, page, verdict, what holds instead.

    Args:
        verdicts: claim id -> verdict.
        instead: claim id -> what holds instead, where something does.
    """
    lines = [tally_table(ledger(), verdicts), "", HEADLINES, ""]
    lines += ["| claim | says | page | verdict | instead |", "|---|---|---|---|---|"]
    for claim in ledger():
        if claim.in_readme:
            name = claim.source.split(",")[0]
            chapter = f"[{claim.place.lower()}](notebooks/{claim.chapter}.py)"
            cells = (name, claim.short, chapter, f"**{verdicts[claim.id]}**", instead.get(claim.id, ""))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_table(text: str, block: str) -> str:
    """A README's text with the table between its marks replaced.

    Raises:
        ValueError: the text has no such marks.
    """
    return replace_block(text, START, END, block)


def rewrite_readme(text: str, verdicts: Mapping[str, str], instead: Mapping[str, str]) -> str:
    """A README's text with the table of these verdicts, see `readme_table`.

    Raises:
        ValueError: the text has no such marks, or a check failed.
    """
    return with_table(text, readme_table(verdicts, instead))
