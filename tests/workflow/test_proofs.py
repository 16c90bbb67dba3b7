"""What `make proofs` reads: sources, the axioms that Coq prints, the list of those allowed. No Coq is needed."""

from __future__ import annotations

import pytest

from workflow.proofs import SOURCE, allowed, computing, listed, read_axioms, theorems, without_comments

TEXT = """(* Theorem not_this one (* nested *) : False. Proof. *)
Lemma helper : True. Proof. exact I. Qed.
Theorem first n (gamma : R) : 0 <= gamma ->
  1 / 2 = 0.5.
Proof. lra. Qed.
Example second : True.
Proof. exact I. Qed.
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


def test_comments_nest() -> None:
    assert without_comments("a (* b (* c *) d *) e") == "a  e"


def test_theorems_and_examples_with_their_statements() -> None:
    first, second = theorems("A", TEXT)
    assert (first.name, first.kind, second.name, second.kind) == ("first", "Theorem", "second", "Example")
    assert first.statement == "n (gamma : R) : 0 <= gamma -> 1 / 2 = 0.5"


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
        stated = [line.split()[1] for line in lines if line.startswith(("Theorem ", "Example "))]
        assert [found.name for found in theorems(file, text)] == stated


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
