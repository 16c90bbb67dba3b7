"""The ledger as a page: counts, a table with a row a claim, and cards, a claim and what corrects it side by side.

book/_static/ledger.js brings the table's menus and search to life; without it every claim is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from html import escape

from IPython.display import HTML, Markdown
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from reproduction.checkout import ROOT
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PAPERS, Claim, Fidelity, corrected_by, ledger
from reproduction.ledger.links import card_anchor, link_ids, places, verdict_anchor
from reproduction.ledger.quoted_lines import say_lines
from reproduction.ledger.tally import tally_table

_COLUMNS = {  # heading -> whether to sort by it
    "verdict": True,
    "claim": True,
    "statement": False,
    "source": True,
    "whose": True,
    "chapter": True,
}
_INLINE = MarkdownIt("commonmark").use(
    dollarmath_plugin, renderer=lambda tex, _: "\\(" + escape(tex, quote=False) + "\\)"
)
_FORMULA = re.compile(r"\$[^$]+\$")
_END = re.compile(  # of a sentence; \x00 stands for a formula
    r"(?<!\bApp)(?<!\bEq)(?<!\bFig)(?<!\bThm)(?<!\bi\.e)(?<!\be\.g)\.'?\s+(?=[A-Z'(\x00])"
)
_PAUSE = re.compile(r"(?<=.{40})[:;](?= )")
_SHORT = 200  # letters: a longer sentence ends at its first colon or semicolon


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


def weights(claims: Sequence[Claim]) -> Markdown:
    """What the papers claim, by what the verdict rests on; how much this book adds."""
    return Markdown(tally_table(claims, {claim.id: claim.verdict for claim in claims}))


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


def short_statement(statement: str) -> str:
    """Markdown: the first sentence of a claim's statement, or as much of it as says something."""
    formulas = _FORMULA.findall(statement)
    bare = " ".join(_FORMULA.sub("\x00", statement).split())

    def whole(part: str) -> str:
        rest = iter(formulas)
        return re.sub("\x00", lambda _: next(rest), part)

    end = _END.search(bare)
    sentence = bare[: end.end()].strip() if end else bare
    pause = _PAUSE.search(sentence)
    return whole(sentence[: pause.start()]) + " …" if pause and len(whole(sentence)) > _SHORT else whole(sentence)


def overview(claims: Sequence[Claim]) -> HTML:
    """One row a claim, with a search, menus and headings to sort by."""
    rows = "".join(map(_row, together(claims)))
    head = "".join(f'<th scope="col"{" data-sorts" * sorts}>{name}</th>' for name, sorts in _COLUMNS.items())
    return HTML(
        f"{_form(claims)}"
        '<table class="dataframe ledger"><caption>Every claim, its verdict, and where it is checked</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        '<script src="../_static/ledger.js"></script>'
    )


def _form(claims: Sequence[Claim]) -> str:
    """Hidden until the script shows it."""
    papers = Counter(claim.paper for claim in claims)
    verdicts = Counter(claim.verdict for claim in claims)
    kinds = Counter(claim.fidelity for claim in claims)
    of_papers = [kind for kind in Fidelity if kind != Fidelity.OURS]
    menus = {
        "verdict": {str(v): (str(v), verdicts[v]) for v in Verdict},
        "paper": {paper: (name, papers[paper]) for paper, name in PAPERS.items()},
        "whose": {
            "paper": ("the papers'", sum(kinds[kind] for kind in of_papers)),
            **{str(kind): (f"the papers', {kind}", kinds[kind]) for kind in of_papers},
            str(Fidelity.OURS): ("this book's", kinds[Fidelity.OURS]),
        },
    }
    return (
        '<form class="ledger-filter" role="search" aria-label="Claims" hidden>'
        '<label>search <input type="search" name="text" placeholder="Prop. 5, temperature ECE" size="26" '
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


def _row(claim: Claim) -> str:
    corrects = ", ".join(f'<a href="#{card_anchor(id)}">{id}</a>' for id in claim.corrects)
    whose = "paper's" if claim.of_paper else "book's"
    near = f"<small>{claim.fidelity}</small>" if claim.of_paper else ""
    place = str(claim.chapter_number or claim.place.lower())
    cells = {
        "verdict": f'<span class="verdict">{claim.verdict_in_full}</span>',
        "claim": f'<a href="#{card_anchor(claim.id)}">{claim.id.replace("_", "<wbr>_")}</a>'
        + (f"<small>corrects {corrects}</small>" if corrects else ""),
        "statement": f"<div>{_INLINE.renderInline(short_statement(claim.statement))}</div>",
        "source": escape(claim.source),
        "whose": whose + near,
        "chapter": f"{chapter_link(claim, place)}<br>{code_link(claim, 'code')}",
    }
    sorted_by = {"verdict": f' data-key="{list(Verdict).index(claim.verdict)}"'}
    columns = "".join(f"<td{sorted_by.get(name, '')}>{cells[name]}</td>" for name in _COLUMNS)
    kinds = f"paper|{claim.fidelity}" if claim.of_paper else str(claim.fidelity)
    return f'<tr data-verdict="{claim.verdict}" data-paper="{claim.paper}" data-whose="{kinds}">{columns}</tr>'
