"""The ledger as data: what `focal claims --json` prints, described by ledger.schema.json beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduction.ledger.evidence import Unchecked
from reproduction.ledger.formal import say_checked
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import RETIRED, Claim, corrected_by
from reproduction.ledger.quoted_lines import lines_of, read_lines
from reproduction.ledger.verdicts import records

SCHEMA = Path(__file__).with_name("ledger.schema.json")


def as_json(claims: Sequence[Claim], check: bool = False) -> dict[str, Any]:
    """Claims with their verdicts on record, and the retired ids.

    Args:
        check: also check each claim now, and add what was found.
    """
    on_record = records()
    entries = []
    for claim in claims:
        entry = _entry(claim, on_record.get(claim.id))
        entries.append(entry | {"now": _now(claim)} if check else entry)
    return {
        "version": version("focal-lib"),
        "formal_proofs": say_checked(),
        "texts": read_lines()["texts"],
        "claims": entries,
        "retired": [{"id": id, "now": now.split(", ")} for id, now in RETIRED.items()],
    }


def _entry(claim: Claim, record: Any) -> dict[str, Any]:
    formal = claim.formal and {
        "faithful": str(claim.formal.faithful),
        "theorems": list(claim.formal.theorems),
        "checked_on_record": bool(record and record.formal),
    }
    return {
        "id": claim.id,
        "paper": claim.paper,
        "short": claim.short,
        "source": claim.source,
        "statement": claim.statement,
        "lines": lines_of(claim.id),
        "chapter": claim.chapter,
        "fidelity": str(claim.fidelity),
        "verdict": record and record.in_full,
        "verdict_without_coq": record and record.verdict,
        "instead": record.instead if record else "",
        "formal": formal,
        "not_formalised": claim.why_not_formalised(record and record.verdict),
        "corrects": list(claim.corrects),
        "corrected_by": corrected_by(claim.id),
        "needs": claim.needs,
        "unchecked": _unchecked(claim, record),
        "location": claim.location,
    }


def _unchecked(claim: Claim, record: Any) -> dict[str, Any] | None:
    """Why a claim that is uncheckable on record is so, and what would check it; no other claim is looked at."""
    if record is None or record.verdict != Verdict.UNCHECKABLE or not isinstance(claim.evidence, Unchecked):
        return None
    return {"reason": claim.evidence.reason, "commands": claim.evidence.commands}


def _now(claim: Claim) -> dict[str, Any]:
    return {
        "verdict": str(claim.verdict),
        "verdict_in_full": claim.verdict_in_full,
        "holds": claim.conclude(),
        "would_change": claim.would_change(),
        "evidence": claim.proof(),
        "seconds": round(claim.seconds, 3),
    }
