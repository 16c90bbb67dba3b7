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


def test_from_a_lemma_to_the_chapters_of_the_claims_that_rest_on_it():
    columns, pairs, marks = formal_page.chain("Confidence.map_lowers_top", ledger())
    assert columns["lemma"] == ["map_lowers_top"]
    assert "kk24_prop5_refuted" in columns["theorem"], "by another theorem, which names the lemma"
    assert "kk24_prop5_two_classes" not in columns["theorem"]
    assert {"kk24.prop5", "kk24.prop5_threshold_sharp"} <= set(columns["claim"])
    assert ("kk24_prop5_refuted_4", "kk24.prop5") in pairs
    assert ("kk24.prop5", "Confidence") in pairs
    placed = {name: i for i, names in enumerate(columns.values()) for name in names}
    assert all(placed[right] == placed[left] + 1 for left, right in pairs)
    words = {id: word for id, (word, _) in marks.items()}
    assert words["kk24.prop5"] == "refuted"
    assert words["kk24.prop5_threshold_sharp"] == "formally proved"


def test_of_a_theorem_that_a_claim_names_the_lemmas_of_its_proof():
    columns, pairs, _ = formal_page.chain("KK24_Prop1.kk24_prop1", ledger())
    assert list(columns.values())[1:] == [["kk24_prop1"], ["kk24.prop1"], ["Convexity"]]
    assert "chord_above" in columns["lemma"]
    assert ("chord_above", "kk24_prop1") in pairs


def test_a_chain_needs_a_statement_on_which_a_claim_rests():
    with pytest.raises(ValueError, match=r"must be on record.*Got 'kk24_prop1'"):
        formal_page.chain("kk24_prop1", ledger())
    with pytest.raises(ValueError, match=r"on which a claim rests. Got 'KK24_Prop1.kk24_prop1_gamma_2'"):
        formal_page.chain("KK24_Prop1.kk24_prop1_gamma_2", ledger())


def test_verdicts_have_the_colours_of_their_badges():
    colours = dict(formal_page.chain("KK24_Prop3_Sharp.logit_gap_below_log", ledger())[2].values())
    settled = {"formally proved": "#0b6b3a", "refuted": "#b3003b"}
    assert colours == settled | {"conditional": "#7a4d00", "not reproduced": "#a63c00"}


@pytest.mark.parametrize(
    ("key", "last", "shown"),
    [
        ("KK24_Prop1.kk24_prop1", 10, "(2 more to prove)"),
        ("KK24_Prop4.kk24_map_recovers_truth", 26, "U : forall i : nat, (i < n)%nat -> q i = x i\n====="),
        ("KK24_Prop5.kk24_prop5_refuted_4", 13, "L : gain 1 0.001 < gain 1 0.333\n====="),
    ],
)
def test_a_proof_step_by_step_ends_with_nothing_left(key, last, shown):
    steps = walk(key)
    assert steps[0][0] == ""
    assert steps[-1][1] == "No more goals."
    page = formal_page.proof_steps(key).data
    assert re.findall(r"^\*\*(\d+)\.\*\* ", page, re.MULTILINE) == [str(i + 1) for i in range(last)]
    assert shown in page


def test_a_step_shows_what_it_adds_and_a_proof_in_braces_is_one():
    page = formal_page.proof_steps("KK24_Prop5.kk24_prop5_refuted_4").data
    assert page.count("\nS : simplex 4 q\n") == 1, "known from then on"
    inside, after = page.split("**11.** ")[1].split("**12.** ")
    assert inside.startswith("`{ rewrite !gain_gamma_1 by lra. pose proof ln_333 as A.")
    assert "lra. }`" in inside
    assert after.startswith("`apply (map_lowers_top ")


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
