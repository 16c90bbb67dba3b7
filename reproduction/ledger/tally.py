"""Two tallies: what the papers claim, and what this book adds; with the best-known claims they are the README's table.

A correction counts in the second alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import Claim, ledger
from reproduction.pages.blocks import replace_block

START, END = "<!-- verdicts: focal claims --record -->", "<!-- end -->"
HEADLINES = (
    "A correction is never counted as a reproduction; a sentence that is checked against its paper's table and "
    "against our runs counts twice. Networks are measured on recorded runs. The best-known claims of the papers:"
)

GROUPS = {  # words for a tally -> verdicts
    "hold": HOLDS,
    "hold under a condition": (Verdict.CONDITIONAL,),
    "refuted or not reproduced": (Verdict.REFUTED, Verdict.NOT_REPRODUCED, Verdict.NOT_CONFIRMED),
    "undecided": (Verdict.UNDECIDED,),
    "out of regime": (Verdict.OUT_OF_REGIME,),
    "not checkable here": (Verdict.UNCHECKABLE,),
}


def tally(verdicts: Sequence[str]) -> dict[str, int]:
    """How many verdicts are of each group, in its order.

    Raises:
        ValueError: a verdict of no group, such as a failed check.
    """
    group = {str(verdict): name for name, found in GROUPS.items() for verdict in found}
    if unknown := sorted({str(verdict) for verdict in verdicts} - set(group)):
        raise ValueError(f"verdicts must be one of {', '.join(group)}. Got {', '.join(unknown)}.")
    counts = Counter(group[str(verdict)] for verdict in verdicts)
    return {name: counts[name] for name in GROUPS}


def tallies(claims: Sequence[Claim], verdicts: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """'the papers claim' and 'this book adds', each a tally.

    Args:
        claims: of the ledger.
        verdicts: claim id -> verdict.
    """
    papers, ours = ([c for c in claims if c.of_paper is which] for which in (True, False))
    return {
        "the papers claim": tally([verdicts[c.id] for c in papers]),
        "this book adds": tally([verdicts[c.id] for c in ours]),
    }


def tally_table(counted: Mapping[str, Mapping[str, int]]) -> str:
    """The tallies as a table in Markdown."""
    lines = [f"| | statements | {' | '.join(GROUPS)} |", f"|---|---:{'|---:' * len(GROUPS)}|"]
    for name, counts in counted.items():
        lines.append(f"| {name} | {sum(counts.values())} | {' | '.join(str(counts[group]) for group in GROUPS)} |")
    return "\n".join(lines)


def say_without_coq(count: int) -> str:
    """How many verdicts rest on less than they could, in a sentence; '' for none.

    Args:
        count: of the claims that Coq's kernel would settle, and has not checked on this machine.
    """
    if not count:
        return ""
    one = count == 1
    return (
        f"{count} verdict{' has a formal proof' if one else 's have formal proofs'} in Coq, too; Coq was not run when "
        f"these pages were made, and here {'it rests' if one else 'they rest'} on sympy and ball arithmetic."
    )


def readme_table(verdicts: Mapping[str, str], instead: Mapping[str, str]) -> str:
    """The two tallies, then the best-known claims: source, words, chapter, verdict, what holds instead.

    Args:
        verdicts: claim id -> verdict.
        instead: claim id -> what holds instead, where something does.
    """
    lines = [tally_table(tallies(ledger(), verdicts)), "", HEADLINES, ""]
    lines += ["| claim | says | chapter | verdict | instead |", "|---|---|---|---|---|"]
    for claim in ledger():
        if claim.in_readme:
            name = claim.source.split(",")[0]
            chapter = f"[{claim.chapter_number or claim.place.lower()}](notebooks/{claim.chapter}.py)"
            cells = (name, claim.short, chapter, f"**{verdicts[claim.id]}**", instead.get(claim.id, ""))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_table(text: str, block: str) -> str:
    """A README's text with the table between its marks replaced.

    Raises:
        ValueError: the text has no such marks.
    """
    return replace_block(text, START, END, block)
