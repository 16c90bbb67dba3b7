"""Claims and proofs as a notebook shows them: a claim is a chip, one line with its verdict on record."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from reproduction.ledger.evidence import Derivation, Evidence, Step
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import PAPERS, Claim, find, ledger
from reproduction.ledger.links import LEDGER_PAGE, VERDICTS_PAGE, card_anchor, verdict_anchor
from reproduction.ledger.verdicts import Record, records

_records = functools.cache(records)  # a page reads them once
_INSTEAD = (Verdict.CONDITIONAL, Verdict.REFUTED, Verdict.NOT_REPRODUCED, Verdict.NOT_CONFIRMED)
_NAMED = re.compile(  # 3, A.3, (8); several
    r"\b(?:(?:Prop|Thm|Fig|Eq)s?\.|(?:Lemma|Theorem|Table)s?) (?:\(\d+\)|[\w.]*\w)(?:(?:,| and| to) \d+)*"
)
NOT_ON_RECORD = Record("NOT ON RECORD")


@dataclass(frozen=True, repr=False)
class Shown:
    """Markdown that a notebook renders, and a console shows as its text."""

    data: str

    def __repr__(self) -> str:
        return self.data

    _repr_markdown_ = __repr__


@dataclass(frozen=True, repr=False)
class Line:
    """HTML that a notebook renders, and the text that a console shows."""

    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def show(*ids: str) -> Line:
    """The claims as chips: the verdict on record, the claim in a few words, what holds instead; each leads to its card.

    No evidence is computed: whatever the parameters of the page, the verdicts are those of the recorded runs.

    Raises:
        ValueError: an unknown id.
    """
    line = chips([find(id) for id in ids])
    said = f'Recorded verdicts (<a href="{VERDICTS_PAGE}">what they mean</a>)'
    return Line(f'<div class="chips"><p>{said}</p>{line.html}</div>', line.text)


def chips(claims: Sequence[Claim]) -> Line:
    """The chips as a bare list, for what frames them."""
    found = [(claim, _records().get(claim.id, NOT_ON_RECORD)) for claim in claims]
    items = "\n".join(f'<li id="{verdict_anchor(claim.id)}">{_chip(claim, record)}</li>' for claim, record in found)
    return Line(f"<ul>\n{items}\n</ul>", "\n".join(_chip_text(claim, record) for claim, record in found))


def badge(verdict: str) -> str:
    """HTML: the verdict, whose class book.css gives a colour; the word says it without one."""
    return f'<strong class="verdict {verdict.lower().replace(" ", "-")}">{verdict}</strong>'


def instead_of(claim: Claim, record: Record) -> str:
    """What holds instead of a claim that, on record, does not hold as it stands; else ''."""
    return record.instead if record.verdict in _INSTEAD else ""


def _chip(claim: Claim, record: Record) -> str:
    link = f'<a href="{LEDGER_PAGE}#{card_anchor(claim.id)}">{escape(claim.short)}</a>'
    instead = instead_of(claim, record)
    said = f"{link}; instead: {escape(instead)}" if instead else link
    return f"{badge(record.in_full)} <span>{said} <small>{escape(_whose(claim))}</small></span>"


def _chip_text(claim: Claim, record: Record) -> str:
    instead = instead_of(claim, record)
    return f"{record.in_full}: {claim.short}{f'; instead: {instead}' * bool(instead)} ({_whose(claim)}, {claim.id})"


def _whose(claim: Claim) -> str:
    """'KK24 Prop. 5', of what has no name there 'KK24', else 'ours'."""
    if not claim.of_paper:
        return "ours"
    named = _NAMED.search(claim.source)
    return f"{PAPERS[claim.paper]}{f' {named[0]}' if named else ''}"


def claims_of(chapter: str) -> Line:
    """A link to the claims of a chapter, 'confidence', in the ledger, where each has its evidence.

    Raises:
        ValueError: a chapter without claims.
    """
    count = sum(claim.chapter == chapter for claim in ledger())
    if not count:
        known = ", ".join(sorted({claim.chapter for claim in ledger()}))
        raise ValueError(f"chapter must be one that has claims: {known}. Got {chapter}.")
    words = f"All {count} claims of this page, with their evidence" if count > 1 else "The claim's evidence"
    address = f"{LEDGER_PAGE}?chapter={chapter}"
    return Line(f'<p class="chips-more"><a href="{address}">{words}</a></p>', f"{words}: {address}")


def proof(evidence: Evidence | Sequence[Step]) -> Shown:
    """A piece of evidence, or the steps of a derivation, with a tick for each that sympy reduced."""
    found = Derivation(tuple(evidence)) if isinstance(evidence, Sequence) else evidence
    return Shown(f"**{found.verdict}**\n\n{found.describe()}")
