"""The ledger as a whole; each claim's planted faults are in the tests of its module and of the lemmas."""

import inspect
import re

import pytest

from focal_lib.checkout import ROOT
from focal_lib.claims import Claim, Unchecked, Verdict, claim, find, ledger, verdicts
from focal_lib.claims import ledger as face
from focal_lib.claims.evidence import HOLDS
from focal_lib.claims.ledger import PAPERS

CLAIMS = {claim.id: claim for claim in ledger()}


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.needs != "runs"])
def test_verdict_is_as_recorded(id):
    assert str(CLAIMS[id].verdict) == verdicts.recorded()[id]
    assert CLAIMS[id].instead == verdicts.recorded_instead().get(id, "")


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.needs == "runs"])
def test_measured_claims_reach_a_verdict(id):
    """Measured anew where make book has run; another processor may round a borderline case the other way."""
    measured = (Verdict.REPRODUCED, Verdict.UNDECIDED, Verdict.NOT_REPRODUCED, Verdict.UNCHECKABLE)
    assert CLAIMS[id].verdict in measured


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
    assert set(verdicts.recorded_instead()) <= {id for id, claim in CLAIMS.items() if claim.headline}


def test_every_refuted_claim_has_a_correction_that_holds():
    on_record = verdicts.recorded()
    holding = {id for id, verdict in on_record.items() if verdict in (*map(str, HOLDS), "CONDITIONAL")}
    corrected = {id for claim in CLAIMS.values() if claim.id in holding for id in claim.corrects}
    assert {id for id, verdict in on_record.items() if verdict == "REFUTED"} <= corrected


def test_an_ece_is_named_with_its_bins():
    """Of claims about our own runs; the printed tables' are the papers'."""
    for entry in CLAIMS.values():
        if entry.needs and re.search(r"\bECE\b", entry.statement):
            assert re.search("equal width|equal mass", entry.statement), entry.id


def test_claims_import_lemmas_and_not_each_other():
    for path in (ROOT / "focal_lib" / "claims").glob("*/*.py"):
        imported = re.findall(r"from focal_lib\.claims\.(kk24|m20|kn24|l25)\b", path.read_text())
        assert not imported, f"{path} imports from {imported}"


def test_numbers_of_the_readme_are_computed():
    """A correction that is typed has no measured number in it."""
    typed = [c._instead for c in CLAIMS.values() if isinstance(c._instead, str)]
    assert not [text for text in typed if re.search(r"\d\.\d|\d+ of \d+|%", text)]


def test_unknown_id_names_near_ones():
    with pytest.raises(ValueError, match=r"such as kk24.prop.*Got 'kk24.prp5'"):
        find("kk24.prp5")
    with pytest.raises(ValueError, match=r"must be one of kk24, m20, kn24, l25. Got 'x'"):
        ledger("x")


def test_ids_lead_to_code():
    path, line = find("kk24.prop5").location.rsplit(":", 1)
    assert path == "focal_lib/claims/kk24/prop5.py"
    assert "def prop5()" in "".join((ROOT / path).read_text().splitlines()[int(line) - 1 : int(line) + 12])
    assert find("m20.weight_norm_late").location.startswith("focal_lib/claims/m20/regularisation.py:")


def test_without_its_runs_a_claim_is_unchecked_and_says_what_makes_them():
    def check():
        raise FileNotFoundError("run 12ab has no logits.npz")

    ledger_module = inspect.getmodule(face)
    for needs, expected in (("runs", "`make book`"), ("results/x", "results/x of the project")):
        found = ledger_module._where_present(check, needs)()
        assert isinstance(found, Unchecked)
        assert expected in found.reason
        assert "run 12ab has no logits.npz" in found.reason
    numbers = {"headline": "less", "_instead": lambda evidence: f"{evidence.measured:.2f}"}
    unchecked = Claim("kk24.new", "KK24", "x", "02_convexity", lambda: Unchecked(""), needs="runs", **numbers)
    assert unchecked.instead == ""


def test_options_of_a_claim_are_checked():
    options = {"source": "KK24", "statement": "x", "chapter": "02_convexity"}
    with pytest.raises(ValueError, match=r"needs must be 'runs' or 'results/<folder>'. Got 'run'"):
        claim("kk24.new", **options, needs="run")
    with pytest.raises(ValueError, match=r"instead must come with a headline"):
        claim("kk24.new", **options, instead="nothing")
    with pytest.raises(ValueError, match=r"claim id must be unique. Got 'kk24.prop1'"):
        claim("kk24.prop1", **options)(lambda: Unchecked(""))
