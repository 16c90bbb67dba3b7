"""Formal proofs: which theorems of proofs/ say what a claim says, and whether Coq's kernel has checked them.

What it has checked is on record in proofs/theorems.json, with the digest of every source, and counts on any machine as
long as the sources are the same. `make proofs` checks them again, and fails where it does not find what is on record.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT

SOURCES, FILE = ROOT / "proofs", "theorems.json"


class Faithful(StrEnum):
    """How near the formal statement is to that of the claim."""

    EXACT = "exact"  # it says the same, or the same and more
    EQUIVALENT = "equivalent"  # it says the same in another form
    RELATED = "related"  # a part of it, or a consequence: the claim rests on its other evidence


@dataclass(frozen=True)
class Formal:
    """The theorems that together say what a claim says, or for a claim that is refuted, its negation."""

    faithful: Faithful
    theorems: tuple[str, ...]

    @property
    def decides(self) -> bool:
        """Whether they say no less than the claim."""
        return self.faithful != Faithful.RELATED

    @property
    def checked(self) -> bool:
        """Whether the kernel has checked them, as recorded."""
        return set(self.theorems) <= kernel_checked()

    @property
    def proves(self) -> bool:
        """Whether they decide the claim and the kernel has checked them."""
        return self.decides and self.checked

    @property
    def names(self) -> str:
        """The theorems, in Markdown."""
        return ", ".join(f"`{name}`" for name in self.theorems)

    def describe(self) -> str:
        """One line of Markdown."""
        near = self.faithful if self.decides else "related: a part, or a consequence"
        return f"Formalised in Coq, {say_checked()} ({near}): {self.names}."


def formal(faithful: str, *theorems: str) -> Formal:
    """For the decorator of a claim: `formal=formal("exact", "kk24_prop1")`.

    Args:
        faithful: 'exact', 'equivalent' or 'related', of all the theorems together to the claim.
        theorems: names of theorems and examples in proofs/.

    Raises:
        ValueError: another word; no theorem.
    """
    if faithful not in list(Faithful):
        raise ValueError(f"faithful must be one of {', '.join(map(repr, map(str, Faithful)))}. Got {faithful!r}.")
    if not theorems:
        raise ValueError("theorems must be named. Got none.")
    return Formal(Faithful(faithful), theorems)


@dataclass(frozen=True)
class Statement:
    """A theorem, example or lemma of proofs/."""

    file: str  # 'KK24_Prop1'
    name: str  # 'kk24_prop1'
    kind: str  # 'Theorem', 'Example' or 'Lemma'
    statement: str  # in Coq
    note: str  # of its author: what the paper says, how faithful it is
    uses: tuple[str, ...]  # 'file.name' of the statements that its proof names
    axioms: tuple[str, ...]  # it rests on no others than these; of a lemma, none are listed
    checked_again: bool  # by coqchk, besides the compiler's kernel

    @property
    def key(self) -> str:
        return f"{self.file}.{self.name}"


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


@functools.cache
def statements() -> dict[str, Statement]:
    """Every statement on record, by 'file.name', in the order of the files; {} without a checkout."""
    found = {}
    for entry in _read(SOURCES / FILE).get("statements", []):
        one = Statement(**entry | {"uses": tuple(entry["uses"]), "axioms": tuple(entry["axioms"])})
        found[one.key] = one
    return found


@functools.cache
def kernel_checked() -> frozenset[str]:
    """Names of the theorems and examples that the kernel checked, as recorded; none where a source is another now."""
    if stale():
        return frozenset()
    return frozenset(one.name for one in statements().values() if one.kind != "Lemma")


def stale() -> bool:
    """Whether the sources are not those that were checked."""
    return bool(_read(SOURCES / FILE).get("sources", {}) != _digests())


def coq_version() -> str:
    """Of the Coq that checked them, as recorded."""
    return str(_read(SOURCES / FILE)["coq"])


def say_checked() -> str:
    """'checked with Coq 8.16.1, `proofs/` of SHA-256 4f0c...', the same wherever the sources are those on record."""
    if not statements():
        return "whose proofs are not at hand"
    if stale():
        return "recorded of another version of `proofs/` (`make proofs`)"
    listed = "".join(f"{digest}  {name}.v\n" for name, digest in sorted(_digests().items()))  # as sha256sum has it
    return f"checked with Coq {coq_version()}, `proofs/` of SHA-256 {hashlib.sha256(listed.encode()).hexdigest()[:12]}"


def _digests() -> dict[str, str]:
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in SOURCES.glob("*.v")}


def definition(key: str) -> str:
    """A definition of proofs/ as its author wrote it.

    Raises:
        ValueError: none on record by that name.
    """
    return str(_find(_read(SOURCES / FILE)["definitions"], key, "definition", "Focal.focal_loss"))


def walk(key: str) -> list[tuple[str, str]]:
    """A proof step by step, as recorded: each sentence with the goals that Coq shows after it, '' before the first.

    Raises:
        ValueError: none on record by that name.
    """
    steps = _find(_read(SOURCES / FILE)["walks"], key, "proof step by step", "KK24_Prop1.kk24_prop1")
    return [(one["step"], one["goals"]) for one in steps]


def _find(known: dict[str, Any], key: str, kind: str, example: str) -> Any:
    if key not in known:
        raise ValueError(f"{kind} must be on record, as {example!r} is. Got {key!r}.")
    return known[key]
