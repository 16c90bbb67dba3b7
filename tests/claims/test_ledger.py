"""The ledger as a whole; each claim's planted faults are in test_claims_<module>.py."""

from pathlib import Path

import flint
import pytest
import sympy as sp

from focal_lib.claims import Verdict, find, ledger, verdicts
from focal_lib.claims.evidence import (
    HOLDS,
    All,
    Conditional,
    Counterexample,
    Derivation,
    Disproof,
    Measurement,
    Search,
    Unchecked,
    step,
)
from focal_lib.claims.ledger import PAPERS

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {claim.id: claim for claim in ledger()}
x = sp.Symbol("x")


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.needs is None])
def test_verdict_is_as_recorded(id):
    assert str(CLAIMS[id].verdict) == verdicts.recorded()[id]


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.needs == "runs"])
def test_measured_claims_reach_a_verdict(id):
    """Measured anew where make book has run; another processor may round a borderline case the other way."""
    assert CLAIMS[id].verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNCHECKABLE)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_claim_is_complete(claim):
    assert PAPERS[claim.paper] in claim.source
    assert claim.statement.strip()
    assert claim.check.__doc__, "without a docstring the book has no source to link to"
    assert set(claim.corrects) <= set(CLAIMS)
    assert (ROOT / "notebooks" / f"{claim.chapter}.py").exists()


def test_every_claim_is_on_record():
    assert list(verdicts.recorded()) == list(CLAIMS)
    assert "CHECK FAILED" not in verdicts.recorded().values()


def test_every_refuted_claim_has_a_correction_that_holds():
    on_record = verdicts.recorded()
    holding = {id for id, verdict in on_record.items() if verdict in (*map(str, HOLDS), "CONDITIONAL")}
    corrected = {id for claim in CLAIMS.values() if claim.id in holding for id in claim.corrects}
    assert {id for id, verdict in on_record.items() if verdict == "REFUTED"} <= corrected


def test_unknown_id_names_near_ones():
    with pytest.raises(ValueError, match=r"such as kk24.prop.*Got 'kk24.prp5'"):
        find("kk24.prp5")


def test_evidence_that_does_not_hold_fails():
    assert Derivation((step("x = x", x, x),)).verdict == Verdict.PROVED
    assert Derivation((step("x = 2x", x, 2 * x),)).verdict == Verdict.FAILED
    assert Derivation(()).verdict == Verdict.FAILED
    assert Counterexample("", flint.arb(1)).verdict == Verdict.REFUTED
    assert Counterexample("", flint.arb(0, 1)).verdict == Verdict.FAILED
    assert Search("", 10, -1e-3).verdict == Verdict.FAILED
    assert Search("", 0, 1.0).verdict == Verdict.FAILED
    assert Disproof(Derivation((step("", x, x),))).verdict == Verdict.REFUTED
    assert Disproof(Derivation((step("", x, 2 * x),))).verdict == Verdict.FAILED
    assert Measurement("", "1", 1.2, 1.0, 0.1).verdict == Verdict.NOT_REPRODUCED
    assert Measurement("", "1", 1.05, 1.0, 0.1).verdict == Verdict.REPRODUCED
    assert Measurement("", "1", 1.05).verdict == Verdict.FAILED


def test_verdicts_combine_to_the_weakest():
    proved = Derivation((step("", x, x),))
    refuted = Counterexample("", flint.arb(1))
    assert All((proved, Search("", 1, 1.0))).verdict == Verdict.NUMERIC
    assert All(()).verdict == Verdict.FAILED
    assert Conditional("", proved, refuted).verdict == Verdict.CONDITIONAL
    assert Conditional("", proved, proved).verdict == Verdict.FAILED
    assert Unchecked("no data").verdict == Verdict.UNCHECKABLE
