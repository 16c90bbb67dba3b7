"""Pages of one build tell each other what checks found: the same words, and no check that was told is repeated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.ledger import Claim, find

IDS = (  # a derivation, a condition, a measurement, and what is not to be measured here
    *("kk24.prop1", "kk24.prop2_differentiable", "kk24.accuracy_unchanged", "kk24.table1_ece", "m20.linear_bounded"),
)


def again(claim: Claim, check=None) -> Claim:
    """The claim as another page has it."""
    return replace(claim, check=check or claim.check)


def fail():
    raise AssertionError("checked once more")


@pytest.fixture
def build(tmp_path, monkeypatch) -> Path:
    """A build, with a folder of runs."""
    monkeypatch.setenv("FOCAL_CHECKED", str(tmp_path / "checked"))
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path / "runs"))
    (tmp_path / "runs" / "a").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("id", IDS)
def test_another_page_says_the_same_and_checks_nothing(build, id):
    first = again(find(id))
    told = again(first, fail)
    assert first.verdict == told.verdict
    for say in (Claim.describe, Claim.summary, Claim.proof, Claim._repr_markdown_):
        assert say(told) == say(first)
    assert (told.verdict_in_full, told.seconds) == (first.verdict_in_full, first.seconds)
    assert "CONDITIONAL (" in told.verdict_in_full or id != "kk24.prop2_differentiable"


def test_who_asks_for_the_evidence_gets_it(build):
    first = again(find("kk24.prop1"))
    assert first.verdict == again(first).verdict
    assert again(first).evidence == first.evidence
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(first, fail).evidence


def test_outside_a_build_nobody_tells(build, monkeypatch):
    monkeypatch.delenv("FOCAL_CHECKED")
    first = again(find("kk24.prop1"))
    assert first.verdict
    assert not (build / "checked").exists()
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(first, fail).verdict


def test_with_more_runs_a_claim_is_checked_again(build):
    first = again(find("kk24.prop1"))
    assert first.verdict == again(first, fail).verdict
    (build / "runs" / "a" / "logits.npz").write_bytes(b"1")
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(first, fail).verdict


def test_runs_that_come_during_a_check_leave_nothing_told(build):
    def check():
        (build / "runs" / "a" / "logits.npz").write_bytes(b"1")
        return find("kk24.prop1").evidence

    assert again(find("kk24.prop1"), check).verdict
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(find("kk24.prop1"), fail).verdict


def test_where_nothing_can_be_written_each_page_checks(build, monkeypatch):
    monkeypatch.setenv("FOCAL_CHECKED", "/dev/null/checked")
    first = again(find("kk24.prop1"))
    assert first.verdict == again(first).verdict
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(first, fail).verdict


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"verdict": "PROVED"', None])
def test_what_is_no_whole_word_is_none(build, damage):
    first = again(find("kk24.prop1"))
    assert first.verdict
    (file,) = (build / "checked").rglob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"verdict": "TRUE"}) if damage is None else damage)
    with pytest.raises(AssertionError, match="checked once more"):
        assert again(first, fail).verdict
    assert again(first).verdict == first.verdict


def test_a_check_that_was_done_here_is_what_counts_here(build):
    first = again(find("kk24.prop1"))
    assert first.evidence
    other = again(find("kk24.prop1"))
    assert other.verdict == first.verdict
    assert first._found[0] is first.evidence
