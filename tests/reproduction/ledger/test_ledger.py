"""The ledger as a whole; each claim's planted faults are in the tests of its module and of the lemmas."""

import inspect
import re
import sys
from dataclasses import replace

import pytest

from reproduction.checkout import ROOT
from reproduction.ledger import Claim, Measurement, Unchecked, Verdict, claim, find, ledger, verdicts
from reproduction.ledger import ledger as face
from reproduction.ledger.judgement import HOLDS
from reproduction.ledger.ledger import PAPERS, RETIRED, Fidelity, Rows
from tests.quick import quick_but_for

CLAIMS = {claim.id: claim for claim in ledger()}


TAKE_SECONDS = (  # their evidence is fits or certificates
    "kk24.negative_bounds",
    "kk24.negative_confidence_falls",
    "kk24.negative_inverse_sigmoid",
    "l25.fig7_calibration",
    "l25.fig7_sharp",
    "l25.fig7_smoother",
    "m20.linear_high_never",
    "m20.linear_underconfident",
)


OF_MANY_FITS = {id for id, claim in CLAIMS.items() if claim.needs == "results/fashion-mnist"}


@pytest.mark.parametrize("id", quick_but_for({*TAKE_SECONDS, *OF_MANY_FITS}, CLAIMS))
def test_verdict_is_as_recorded(id):
    now, before = CLAIMS[id], verdicts.records()[id]
    assert (now.without_kernel, now.instead) == (before.verdict, before.instead)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_claim_is_complete(claim):
    assert PAPERS[claim.paper] in claim.source
    assert claim.statement.strip()
    shown = inspect.getmembers(sys.modules[claim.check.__module__], inspect.isfunction)
    shown = [name for name, one in shown if one.__doc__ and one.__module__ == claim.check.__module__]
    assert claim.function in shown or not claim.function, "without a docstring the book has no source to link to"
    assert any(not name.startswith("_") for name in shown), "nor where a module of rows has no public function"
    assert set(claim.corrects) <= set(CLAIMS)
    assert (ROOT / "notebooks" / f"{claim.chapter}.py").exists()


def test_claims_that_take_seconds_are_claims():
    assert set(TAKE_SECONDS) <= set(CLAIMS)


def test_every_claim_is_on_record():
    assert list(verdicts.recorded()) == list(CLAIMS)
    assert "CHECK FAILED" not in verdicts.recorded().values()


def test_every_refuted_claim_has_a_correction_that_holds():
    on_record = verdicts.recorded()
    holding = {id for id, verdict in on_record.items() if verdict in (*map(str, HOLDS), "CONDITIONAL")}
    corrected = {id for claim in CLAIMS.values() if claim.id in holding for id in claim.corrects}
    assert {id for id, verdict in on_record.items() if verdict == "REFUTED"} <= corrected


def test_an_ece_is_named_with_its_bins():
    """Of claims about our own runs; the printed tables' are the papers'."""
    for entry in CLAIMS.values():
        if str(entry.needs).startswith("results/") and re.search(r"\bECE\b", entry.statement):
            assert re.search("equal width|equal mass", entry.statement), entry.id


def test_claims_import_lemmas_and_not_each_other():
    paths = [
        path for paper in ("kk24", "m20", "kn24", "l25") for path in ROOT.glob(f"reproduction/theorems/{paper}/*.py")
    ]
    assert len(paths) > 20
    for path in paths:
        imported = re.findall(r"from reproduction\.theorems\.(kk24|m20|kn24|l25)\b", path.read_text())
        assert not imported, f"{path} imports from {imported}"


def test_numbers_of_the_readme_are_computed():
    """A correction that is typed has no measured number in it."""
    typed = [c._instead for c in CLAIMS.values() if isinstance(c._instead, str)]
    assert not [text for text in typed if re.search(r"\d\.\d|\d+ of \d+|%", text)]


def test_the_words_of_a_claim_are_its_own_and_hold_no_number_that_data_decide():
    assert len({" ".join(c.short.casefold().split()) for c in CLAIMS.values()}) == len(CLAIMS)
    for c in CLAIMS.values():
        said = c.short
        assert 4 <= len(said.split()) <= 14, c.id
        assert not re.search(r"[$\\\\]|%|\d+ of \d+", said), c.id
        assert not said.endswith("."), c.id
        verdict_words = r"\b(?:refuted|reproduced|confirmed|undecided|uncheckable|wrong|false|is true|not so)\b"
        assert not re.search(verdict_words, said) or "Read as" in said, (c.id, "a claim, not its verdict")
        decimals = c.statement.replace(r"\frac12", "0.5").replace(r"\frac92", "4.5")
        for number in re.findall(r"\d+\.\d+", said):
            assert number in decimals, (c.id, number)


def test_a_statement_that_is_as_short_is_not_said_twice():
    assert find("m20.nll_not_convex").short == "NLL is not a convex function of temperature"
    twice = [c.id for c in CLAIMS.values() if c.short == c.statement.removesuffix(".")]
    assert sorted(twice) == ["m20.nll_local_optimum", "m20.nll_not_convex"]


def test_unknown_id_names_near_ones():
    with pytest.raises(ValueError, match=r"such as kk24.prop.*Got 'kk24.prp5'"):
        find("kk24.prp5")
    with pytest.raises(ValueError, match=r"must be one of kk24, m20, kn24, l25. Got 'x'"):
        ledger("x")


def test_ids_lead_to_code():
    path, line = find("kk24.prop5").location.rsplit(":", 1)
    assert path == "reproduction/theorems/kk24/prop5.py"
    assert "def prop5()" in "".join((ROOT / path).read_text().splitlines()[int(line) - 1 : int(line) + 12])
    assert find("m20.weight_norm_late").location.startswith("reproduction/studies/epochs/claims_regularisation.py:")


def test_without_its_runs_a_claim_is_unchecked_and_says_which():
    def check():
        raise FileNotFoundError("run 12ab has no logits.npz")

    ledger_module = inspect.getmodule(face)
    found = ledger_module._where_present(check, "results/x")()
    assert isinstance(found, Unchecked)
    assert found.reason == "needs the runs recorded in results/x of the project: run 12ab has no logits.npz"
    numbers = {"_instead": lambda evidence: f"{evidence.measured:.2f}"}
    unchecked = Claim(
        "kk24.new", "It is less.", "KK24", "x", "convexity", lambda: Unchecked(""), needs="results/x", **numbers
    )
    assert unchecked.instead == ""


def test_options_of_a_claim_are_checked():
    options = {"source": "KK24", "statement": "x", "chapter": "convexity", "fidelity": "quoted"}
    with pytest.raises(ValueError, match=r"needs must be 'results/<folder>' or PRINTED. Got 'runs'"):
        claim("kk24.new", **options, needs="runs")
    for short in ("So it is", "word " * 15, "The gap falls as $T$ grows"):
        with pytest.raises(
            ValueError, match=r"short must be four to fourteen words, without a formula. Got .* for 'kk24.new'"
        ):
            claim("kk24.new", **options, short=short)
    with pytest.raises(ValueError, match=r"short must be four to fourteen words, .*Got 'x' for 'kk24.new'"):
        claim("kk24.new", **options)  # nor is its statement
    with pytest.raises(ValueError, match=r"fidelity must be one of 'quoted', .*'ours'. Got 'exact'"):
        claim("kk24.new", **options | {"fidelity": "exact"})
    with pytest.raises(ValueError, match=r"fidelity must be 'ours' for a correction. Got 'quoted' for 'kk24.new'"):
        claim("kk24.new", **options, corrects="kk24.prop1")
    with pytest.raises(ValueError, match=r"in_readme must be of a paper's claim.*Got 'ours'"):
        claim("kk24.new", **options | {"fidelity": "ours"}, in_readme=True)
    with pytest.raises(ValueError, match=r"retired one: 'm20.entropy_always' is now m20.entropy_binary"):
        claim("m20.entropy_always", **options)


def test_an_id_is_taken_by_one_check(monkeypatch):
    """By whatever file the second is in; a module that is loaded again registers its claims again."""
    ledger_module = inspect.getmodule(face)
    monkeypatch.setattr(ledger_module, "_REGISTRY", dict(ledger_module._REGISTRY))
    options = {"source": "KK24", "statement": "It is said to be so.", "chapter": "convexity", "fidelity": "quoted"}
    with pytest.raises(ValueError, match=r"claim id must be unique. Got 'kk24.prop1'"):
        claim("kk24.prop1", **options)(lambda: Unchecked(""))

    def one():
        return Unchecked("one")

    def two():
        return Unchecked("two")

    for needs in (None, "results/x"):
        id = f"kk24.new_{needs}"
        for _ in range(2):
            claim(id, **options, needs=needs)(one)
        with pytest.raises(ValueError, match=rf"claim id must be unique. Got '{id}' of .*\.one and of .*\.two\."):
            claim(id, **options, needs=needs)(two)
        assert find(id).evidence.reason == "one"


def test_a_row_is_a_claim_on_its_line_and_no_id_is_that_of_another_row(monkeypatch):
    monkeypatch.setattr(sys.modules[Rows.__module__], "_REGISTRY", registry := {})
    add = Rows("text", "ours", needs="results/texts")
    add("m20.new", "", "M20", "It is said to be so.", lambda: Unchecked("not yet"))
    add(
        "m20.other",
        "",
        "M20",
        "It is said to be so.",
        lambda: Unchecked("not yet"),
        chapter="table1",
        needs="results/x",
    )

    @add("m20.third", "", "M20", "It is said to be so.")
    def third():
        return Unchecked("never")

    one, other, decorated = registry.values()
    assert (decorated.function, decorated.needs, decorated.evidence.reason) == ("third", "results/texts", "never")
    assert (one.chapter, one.needs, one.fidelity, one.function) == ("text", "results/texts", "ours", "")
    assert (other.chapter, other.needs, other.line > one.line) == ("table1", "results/x", True)
    assert one.evidence == Unchecked("not yet")
    with pytest.raises(ValueError, match=r"must be unique\. Got 'm20\.new'"):
        add("m20.new", "", "M20", "It is said to be so.", lambda: Unchecked("not yet"))


def test_retired_ids_lead_to_what_took_their_place():
    for id, now in RETIRED.items():
        assert id not in CLAIMS
        assert set(now.split(", ")) <= set(CLAIMS)
        with pytest.raises(ValueError, match=rf"{id}' is retired, see {now}"):
            find(id)


def test_what_is_refuted_is_a_papers():
    """A false statement that no paper makes is no claim to refute; and a quotation is one."""
    refuted = {id for id, verdict in verdicts.recorded().items() if verdict == "REFUTED"}
    assert not [id for id in refuted if not CLAIMS[id].of_paper]
    assert not [
        c.id for c in CLAIMS.values() if c.fidelity == "quoted" and not re.search(r"'|[\\]ge|[\\]approx", c.statement)
    ]


def test_a_statement_of_ours_is_confirmed_not_reproduced():
    assert not {
        id for id, found in verdicts.recorded().items() if found.endswith("REPRODUCED") and not CLAIMS[id].of_paper
    }
    measured = Claim("kk24.new", "It is less.", "KK24", "x", "convexity", lambda: Measurement("", "1", 1.0, 1.0, 0.1))
    assert measured.verdict == Verdict.CONFIRMED
    assert replace(measured, fidelity=Fidelity.QUOTED).verdict == Verdict.REPRODUCED
