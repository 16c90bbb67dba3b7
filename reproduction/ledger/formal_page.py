"""The formal proofs as the book shows them: a proof step by step, which claims rest on them, every theorem."""

from __future__ import annotations

import re
from collections.abc import Sequence

import networkx as nx
from IPython.display import Markdown

from reproduction.ledger.formal import Statement, definition, statements, walk
from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import Claim
from reproduction.ledger.verdicts import records

PROCESSOR = ("PrimInt63.", "Uint63.")  # arithmetic of its integers, with which `interval` computes


def proof_steps(key: str) -> Markdown:
    """Each sentence of a recorded proof, and what Coq says is left to prove after it."""
    blocks = []
    for number, (step, goals) in enumerate(walk(key)):
        said = f"**{number}.** `{step}`" if step else "The theorem:"
        blocks.append(f"{said}\n\n```text\n{_first_goal(goals)}\n```")
    return Markdown("\n\n".join(blocks))


def _first_goal(goals: str) -> str:
    """The goal that the next sentence works on, and how many wait behind it."""
    first, *others = goals.split("\n\ngoal ")
    lines = first.splitlines()
    if not lines[0].endswith(("goal", "goals")):
        return first
    shown = "\n".join(line.removeprefix("  ") for line in lines[1:]).strip("\n")
    waiting = int(lines[0].split()[0]) - 1
    return shown + (f"\n({waiting} more to prove)" if others else "")


def definitions(*keys: str) -> Markdown:
    """Definitions in Coq, as they are written."""
    return Markdown("```coq\n" + "\n\n".join(map(definition, keys)) + "\n```")


def counts(claims: Sequence[Claim]) -> dict[str, int]:
    """Numbers for the prose: of files, theorems, examples, lemmas; of claims that hold, conditionally, or not."""
    every = list(statements().values())
    kinds = [one.kind for one in every]
    axioms = {axiom for one in every for axiom in one.axioms}
    counted = {kind.lower() + "s": kinds.count(kind) for kind in ("Theorem", "Example", "Lemma")}
    said = [c for c in claims if c.formal is not None and c.formal.decides]
    on_record = {id: found.verdict for id, found in records().items()}  # the ledger's page computes them anew
    proved = [c for c in said if on_record.get(c.id) in HOLDS]
    conditional = [c for c in said if on_record.get(c.id) == Verdict.CONDITIONAL]
    return counted | {
        "files": len({one.file for one in every}),
        "checked_again": sum(one.checked_again for one in every if one.kind != "Lemma"),
        "claims": len(said),
        "proved": len(proved),
        "conditional": len(conditional),
        "denied": len(said) - len(proved) - len(conditional),
        "related": sum(c.formal is not None for c in claims) - len(said),
        "not_formal": sum(c.why_not_formalised(on_record.get(c.id)) is not None for c in claims),
        "axioms": len({axiom for axiom in axioms if not axiom.startswith(PROCESSOR)}),
        "processor": len({axiom for axiom in axioms if axiom.startswith(PROCESSOR)}),
    }


def claim_table(claims: Sequence[Claim]) -> Markdown:
    """The claims that a formal statement is about, in the ledger's order, with the verdict on record without Coq."""
    on_record = {id: found.verdict for id, found in records().items()}
    lines = ["| claim | without Coq | formal statement | theorems |", "|---|---|---|---|"]
    for claim in claims:
        if claim.formal is not None:
            names = ", ".join(f"<a href='#{_anchor(name)}'>{name}</a>" for name in claim.formal.theorems)
            without = on_record.get(claim.id, "not on record")
            lines.append(f"| `{claim.id}` | {without} | {claim.formal.faithful} | {names} |")
    return Markdown("\n".join(lines))


def _anchor(name: str) -> str:
    return "coq-" + name.replace("_", "-").lower()


def theorem_list() -> Markdown:
    """Every theorem and example: what it says in Coq, its author's note, what it rests on."""
    by_file: dict[str, list[Statement]] = {}
    for one in statements().values():
        if one.kind != "Lemma":
            by_file.setdefault(one.file, []).append(one)
    return Markdown(
        "\n\n".join(f"**{file}.v**\n\n" + "\n\n".join(map(_entry, stated)) for file, stated in by_file.items())
    )


def _entry(one: Statement) -> str:
    rests = f"{len(one.axioms)} axioms" if one.axioms else "no axiom"
    if any(axiom.startswith(PROCESSOR) for axiom in one.axioms):
        rests += ", those of the processor's integers among them"
    again = "checked again by coqchk" if one.checked_again else "checked by the compiler's kernel alone"
    return (
        f"<a id='{_anchor(one.name)}'></a>\n\n````{{dropdown}} {one.kind} {one.name}\n"
        f"```coq\n{one.kind} {one.name} {one.statement}.\n```\n\n{_plain(one.note)}\n\n"
        f"Rests on at most {rests}; {again}.\n````"
    )


def _plain(text: str) -> str:
    """Words that Markdown must take as they are."""
    return re.sub(r"([\\`*_\[\]<>$])", r"\\\1", text)


def file_pairs() -> list[tuple[str, str]]:
    """(file, file that one of its proofs uses a statement of)."""
    known = statements()
    pairs = {(one.file, known[lower].file) for one in known.values() for lower in one.uses}
    return sorted((upper, lower) for upper, lower in pairs if upper != lower)


def lemma_pairs(key: str) -> list[tuple[str, str]]:
    """(statement, one that its proof names), by name, below one statement, from the top down.

    Raises:
        ValueError: an unknown statement.
    """
    known = statements()
    if key not in known:
        raise ValueError(f"statement must be on record, as 'KK24_Prop1.kk24_prop1' is. Got {key!r}.")
    uses = nx.DiGraph((one.key, lower) for one in known.values() for lower in one.uses)
    uses.add_node(key)
    return [(known[upper].name, known[lower].name) for upper, lower in nx.edge_bfs(uses, key)]
