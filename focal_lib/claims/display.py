"""Claims and proofs as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from focal_lib.claims.evidence import Derivation, Evidence, Step
from focal_lib.claims.ledger import Claim, find, ledger
from focal_lib.claims.links import LEDGER_PAGE, link_ids

__all__ = ["Proof", "Recalled", "Shown", "proof", "recall", "show"]


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
