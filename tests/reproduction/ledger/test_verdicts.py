"""The record: what counts as a change, and what may be written."""

import json

import pytest

from reproduction.ledger import ledger, tally, verdicts
from reproduction.ledger.verdicts import Check, Record

ALL = [Check(id, found, None) for id, found in verdicts.records().items()]
EMPTY = json.dumps({"verdicts": {}, "formal": [], "instead": {}, "evidence": {}, "words": {}})


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with a README and a record of its own."""
    (tmp_path / "README.md").write_text(f"before\n{tally.START}\nold\n{tally.END}\nafter\n")
    (tmp_path / "verdicts.json").write_text(EMPTY)
    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.json")
    monkeypatch.setattr(verdicts, "require_checkout", lambda what: tmp_path)
    return tmp_path


def test_record_writes_verdicts_and_readme(checkout):
    verdicts.record(reversed(ALL), tally.rewrite_readme)
    assert list(verdicts.recorded()) == [claim.id for claim in ledger()]
    text = (checkout / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "\nold\n" not in text
    says = "The map never lowers the top probability"
    assert f"| KK24 Prop. 5 | {says} | [confidence](notebooks/confidence.py) | **REFUTED** |" in text


def test_nothing_is_recorded_that_was_not_checked(checkout):
    with pytest.raises(ValueError, match=r"Got none of kk24.prop1"):
        verdicts.record(ALL[1:], tally.rewrite_readme)
    with pytest.raises(FileNotFoundError, match=r"recorded in results/ of the project. Got none for kk24.prop1"):
        verdicts.record([check._replace(missing=True) for check in ALL], tally.rewrite_readme)
    assert (checkout / "verdicts.json").read_text() == EMPTY


def test_one_claim_can_be_recorded_without_the_rest(checkout):
    """Who adds a claim need not train the book's networks."""
    verdicts.record(ALL, tally.rewrite_readme)
    before = verdicts.records()
    new = Check("kk24.prop2_below", Record("NUMERIC"), None)
    with pytest.raises(ValueError, match="Got CHECK FAILED"):
        verdicts.record([new._replace(now=Record("CHECK FAILED"))], tally.rewrite_readme)
    assert verdicts.records() == before
    verdicts.record([new], tally.rewrite_readme)
    assert verdicts.records() == before | {new.id: new.now}
    assert list(verdicts.records()) == list(before)


def test_what_counts_as_a_change():
    before = Record("PROVED", "up to 0.0012", formal=True)
    same = Check("kk24.prop1", before, before)
    assert not same.changed
    assert same._replace(now=before._replace(verdict="NUMERIC")).changed
    assert same._replace(now=before._replace(instead="up to 0.0013")).changed
    assert same._replace(now=before._replace(evidence="Derivation(1 Step)")).changed
    assert same._replace(now=before._replace(words="never above #")).changed
    assert same._replace(before=None).changed
    unchecked = same._replace(now=Record("UNCHECKABLE HERE"))
    assert unchecked.changed
    assert not unchecked._replace(missing=True).changed


def test_what_the_kernel_says_counts_where_it_is_known():
    formal = Record("PROVED", formal=True)
    lost = Check("kk24.prop1", formal._replace(formal=False), formal)
    assert lost.changed
    assert not lost._replace(proofs=False).changed
    assert lost._replace(proofs=False, now=Record("NUMERIC")).changed


def test_a_refutation_that_is_formal_stays_one():
    assert Record("PROVED", formal=True).in_full == "FORMALLY PROVED"
    assert Record("REFUTED", formal=True).in_full == "REFUTED"
    assert Record("REFUTED", formal=True).label == "REFUTED (FORMALLY PROVED)"
    assert Record("PROVED", formal=True).label == "FORMALLY PROVED"
    assert Record("REFUTED", "never", formal=True).describe() == "REFUTED, checked by Coq, never"
    assert Record("NUMERIC", formal=True).describe() == "FORMALLY PROVED (NUMERIC without Coq)"


def test_record_is_whole_json():
    content = json.loads(verdicts.FILE.read_text())
    assert set(content) == {"verdicts", "formal", "instead", "evidence", "words"}
    assert list(content["evidence"]) == list(content["verdicts"])


def test_a_text_for_another_verdict_is_stopped():
    verdicts.expect_verdict("REFUTED", "kk24.prop5", on_record={"kk24.prop5": "REFUTED"})
    with pytest.raises(ValueError, match=r"is written for kk24\.prop5: PROVED\. Got REFUTED"):
        verdicts.expect_verdict("PROVED", "kk24.prop5", on_record={"kk24.prop5": "REFUTED"})
    with pytest.raises(ValueError, match="Got None"):
        verdicts.expect_verdict("PROVED", "kk24.none")
