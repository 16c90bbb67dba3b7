"""Claims and proofs as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reproduction.ledger.evidence import Derivation, Evidence, Step
from reproduction.ledger.ledger import Claim, find, ledger
from reproduction.ledger.links import LEDGER_PAGE, link_ids

_shown: set[str] = set()  # ids of claims that the notebook of this process has shown


@dataclass(frozen=True, repr=False)
class Shown:
    """Markdown that a notebook renders, and a console shows as its text."""

    data: str

    def __repr__(self) -> str:
        return self.data

    _repr_markdown_ = __repr__


def show(*ids: str) -> Shown:
    """The claims, checked, for display in a notebook: the verdicts at a chapter's end.

    Raises:
        ValueError: an unknown id.
    """
    return Shown("\n\n".join(claim._repr_markdown_() for claim in _noted(ids)))


def _noted(ids: Sequence[str]) -> list[Claim]:
    found = [find(id) for id in ids]
    _shown.update(ids)
    return found


def recall(*ids: str) -> Shown:
    """The claims that `show` has shown, a line each.

    Raises:
        ValueError: an unknown id.
    """
    return Shown(_in_lines(_noted(ids)))


def _in_lines(claims: Sequence[Claim]) -> str:
    lines = [f"* **{claim.verdict_in_full}**, `{claim.id}`: {claim.conclude()}." for claim in claims]
    return link_ids("\n".join(lines), LEDGER_PAGE, {claim.id for claim in ledger()})


def show_rest(chapter: str) -> Shown:
    """The claims of a chapter, '06_confidence', that `show` has not shown in this process: in a line each, folded.

    Raises:
        ValueError: a chapter without claims.
    """
    own = [claim for claim in ledger() if claim.chapter == chapter]
    if not own:
        known = ", ".join(sorted({claim.chapter for claim in ledger()}))
        raise ValueError(f"chapter must be one that has claims: {known}. Got {chapter}.")
    left = _noted([claim.id for claim in own if claim.id not in _shown])
    title = f"{len(left)} more of this chapter's claims"
    return Shown(f"```{{dropdown}} {title}\n{_in_lines(left)}\n```" if left else "")


def proof(evidence: Evidence | Sequence[Step]) -> Shown:
    """A piece of evidence, or the steps of a derivation, with a tick for each that sympy reduced."""
    found = Derivation(tuple(evidence)) if isinstance(evidence, Sequence) else evidence
    return Shown(f"**{found.verdict}**\n\n{found.describe()}")
