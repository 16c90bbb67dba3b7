"""focal claims: list, explain, verify, record."""

import json
import re
from fractions import Fraction

import pytest
from click.testing import CliRunner

from focal_lib.claims import ledger, verdicts
from focal_lib.claims.verdicts import Check, Record
from focal_lib.cli import main
from focal_lib.theory.certificates import checker


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, ["claims", *args])


def test_lists_every_claim_with_its_recorded_verdict(run):
    lines = run().output.splitlines()
    for line, claim in zip(lines, ledger(), strict=True):
        assert line.startswith(verdicts.recorded()[claim.id])
        assert claim.id in line.split()


def test_lists_one_paper(run):
    lines = run("--paper", "l25").output.splitlines()
    assert len(lines) == len(ledger("l25"))
    assert "must be one of kk24, m20, kn24, l25. Got 'x'" in run("--paper", "x").output


def test_explains_a_claim(run):
    text = run("kk24.prop5").output
    assert "REFUTED" in text
    assert "0.333" in text
    assert "Corrected by" in text


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


def test_record_refuses_a_part_of_the_ledger_and_says_what_changed(run, monkeypatch):
    check = Check("kk24.prop1", Record("REFUTED", "never"), Record("PROVED"))
    monkeypatch.setattr(verdicts, "check_all", lambda ids: iter([check]))
    result = run("kk24.prop1", "--record")
    assert result.exit_code == 1
    assert "kk24.prop1: PROVED -> REFUTED, never" in result.output
    assert "every claim must be checked to be recorded" in result.output


def test_boxes_of_a_certificate_can_be_checked_elsewhere(run, tmp_path):
    out = tmp_path / "boxes.json"
    assert run("kk24.prop3_sharp_above", "--boxes", str(out)).exit_code == 0
    (certificate,) = json.loads(out.read_text())
    boxes = [checker.Box(Fraction(a), Fraction(b), k) for a, b, k in certificate["boxes"]["c3"]]
    assert checker.covers(boxes, Fraction(certificate["low"]), Fraction(certificate["high"]))
    assert "needs the id of a claim with a certificate" in run("kk24.prop1", "--boxes", str(out)).output
