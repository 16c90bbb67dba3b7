"""The formal proofs as the book shows them: a proof step by step, which claims rest on them, every theorem."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

import networkx as nx
from IPython.display import Markdown

from reproduction.checkout import ROOT
from reproduction.ledger.formal import Statement, definition, statements, walk
from reproduction.ledger.judgement import HOLDS, Verdict
from reproduction.ledger.ledger import Claim
from reproduction.ledger.verdicts import records

BADGES = ROOT / "book" / "_static" / "book.css"
PROCESSOR = ("PrimInt63.", "Uint63.")  # arithmetic of its integers, with which `interval` computes


def proof_steps(key: str) -> Markdown:
    """Each sentence of a recorded proof, what it adds to what is known, and what Coq says is left to prove after it."""
    blocks = []
    known: list[str] = []
    for number, (step, goals) in enumerate(_steps(key)):
        said = f"**{number}.** `{' '.join(step.split())}`" if step else "The theorem:"
        above, left = _first_goal(goals)
        shown = "\n".join([*(one for one in above if one not in known), left])
        known = above or known  # a proof in braces ends without a goal
        blocks.append(f"{said}\n\n```text\n{shown}\n```")
    return Markdown("\n\n".join(blocks))


def _steps(key: str) -> list[tuple[str, str]]:
    """The sentences of a recorded proof with the goals after each; a proof in braces, of a fact beside, is one step."""
    steps: list[tuple[str, str]] = []
    depth = 0
    for sentence, goals in walk(key):
        if depth > 1 or (depth == 1 and not sentence.startswith("}")):
            steps[-1] = (f"{steps[-1][0]} {sentence}", goals)
        else:
            steps.append((sentence.removeprefix("}").strip(), goals))
        depth += sentence.count("{") - sentence.count("}")
    return [(f"{step} }}" if step.startswith("{") else step, goals) for step, goals in steps]


def _first_goal(goals: str) -> tuple[list[str], str]:
    """The hypotheses of the goal that the next sentence works on; that goal, and how many wait behind it."""
    first, *others = goals.split("\n\ngoal ")
    lines = first.splitlines()
    if not lines[0].endswith(("goal", "goals")):
        return [], lines[0]
    above, line, below = re.split(r"^(=+)$", dedent("\n".join(lines[1:])).strip("\n"), flags=re.MULTILINE)
    waiting = f"\n({int(lines[0].split()[0]) - 1} more to prove)" if others else ""
    return re.split(r"\n(?! )", above.strip("\n")) if above.strip() else [], f"{line}{below}{waiting}"


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


def chain(
    key: str, claims: Sequence[Claim]
) -> tuple[dict[str, list[str]], list[tuple[str, str]], dict[str, tuple[str, str]]]:
    """From lemmas to chapters by one statement, for `columns_figure`: columns, lines, the verdicts of claims.

    Of a theorem that a claim names: the statements that its proof names, and its claims. Of another statement: the
    claims that rest on it, by the theorems they name.

    Raises:
        ValueError: an unknown statement, or one on which no claim rests.
    """
    known = statements()
    if key not in known:
        raise ValueError(f"statement must be on record, as 'KK24_Prop1.kk24_prop1' is. Got {key!r}.")
    uses = nx.DiGraph((one.key, lower) for one in known.values() for lower in one.uses)
    uses.add_node(key)
    formal = {claim: claim.formal.theorems for claim in claims if claim.formal is not None}
    named = {theorem for theorems in formal.values() for theorem in theorems}
    lower, upper = [key], nx.ancestors(uses, key)
    if known[key].name in named:
        lower, upper = list(known[key].uses), {key}
    lemmas = [known[one].name for one in lower]
    theorems = sorted(named & {known[one].name for one in upper})
    if not theorems:
        raise ValueError(f"statement must be one on which a claim rests. Got {key!r}.")
    rest = {claim: [name for name in names if name in theorems] for claim, names in formal.items()}
    rest = {claim: names for claim, names in rest.items() if names}
    pairs = [(lemma, theorem) for lemma in lemmas for theorem in theorems]
    pairs += [(name, claim.id) for claim, names in rest.items() for name in names]
    pairs += [(claim.id, claim.place) for claim in rest]
    ids, chapters = [claim.id for claim in rest], list(dict.fromkeys(claim.place for claim in rest))
    columns = {"lemma": lemmas, "theorem": theorems, "claim": ids, "chapter": chapters}
    verdicts = {id: records()[id].in_full for id in ids}
    return columns, pairs, {id: (verdict.lower(), _badge_colour(verdict)) for id, verdict in verdicts.items()}


def _badge_colour(verdict: str) -> str:
    """Of a verdict's badge on a light page, as book.css has it."""
    rules = re.findall(r"^strong\.verdict(\S*|:is\(.*?\)) \{[^}]*?--badge: (#\w+);", BADGES.read_text(), re.MULTILINE)
    own = [colour for names, colour in rules if f".{verdict.lower().replace(' ', '-')}" in re.split(r"[(), ]+", names)]
    return own[0] if own else dict(rules)[""]
