"""Claims and proofs as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from focal_lib.claims.evidence import Derivation, Evidence, Step
from focal_lib.claims.ledger import Claim, find

__all__ = ["Proof", "Shown", "proof", "show"]


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
