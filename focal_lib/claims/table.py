"""The ledger as MyST markdown: counts, an overview table, the evidence of each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from IPython.display import Markdown

from focal_lib.claims.evidence import Verdict
from focal_lib.claims.ledger import Claim

__all__ = ["code_link", "count_table", "detail", "overview", "together"]


def _anchor(id: str) -> str:
    return "claim-" + id.replace(".", "-").replace("_", "-")


def code_link(claim: Claim) -> str:
    """Link to the check's source in the book, relative to a page in notebooks/."""
    path, line = claim.location.rsplit(":", 1)
    name = claim.check.__name__
    return f'<a href="../_modules/{path.removesuffix(".py")}.html#{name}">{path.rsplit("/", 1)[1]}:{line}</a>'


def together(claims: Sequence[Claim]) -> list[Claim]:
    """Order of the paper, but each correction right after the claim it corrects."""
    corrections: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.corrects:
            corrections.setdefault(claim.corrects, []).append(claim)
    known = {claim.id for claim in claims}
    ordered = []
    for claim in claims:
        if not claim.corrects or claim.corrects not in known:
            ordered += [claim, *corrections.get(claim.id, [])]
    return ordered


def count_table(claims: Sequence[Claim]) -> Markdown:
    """How many claims have each verdict."""
    counts = Counter(claim.verdict for claim in claims)
    rows = "".join(f"| {verdict} | {counts[verdict]} |\n" for verdict in Verdict if counts[verdict])
    return Markdown(f"| verdict | claims |\n|---|---:|\n{rows}| **all** | **{len(claims)}** |\n")


def overview(claims: Sequence[Claim]) -> Markdown:
    """One row a claim: verdict, claim, source, chapter, code."""
    rows = [
        f"* - <span class='verdict'>{claim.verdict}</span>\n"
        f"  - {'↳ ' if claim.corrects else ''}"
        f"<a href='#{_anchor(claim.id)}'>{claim.id.split('.', 1)[1]}</a>\n"
        f"  - {claim.source}\n"
        f"  - <a href='{claim.chapter}.html'>{int(claim.chapter.split('_')[0])}</a>\n"
        f"  - {code_link(claim)}\n"
        for claim in together(claims)
    ]
    head = "* - verdict\n  - claim\n  - source\n  - ch.\n  - code\n"
    return Markdown(
        ":::{list-table}\n:header-rows: 1\n:class: ledger\n:widths: auto\n\n" + head + "".join(rows) + ":::\n"
    )


def detail(claims: Sequence[Claim]) -> Markdown:
    """Statement and evidence of each claim, under an anchor of its own."""
    return Markdown("\n\n---\n\n".join(_section(claim) for claim in together(claims)))


def _section(claim: Claim) -> str:
    corrected = f" Corrects <a href='#{_anchor(claim.corrects)}'>{claim.corrects}</a>." if claim.corrects else ""
    return (
        f"<a id='{_anchor(claim.id)}'></a>\n\n"
        f"**{claim.id}** — {claim.source}. <span class='verdict'>{claim.verdict}</span>.{corrected}\n\n"
        f"{claim.statement}\n\n{claim.evidence.describe()}\n\n"
        f"<a href='{claim.chapter}.html'>Chapter</a>, {code_link(claim)}"
    )
