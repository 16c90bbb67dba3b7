"""What `make proofs` reads: sources, the axioms that Coq prints, the list of those allowed. No Coq is needed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workflow.proofs import (
    RECORD,
    SOURCE,
    allowed,
    computing,
    definitions,
    digests,
    link,
    listed,
    read_axioms,
    required,
    sentences,
    statements,
    without_comments,
)

TEXT = """(* Theorem not_this one (* nested *) : False. Proof. Qed. *)
From Focal Require Import Below.
Lemma helper : True. Proof. exact I. Qed.
(* ---- first part ---- *)

(* Faithful: exact,
   and more. *)
Theorem first n (gamma : R) : 0 <= gamma ->
  1 / 2 = 0.5.
Proof. (* second *) apply helper. rewrite (lemma n), fact. Qed.
Example second : True.
Proof. pose proof (first 1 2). exact I. Qed.
"""

PRINTED = """rests on: A.first
Axioms:
Classical_Prop.classic : forall P : Prop, P \\/ ~ P
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop,
    Axioms
rests on: A.second
Closed under the global context
"""

RULES = """# everywhere
Classical_Prop.classic

Uint63.*  Bounds  Points  # by interval
"""


def test_comments_nest_and_leave_every_place_as_it_was() -> None:
    assert without_comments("a (* b (* c *) d *) e") == "a" + 19 * " " + "e"
    assert without_comments("a *) (* b") == "a *) (* b"  # no comment, and one that does not end


def test_statements_with_their_notes() -> None:
    helper, first, second = statements("A", TEXT)
    assert [(one.name, one.kind) for one in (helper, first, second)] == [
        ("helper", "Lemma"),
        ("first", "Theorem"),
        ("second", "Example"),
    ]
    assert first.statement == "n (gamma : R) : 0 <= gamma ->\n  1 / 2 = 0.5"
    assert first.note == "Faithful: exact, and more."
    assert helper.note == ""
    assert second.note.startswith("Theorem not_this one")  # that of its file
    assert [one.audited for one in (helper, first, second)] == [False, True, True]


def test_a_proof_uses_the_statements_it_names() -> None:
    below = list(
        statements("Below", "Lemma lemma n : True. Proof. exact I. Qed.\nLemma helper : True. Proof. exact I. Qed.")
    )
    other = list(statements("Other", "Lemma fact : True. Proof. exact I. Qed."))
    here = list(statements("A", TEXT))
    link([*below, *other, *here], {"A": required(TEXT), "Below": set(), "Other": set()})
    helper, first, second = here
    assert first.uses == ("A.helper", "Below.lemma")  # its own file before others; none of what it does not require
    assert second.uses == ("A.first",)
    assert helper.uses == ()


def test_sentences_of_a_proof_end_at_a_stop_before_a_blank() -> None:
    assert sentences("intros q. replace 0.333 with (333 / 1000) by lra.\n  - lra.") == [
        "intros q.",
        "replace 0.333 with (333 / 1000) by lra.",
        "- lra.",
    ]


def test_definitions_as_they_are_written() -> None:
    fixed = "Fixpoint f n :=\n  match n with O => 0.1 | S m => f m end."
    text = f"Definition half : R := 0.5.\n(* Definition no. *)\n{fixed}\n"
    assert definitions(text) == {"half": "Definition half : R := 0.5.", "f": fixed}


def test_axioms_behind_each_mark() -> None:
    assert read_axioms(PRINTED) == {
        "A.first": ("ClassicalDedekindReals.sig_forall_dec", "Classical_Prop.classic"),
        "A.second": (),
    }


def test_what_is_no_list_of_axioms_is_refused() -> None:
    with pytest.raises(ValueError, match="must follow its mark"):
        read_axioms("rests on: A.first\nError: no such theorem\n")


@pytest.mark.parametrize(
    ("axiom", "file", "verdict"),
    [
        ("Classical_Prop.classic", "Anything", True),
        ("Uint63.add_spec", "Points", True),
        ("Uint63.add_spec", "Anything", False),
        ("KK24_Prop1.wish", "Points", False),
        ("", "Points", False),
    ],
)
def test_only_allowed_axioms(axiom: str, file: str, verdict: bool) -> None:
    assert allowed(axiom, file, RULES) is verdict


def test_every_file_is_listed_and_every_theorem_found() -> None:
    """A statement that the pattern misses would not be audited."""
    for file in listed():
        text = (SOURCE / f"{file}.v").read_text()
        lines = without_comments(text).splitlines()
        stated = [line.split()[1] for line in lines if line.lstrip().startswith(("Theorem ", "Example ", "Lemma "))]
        assert [found.name for found in statements(file, text)] == stated


def test_the_record_is_of_these_sources() -> None:
    """With Coq, `make proofs` compares all of it."""
    record = json.loads(RECORD.read_text())
    assert record["sources"] == digests(listed()), "run: python3 workflow/proofs.py --record"
    names = [one["name"] for one in record["statements"] if one["kind"] != "Lemma"]
    assert len(set(names)) == len(names), "the ledger names theorems without their file"


def test_nothing_is_assumed_or_left_open() -> None:
    """The audit of axioms would notice in a theorem; here in whatever else a reader may rely on."""
    for file in listed():
        words = set(without_comments((SOURCE / f"{file}.v").read_text()).replace(".", " ").split())
        assert not words & {"Admitted", "admit", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture"}, file


def test_files_that_compute_and_those_above_them() -> None:
    sources = {
        "A": "From Focal Require Import Focal.",
        "B": "From Interval Require Import Tactic.",
        "C": "From Focal Require Import A\n  B.",
        "D": "From Focal Require C.",
    }
    assert computing(sources) == {"B", "C", "D"}


def test_every_theorem_says_how_faithful_it_is() -> None:
    recorded = json.loads((Path(__file__).resolve().parents[2] / "proofs" / "theorems.json").read_text())["statements"]
    theorems = {one["name"]: one["note"] for one in recorded if one["kind"] == "Theorem"}
    assert len(theorems) > 100
    word = re.compile(r"\b(exact|equivalent|related)\b")
    assert not [name for name, note in theorems.items() if not word.search(note)]
