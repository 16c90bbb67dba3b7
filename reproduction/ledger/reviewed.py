"""What was reviewed: each claim's words beside its check and formal statements, and what all claims rest on.

reviewed.json holds the texts as they stood when somebody last compared them. It changes by `focal claims --record`
alone, which shows both sides. `focal claims --verify` compares it with the claims, proofs/ and the printed tables as
they stand now, before it computes any verdict anew.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT, require_checkout
from reproduction.ledger import code, formal
from reproduction.ledger.ledger import PRINTED, Claim, ledger

FILE = Path(__file__).with_name("reviewed.json")
CELLS = ROOT / PRINTED
RESULTS, RECORDS = ROOT / "results", "results/"
Texts = dict[str, dict[str, str]]  # claim id, file of proofs/ or PRINTED -> part -> text
_THEOREM = re.compile(r"^[ \t]*((?:Theorem|Example)\s+(\w+)\b.*?\.)\s+Proof\b", re.MULTILINE | re.DOTALL)
_MEANING = re.compile(  # what a statement may rest on besides its own words
    r"^[ \t]*((?:(?:Local|Global|#\[\w+\])\s+)?(?:Definition|Let|Fixpoint|Inductive|Notation|Variables?|Hypothes[ei]s"
    r"|Context|Axiom|Parameter|Module|Import|Export)\s+\S+).*?\.$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.DOTALL)  # the innermost: they nest


class Difference(NamedTuple):
    """A text on record beside that of now; None for one that is not there."""

    subject: str
    part: str
    before: str | None
    now: str | None

    def describe(self) -> str:
        """Three lines: what it is of, and both sides."""
        before, now = (text if text is not None else "nothing" for text in (self.before, self.now))
        return f"{self.subject}, {self.part}\n  on record: {before}\n  now:       {now}"


def on_record() -> Texts:
    """The texts as last reviewed."""
    return dict(json.loads(FILE.read_text()))


def today() -> Texts:
    """The texts as they stand: those of every claim, the definitions of proofs/, digests of the printed tables."""
    sources = {path.name: _without_comments(path.read_text()) for path in sorted(formal.SOURCES.glob("*.v"))}
    theorems: dict[str, str] = {}
    for source in sources.values():
        for text, name in _THEOREM.findall(source):  # of a name that stands twice, both
            theorems[name] = " ".join(filter(None, (theorems.get(name), _on_one_line(text))))
    found = {claim.id: dict(_parts(claim, theorems)) for claim in ledger()}
    for file, source in sources.items():
        meanings = {_on_one_line(match[1]): _on_one_line(match[0]) for match in _MEANING.finditer(source)}
        found |= {f"proofs/{file}": meanings} if meanings else {}
    return found | {PRINTED: _digests(CELLS, CELLS.glob("*.csv")), RECORDS: _digests(RESULTS, _records())}


def _records() -> Iterator[Path]:
    """Tables and records of runs, which no checksum of their own covers as it does logits and histories."""
    for path in RESULTS.rglob("*"):
        if path.suffix in (".parquet", ".json") and path.name not in ("history.parquet", "ro-crate-metadata.json"):
            yield path


def _digests(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): f"SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(files)
    }


def _parts(claim: Claim, theorems: dict[str, str]) -> Iterator[tuple[str, str]]:
    yield "short", claim.short
    yield "statement", claim.statement
    yield "source", claim.source
    yield "fidelity", claim.fidelity
    yield "code", code.digest(claim.check)
    if claim.formal is not None:
        yield "formal", claim.formal.faithful
        for name in claim.formal.theorems if formal.SOURCES.is_dir() else ():
            yield f"theorem {name}", theorems.get(name, "not in proofs/")


def _without_comments(text: str) -> str:
    while (shorter := _COMMENT.sub(" ", text)) != text:
        text = shorter
    return text


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def compare(ids: Collection[str]) -> list[Difference]:
    """Where the claims of these ids, or what all claims rest on, are not as on record; proofs/ where it is there."""
    return _differences(on_record(), today(), ids)


def _differences(before: Texts, now: Texts, ids: Collection[str]) -> list[Difference]:
    others = {claim.id for claim in ledger()} - set(ids)
    found = []
    for subject in dict.fromkeys([*now, *before]):
        if subject in others:
            continue
        old, new = before.get(subject, {}), now.get(subject, {})
        for part in dict.fromkeys([*new, *old]):
            of_proofs = subject.startswith("proofs/") or part.startswith("theorem ")
            there = RESULTS.is_dir() if subject == RECORDS else formal.SOURCES.is_dir() or not of_proofs
            if old.get(part) != new.get(part) and there:
                found.append(Difference(subject, part, old.get(part), new.get(part)))
    return found


def record(ids: Collection[str]) -> list[Difference]:
    """Put what `compare` finds on record, and return it.

    Raises:
        FileNotFoundError: no checkout to write to.
    """
    require_checkout("recording statements")
    before, now = on_record(), today()
    changes = _differences(before, now, ids)
    changed = {change.subject for change in changes}
    content = {subject: now[subject] if subject in changed else before.get(subject) for subject in now}
    kept = {subject: texts for subject, texts in content.items() if texts is not None}  # a new claim not asked for
    write_whole(FILE, lambda path: path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n"))
    return changes
