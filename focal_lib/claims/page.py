"""The ledger as a page: counts, an overview to filter, statements and evidence side by side."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence

from IPython.display import HTML, Markdown

from focal_lib.claims.judgement import Verdict
from focal_lib.claims.ledger import PAPERS, Claim, Fidelity
from focal_lib.claims.tally import say_without_coq, tallies, tally_table

__all__ = ["both_tallies", "code_link", "count_table", "detail", "overview", "together", "without_coq"]


def _anchor(id: str) -> str:
    return "claim-" + id.replace(".", "-").replace("_", "-")


def code_link(claim: Claim, text: str | None = None) -> str:
    """Link to the check's source in the book, relative to a page in notebooks/."""
    path = claim.location.rsplit(":", 1)[0].removesuffix(".py")
    return f'<a href="../_modules/{path}.html#{claim.check.__name__}">{text or claim.location.rsplit("/", 1)[1]}</a>'


def together(claims: Sequence[Claim]) -> list[Claim]:
    """Order of the book, but each correction right after the (first) claim it corrects."""
    known = {claim.id for claim in claims}
    corrections = _corrections(claims)
    ordered = []
    for claim in claims:
        if not claim.corrects or claim.corrects[0] not in known:
            ordered += [claim, *corrections.get(claim.id, [])]
    return ordered


def _corrections(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.corrects:
            found.setdefault(claim.corrects[0], []).append(claim)
    return found


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


def overview(claims: Sequence[Claim]) -> HTML:
    """One row a claim, with menus for paper, verdict and fidelity. Without scripts every row is shown."""
    rows = "".join(map(_row, together(claims)))
    papers = {claim.paper: PAPERS[claim.paper] for claim in claims}
    verdicts = {str(v): str(v) for v in Verdict if any(claim.verdict == v for claim in claims)}
    fidelities = {str(f): str(f) for f in Fidelity if any(claim.fidelity == f for claim in claims)}
    head = "".join(f"<th>{name}</th>" for name in ("verdict", "claim", "fidelity", "source", "ch.", "code"))
    return HTML(
        f'<form class="ledger-filter">{_menu("paper", papers)} {_menu("verdict", verdicts)} '
        f"{_menu('fidelity', fidelities)} "
        f"<output>{len(claims)} claims</output></form>"
        f'<table class="dataframe ledger"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"<script>{_FILTER}</script>"
    )


def _row(claim: Claim) -> str:
    cells = (
        f'<span class="verdict">{claim.verdict_in_full}</span>',
        f"{'↳ ' if claim.corrects else ''}<a href='#{_anchor(claim.id)}'>{claim.id}</a>",
        str(claim.fidelity),
        html.escape(claim.source),
        f"<a href='{claim.chapter}.html'>{int(claim.chapter.split('_')[0])}</a>",
        code_link(claim, "line " + claim.location.rsplit(":", 1)[1]),
    )
    columns = "".join(f"<td>{cell}</td>" for cell in cells)
    return (
        f'<tr data-paper="{claim.paper}" data-verdict="{claim.verdict}" data-fidelity="{claim.fidelity}">{columns}</tr>'
    )


def _menu(name: str, entries: dict[str, str]) -> str:
    options = "".join(f'<option value="{html.escape(k)}">{html.escape(v)}</option>' for k, v in entries.items())
    return f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'


_FILTER = """
document.querySelectorAll(".ledger-filter").forEach((form) => form.addEventListener("change", () => {
  let shown = 0;
  form.parentElement.querySelectorAll("tr[data-paper]").forEach((row) => {
    const differs = (k) => form.elements[k].value && form.elements[k].value !== row.dataset[k];
    row.hidden = ["paper", "verdict", "fidelity"].some(differs);
    shown += !row.hidden;
  });
  form.querySelector("output").textContent = shown + " claims";
}));
"""


def detail(claims: Sequence[Claim]) -> Markdown:
    """Statement and evidence of each claim; a claim and its corrections stand side by side."""
    known, corrections = {claim.id for claim in claims}, _corrections(claims)
    blocks = []
    for claim in claims:
        if claim.corrects and claim.corrects[0] in known:
            continue
        cards = [_card(part) for part in (claim, *corrections.get(claim.id, []))]
        columns = "1 1 2 2" if len(cards) > 1 else "1"
        blocks.append(f"::::{{grid}} {columns}\n:gutter: 2\n\n" + "\n\n".join(cards) + "\n\n::::")
    return Markdown("\n\n".join(blocks))


def _card(claim: Claim) -> str:
    corrected = ", ".join(f"<a href='#{_anchor(id)}'>{id}</a>" for id in claim.corrects)
    title = f"<a id='{_anchor(claim.id)}'></a>**{claim.id}**"
    source = f"*{claim.source}; {claim.fidelity}.*" + (f" Corrects {corrected}." if corrected else "")
    links = f"<a href='{claim.chapter}.html'>Chapter</a>, {code_link(claim)}, checked in {claim.seconds:.1f} s"
    evidence = f"```{{dropdown}} Evidence\n{claim.proof()}\n```"
    said = f"{title}\n\n{source}\n\n{claim.statement}\n\n{claim.summary()}"
    return f":::{{grid-item-card}}\n{said}\n\n{evidence}\n\n{links}\n:::"
