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
    """Claims for display in a notebook."""

    claims: tuple[Claim, ...]

    def __repr__(self) -> str:
        return self._repr_markdown_()

    def _repr_markdown_(self) -> str:
        return "\n\n".join(claim._repr_markdown_() for claim in self.claims)


def show(*ids: str) -> Shown:
    """The claims, checked, for display in a notebook: the verdicts at a chapter's end.

    Raises:
        ValueError: an unknown id.
    """
    found = Shown(tuple(find(id) for id in ids))
    for claim in found.claims:
        _ = claim.verdict
    _shown.update(ids)
    return found


@dataclass(frozen=True, repr=False)
class Recalled:
    """Claims in a line each, for a page that shows their evidence elsewhere."""

    claims: tuple[Claim, ...]

    def __repr__(self) -> str:
        return self._repr_markdown_()

    def _repr_markdown_(self) -> str:
        lines = [f"* **{claim.verdict_in_full}**, `{claim.id}`: {claim.conclude()}." for claim in self.claims]
        return link_ids("\n".join(lines), LEDGER_PAGE, {claim.id for claim in ledger()})


def recall(*ids: str) -> Recalled:
    """The claims that `show` has shown, a line each.

    Raises:
        ValueError: an unknown id.
    """
    return Recalled(show(*ids).claims)


@dataclass(frozen=True, repr=False)
class Rest(Recalled):
    """Claims in a line each, folded: those that a chapter's text has no room for."""

    def _repr_markdown_(self) -> str:
        if not self.claims:
            return ""
        title = f"{len(self.claims)} more of this chapter's claims"
        return f"```{{dropdown}} {title}\n{super()._repr_markdown_()}\n```"


def show_rest(chapter: str) -> Rest:
    """The claims of a chapter, '06_confidence', that `show` has not shown in this process.

    Raises:
        ValueError: a chapter without claims.
    """
    own = [claim for claim in ledger() if claim.chapter == chapter]
    if not own:
        known = ", ".join(sorted({claim.chapter for claim in ledger()}))
        raise ValueError(f"chapter must be one that has claims: {known}. Got {chapter}.")
    left = [claim.id for claim in own if claim.id not in _shown]
    return Rest(show(*left).claims)


@dataclass(frozen=True, repr=False)
class Proof:
    """A piece of evidence for display in a notebook."""

    evidence: Evidence

    def __repr__(self) -> str:  # that of the evidence holds addresses, and the boxes of a certificate
        return self._repr_markdown_()

    def _repr_markdown_(self) -> str:
        return f"**{self.evidence.verdict}**\n\n{self.evidence.describe()}"


def proof(evidence: Evidence | Sequence[Step]) -> Proof:
    """A piece of evidence, or the steps of a derivation, with a tick for each that sympy reduced."""
    return Proof(Derivation(tuple(evidence)) if isinstance(evidence, Sequence) else evidence)
