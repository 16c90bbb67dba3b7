"""The papers' claims as a rubric for graders of reproductions: what `focal claims --rubric FILE` writes.

A tree, paper, section, claim, whose nodes have the keys that PaperBench reads; rubric.schema.json beside this file
describes them. No verdict is in it: `focal claims --json` has ours, by the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduction.ledger.ledger import PAPERS, PRINTED, Claim
from reproduction.ledger.verdicts import Record, records
from reproduction.ledger.weight import Weight, weigh

SCHEMA = Path(__file__).with_name("rubric.schema.json")
SETTLED_BY = {  # kind of evidence -> what counts, and the weight of a claim that it settles
    "theory": (
        "a proof for every value that the statement covers, or a counterexample with its numbers; a number that the "
        "paper prints, by computing it again",
        2,
    ),
    "networks": (
        "networks trained as the paper trains them, data, size and schedule, over several seeds, with an interval that "
        "lies wholly within what is claimed or wholly outside",
        2,
    ),
    "printed tables": ("the paper's printed tables, counted row by row; nothing is trained", 1),
}


def rubric(claims: Sequence[Claim]) -> dict[str, Any]:
    """The tree of those claims that papers make; a node weighs what its leaves weigh together."""
    on_record, papers = records(), []
    for paper, name in PAPERS.items():
        sections: dict[str, list[dict[str, Any]]] = {}
        for claim in claims:
            if claim.of_paper and claim.paper == paper:
                sections.setdefault(section(claim), []).append(_leaf(claim, _kind(claim, on_record.get(claim.id))))
        nodes = [_node(f"{paper}: {place}", place, leaves) for place, leaves in sections.items()]
        if nodes:
            papers.append(_node(paper, f"The claims of {name}", nodes))
    return _node("papers", "The papers' claims are settled by evidence", papers) | {"version": version("focal-lib")}


def section(claim: Claim) -> str:
    """'Prop. 1' of 'KK24 Prop. 1, App. A.1', 'Section 4' of 'M20 sections 4 and 6'."""
    place = claim.source.split(",")[0].removeprefix(PAPERS[claim.paper]).strip()
    place = re.split(r" on | and | right| \(App", place)[0].replace("sections", "section")
    return place[:1].upper() + place[1:] or "The whole paper"


def _kind(claim: Claim, record: Record | None) -> str:
    """The kind of evidence, whichever way the verdict goes."""
    if claim.needs == PRINTED:
        return "printed tables"
    proved = record is not None and weigh(claim, record.in_full) == Weight.PROOF
    return "networks" if claim.check.__module__.startswith("reproduction.studies.") and not proved else "theory"


def _leaf(claim: Claim, kind: str) -> dict[str, Any]:
    counts, weight = SETTLED_BY[kind]
    return {
        "id": claim.id,
        "requirements": f"Whether this holds is decided by {counts}: {claim.statement}",
        "weight": weight,
        "sub_tasks": [],
        "task_category": "Result Analysis",
        "short": claim.short,
        "source": claim.source,
        "fidelity": str(claim.fidelity),
        "statement": claim.statement,
        "evidence": kind,
    }


def _node(id: str, requirements: str, below: Iterable[dict[str, Any]]) -> dict[str, Any]:
    nodes = list(below)
    weight = sum(node["weight"] for node in nodes)
    return {"id": id, "requirements": requirements, "weight": weight, "sub_tasks": nodes}
