"""Formal proofs behind claims: what counts as checked, and what the book shows of them. No Coq is needed."""

import json
import re
import shutil

import pytest
from flint import arb

from reproduction.checkout import ROOT
from reproduction.ledger import (
    Counterexample,
    Derivation,
    Step,
    Unchecked,
    Verdict,
    find,
    formal_page,
    ledger,
    verdicts,
)
from reproduction.ledger import formal as module
from reproduction.ledger.formal import formal, kernel_checked, stale, statements, walk
from reproduction.ledger.ledger import Claim
from reproduction.ledger.tally import rewrite_readme

NAMED = {one.name: one for one in statements().values() if one.kind != "Lemma"}
CACHED = (module._read, module.kernel_checked, module.statements)


@pytest.fixture
def coq(tmp_path, monkeypatch):
    """A copy of the sources and of their record; `change` edits and forgets what was read."""
    shutil.copytree(ROOT / "proofs", tmp_path / "proofs")
    monkeypatch.setattr(module, "SOURCES", tmp_path / "proofs")

    def change(edit=lambda: None):
        edit()
        for function in CACHED:
            function.cache_clear()
        return tmp_path

    yield change
    monkeypatch.undo()
    change()


def test_every_theorem_that_a_claim_names_is_on_record():
    for claim in ledger():
        for name in claim.formal.theorems if claim.formal else ():
            assert name in NAMED, f"{claim.id} names {name}"


def test_every_file_of_theorems_has_an_example_that_they_are_not_vacuous():
    files = {kind: {one.file for one in NAMED.values() if one.kind == kind} for kind in ("Theorem", "Example")}
    assert files["Theorem"] <= files["Example"]


def test_what_the_kernel_checked_counts_until_a_source_changes(coq):
    root = coq()
    assert "kk24_prop1" in kernel_checked()
    assert formal("exact", "kk24_prop1").proves
    coq_and_sources = r"checked with Coq 8\.\d+\.\d+, `proofs/` of SHA-256 [0-9a-f]{12} \(exact\): `kk24_prop1`\."
    assert re.fullmatch(f"Formalised in Coq, {coq_and_sources}", formal("exact", "kk24_prop1").describe())
    source = root / "proofs" / "Focal.v"
    coq(lambda: source.write_text(source.read_text() + "\n"))
    assert not kernel_checked()
    assert not formal("exact", "kk24_prop1").proves
    assert statements(), "what is on record is known all the same"
    assert "recorded of another version of `proofs/` (`make proofs`)" in formal("exact", "kk24_prop1").describe()
    coq(lambda: (root / "proofs" / "New.v").write_text(""))
    assert not kernel_checked()


def test_the_record_is_of_the_sources():
    assert not stale(), "run: python3 workflow/proofs.py --record"


def test_the_verdict_is_one_wherever_it_is_asked():
    """What is on record, with or without Coq: of every claim with a formal proof that decides."""
    formally = {id for id, found in verdicts.records().items() if found.formal}
    settled = {claim.id for claim in ledger() if claim.formal is not None and claim.formal.proves}
    assert formally == settled - {id for id in settled if verdicts.records()[id].verdict == "UNCHECKABLE HERE"}


def _checked(id):
    [check] = verdicts.check_all([id])
    return check


def test_an_edited_proof_fails_verification(coq):
    root, claim = coq(), find("kk24.prop1")
    assert not _checked(claim.id).changed
    source = root / "proofs" / "Focal.v"
    coq(lambda: source.write_text(source.read_text() + "\n"))
    assert _checked(claim.id).changed
    with pytest.raises(ValueError, match=r"Got another version: python3 workflow/proofs\.py --record"):
        verdicts.record([_checked(claim.id)], rewrite_readme)


def test_in_an_installed_package_there_are_no_proofs(coq):
    root = coq()
    coq(lambda: shutil.rmtree(root / "proofs"))
    assert "whose proofs are not at hand" in formal("exact", "kk24_prop1").describe()


def _claim(evidence, words, of_paper=True):
    fidelity = "quoted" if of_paper else "ours"
    return Claim(
        "kk24.new",
        "It is said to be so",
        "KK24",
        "x",
        "convexity",
        lambda: evidence,
        fidelity=fidelity,
        formal=words,
    )


def test_the_verdict_is_the_kernels_where_the_evidence_agrees(coq):
    coq()
    proved, failed = Derivation((Step("x", True),)), Derivation((Step("x", False),))
    assert _claim(proved, formal("exact", "kk24_prop1")).verdict == Verdict.FORMALLY_PROVED
    assert _claim(proved, formal("equivalent", "kk24_prop1", "kk24_prop2")).verdict == Verdict.FORMALLY_PROVED
    assert _claim(proved, formal("related", "kk24_prop1")).verdict == Verdict.PROVED
    assert _claim(proved, formal("exact", "kk24_prop1", "no_such_theorem")).verdict == Verdict.PROVED
    assert _claim(failed, formal("exact", "kk24_prop1")).verdict == Verdict.FAILED
    assert _claim(Unchecked("lost"), formal("exact", "kk24_prop1")).verdict == Verdict.UNCHECKABLE


def test_a_refutation_that_the_kernel_checked_says_so(coq):
    coq()
    refuted = _claim(Counterexample("x", arb(1)), formal("exact", "kk24_prop5_refuted"))
    assert refuted.verdict_in_full == "REFUTED (FORMALLY PROVED)"


def test_words_of_a_formal_statement_are_checked():
    with pytest.raises(ValueError, match=r"must be one of 'exact', 'equivalent', 'related'. Got 'ours'"):
        formal("ours", "kk24_prop1")
    with pytest.raises(ValueError, match="theorems must be named"):
        formal("exact")


def test_lemmas_below_a_theorem():
    pairs = formal_page.lemma_pairs("KK24_Prop1.kk24_prop1")
    assert ("kk24_prop1", "chord_above") in pairs
    assert len(set(pairs)) == len(pairs)
    with pytest.raises(ValueError, match=r"must be on record.*Got 'kk24_prop1'"):
        formal_page.lemma_pairs("kk24_prop1")


def test_a_proof_step_by_step_ends_with_nothing_left():
    steps = walk("KK24_Prop1.kk24_prop1")
    assert steps[0][0] == ""
    assert steps[-1][1] == "No more goals."
    shown = formal_page.proof_steps("KK24_Prop1.kk24_prop1").data
    assert "**10.** " in shown
    assert "(2 more to prove)" in shown


def test_the_page_lists_every_theorem_and_the_numbers_add_up():
    listed = formal_page.theorem_list().data
    assert all(f"{one.kind} {name}\n" in listed for name, one in NAMED.items())
    found = formal_page.counts(ledger())
    assert found["theorems"] + found["examples"] == len(NAMED)
    assert found["claims"] == found["proved"] + found["conditional"] + found["denied"]
    assert found["claims"] + found["related"] == sum(claim.formal is not None for claim in ledger())


def test_the_record_is_json_that_names_its_coq():
    record = json.loads((ROOT / "proofs" / "theorems.json").read_text())
    assert record["coq"].startswith("8.")
    assert set(record) == {"coq", "sources", "definitions", "walks", "statements"}
