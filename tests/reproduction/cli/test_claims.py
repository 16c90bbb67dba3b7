"""focal claims: list, explain, verify, record."""

import json
import re
from fractions import Fraction

import pytest
from click.testing import CliRunner

from focal_lib.cli import main
from reproduction.ledger import formal, ledger, reviewed, verdicts
from reproduction.ledger.certificates import checker
from reproduction.ledger.reviewed import Difference
from reproduction.ledger.verdicts import Check, Record


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, ["claims", *args])


def test_lists_every_claim_with_its_recorded_verdict(run):
    lines = run().output.splitlines()
    on_record = verdicts.records()
    for line, claim in zip(lines, ledger(), strict=True):
        verdict, id = re.split(r" {2,}", line)[:2]
        assert verdict == (on_record[claim.id].label if claim.id in on_record else "not on record")
        assert id == claim.id


def test_columns_are_as_wide_as_what_is_in_them(run, monkeypatch):
    """Also with the widest verdict there is."""
    formal = {"kk24.prop5": Record("REFUTED", formal=True), "kk24.prop1": Record("PROVED", formal=True)}
    on_record = verdicts.records() | formal
    monkeypatch.setattr(verdicts, "records", lambda: on_record)
    lines = run("--paper", "kk24").output.splitlines()
    starts = {line.index(re.split(r" {2,}", line)[1]) for line in lines}
    assert starts == {max(len(on_record[claim.id].label) for claim in ledger("kk24")) + 2}
    assert min(starts) >= len("REFUTED (FORMALLY PROVED)") + 2
    assert [line for line in lines if line.startswith("FORMALLY PROVED  ") and " kk24.prop1 " in line]


def test_finds_by_a_part_of_an_id_or_of_the_statement(run):
    listed = run("PROP5").output.splitlines()
    assert len(listed) > 5
    assert all("kk24.prop5" in line for line in listed[:5])
    assert "Evidence" not in "".join(listed)
    assert "1. ✓" in run("prop5_sublemma").output  # one match is explained
    assert "kn24.theorem1" in run("curvature of the loss SURFACE").output
    missed = run("prop5_sublema")
    assert missed.exit_code == 1
    assert "kk24.prop5_sublemma" in missed.output
    assert "is retired, see m20.prop2_inequality" in run("m20.prop2").output


def test_one_thing_at_a_time(run, tmp_path):
    assert "Got --json, --verify" in run("--json", "--verify").output
    assert "needs the id of a claim" in run("prop5", "--boxes", str(tmp_path / "boxes.json")).output
    assert "must come with --verify or --record" in run("--statements").output


def test_lists_one_paper(run):
    lines = run("--paper", "l25").output.splitlines()
    assert len(lines) == len(ledger("l25"))
    assert "must be one of kk24, m20, kn24, l25. Got 'x'" in run("--paper", "x").output


def test_explains_a_claim(run):
    text = run("kk24.prop5").output
    assert "REFUTED" in text
    assert "0.333" in text
    assert "Put right by `kk24.prop5_threshold`" in text
    assert "*What would change the verdict*: " in text
    assert "<details>" not in text


def test_verify_passes_and_fails_on_a_changed_verdict(run, monkeypatch, tmp_path):
    assert run("kk24.prop1", "--verify").exit_code == 0
    changed = tmp_path / "verdicts.json"
    record = json.loads(verdicts.FILE.read_text())
    record["verdicts"]["kk24.prop1"] = "REFUTED"
    changed.write_text(json.dumps(record))
    monkeypatch.setattr(verdicts, "FILE", changed)
    result = run("kk24.prop1", "--verify")
    assert result.exit_code == 1
    assert re.search(r"kk24.prop1: REFUTED(, checked by Coq)? -> (FORMALLY )?PROVED", result.output)
    assert "0 of 1 verdicts as recorded." in result.output


def test_verify_shows_both_sides_of_a_statement_before_a_verdict_is_computed(run, monkeypatch):
    assert run("kk24.many_low", "--verify", "--statements").exit_code == 0
    other = Difference("kk24.many_low", "statement", "at least", "at most")
    monkeypatch.setattr(reviewed, "compare", lambda ids: [other] * ids.count("kk24.many_low"))
    monkeypatch.setattr(verdicts, "check_all", lambda ids: iter([]))
    shown = "kk24.many_low, statement\n  on record: at least\n  now:       at most\n"
    for options in (["--verify"], ["--verify", "--statements"]):
        result = run("kk24.many_low", *options)
        assert result.exit_code == 1
        assert result.stdout.startswith(shown)


def test_verify_names_evidence_that_is_another(run, monkeypatch):
    before, now = Record("PROVED", evidence="Derivation(12 Step)"), Record("PROVED", evidence="Derivation(2 Step)")
    monkeypatch.setattr(verdicts, "check_all", lambda ids: iter([Check("kk24.many_high", now, before)]))
    result = run("kk24.many_high", "--verify")
    assert result.exit_code == 1
    assert "kk24.many_high: evidence Derivation(12 Step) -> Derivation(2 Step)\n" in result.output


def test_verify_says_where_the_formal_proofs_are_of_other_sources(run, monkeypatch):
    assert "Formal proofs are" not in run("kk24.prop1", "--verify").output
    monkeypatch.setattr(formal, "stale", lambda: True)
    monkeypatch.setattr(formal, "kernel_checked", frozenset)
    result = run("kk24.prop1", "--verify")
    assert result.exit_code == 1
    assert "kk24.prop1: FORMALLY PROVED (PROVED without Coq) -> PROVED\n" in result.output
    assert result.output.endswith("Formal proofs are recorded of another version of `proofs/` (`make proofs`).\n")


def test_record_says_what_changed_and_where_it_was_written(run, monkeypatch):
    """Recording itself is in test_verdicts; here nothing may come near the project's own record."""
    check, taken = Check("kk24.prop1", Record("REFUTED", "never"), Record("PROVED")), []
    monkeypatch.setattr(reviewed, "record", lambda ids: [Difference(*ids, "statement", "always", "never")])
    monkeypatch.setattr(verdicts, "check_all", lambda ids: iter([check]))
    monkeypatch.setattr(verdicts, "record", lambda checks, _: taken.extend(checks))
    result = run("kk24.prop1", "--record")
    assert taken == [check]
    assert (
        "kk24.prop1, statement\n  on record: always\n  now:       never\n1 differences -> reviewed.json\n"
        in result.output
    )
    assert "\nkk24.prop1: PROVED -> REFUTED, never\n" in result.output
    assert result.output.endswith("1 verdicts -> verdicts.json, README.md\n")
    taken.clear()
    assert run("kk24.prop1", "--record", "--statements").output.endswith("1 differences -> reviewed.json\n")
    assert taken == []

    def refuse(checks):
        raise FileNotFoundError("needs a checkout")

    monkeypatch.setattr(verdicts, "record", refuse)
    assert run("kk24.prop1", "--record").exit_code == 1


@pytest.mark.slow
def test_boxes_of_a_certificate_can_be_checked_elsewhere(run, tmp_path):
    out = tmp_path / "boxes.json"
    assert run("kk24.prop3_sharp_above", "--boxes", str(out)).exit_code == 0
    (certificate,) = json.loads(out.read_text())
    boxes = [checker.Box(Fraction(a), Fraction(b), k) for a, b, k in certificate["boxes"]["c3"]]
    assert checker.covers(boxes, Fraction(certificate["low"]), Fraction(certificate["high"]))
    assert "needs the id of a claim with a certificate" in run("kk24.prop1", "--boxes", str(out)).output
