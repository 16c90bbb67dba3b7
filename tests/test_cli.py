"""The focal command on claims."""

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from focal_lib import checker
from focal_lib.claims import ledger, record
from focal_lib.cli import main


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, args)


def test_lists_every_claim_without_checking(run):
    lines = run("claims").output.splitlines()
    assert len(lines) == len(ledger())
    assert lines[0].split() == ["PROVED", "kk24.prop1", "KK24", "Prop.", "1,", "App.", "A.1"] or "kk24." in lines[0]


def test_lists_one_paper(run):
    lines = run("claims", "--paper", "l25").output.splitlines()
    assert len(lines) == len(ledger("l25"))
    assert "must be one of kk24, m20, kn24, l25. Got 'x'" in run("claims", "--paper", "x").output


def test_explains_a_claim(run):
    text = run("claims", "kk24.prop5").output
    assert "REFUTED" in text
    assert "0.333" in text


def test_verify_passes_and_fails_on_a_changed_verdict(run, monkeypatch, tmp_path):
    assert run("claims", "kk24.prop1", "--verify").exit_code == 0
    changed = tmp_path / "verdicts.json"
    changed.write_text(json.dumps(record.recorded() | {"kk24.prop1": "REFUTED"}))
    monkeypatch.setattr(record, "FILE", changed)
    result = run("claims", "kk24.prop1", "--verify")
    assert result.exit_code == 1
    assert "kk24.prop1: REFUTED -> PROVED" in result.output


def test_boxes_of_a_certificate_can_be_checked_elsewhere(run, tmp_path):
    out = tmp_path / "boxes.json"
    assert run("claims", "kk24.prop3_sharp_above", "--boxes", str(out)).exit_code == 0
    (certificate,) = json.loads(out.read_text())
    boxes = [checker.Box(Fraction(a), Fraction(b), k) for a, b, k in certificate["boxes"]["c3"]]
    assert checker.covers(boxes, Fraction(certificate["low"]), Fraction(certificate["high"]))
    assert "needs the id of a claim with a certificate" in run("claims", "kk24.prop1", "--boxes", str(out)).output
