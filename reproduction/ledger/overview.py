"""The ledger's table: a row a claim, with menus and a search that book/_static/ledger.js brings to life.

Without the script every claim is shown, in the order of the book.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from IPython.display import HTML
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PAPERS, Claim, Fidelity
from reproduction.ledger.links import card_anchor
from reproduction.ledger.page import chapter_link, code_link, together

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
