"""The record: what counts as a change, and what may be written."""

import json

import pytest

from focal_lib.claims import ledger, readme, verdicts
from focal_lib.claims.verdicts import Check

ALL = [
    Check(claim.id, verdicts.recorded()[claim.id], verdicts.recorded_instead().get(claim.id, ""), None, "")
    for claim in ledger()
]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with a README and a record of its own."""
    (tmp_path / "README.md").write_text(f"before\n{readme.START}\nold\n{readme.END}\nafter\n")
    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.json")
    monkeypatch.setattr(verdicts, "require_checkout", lambda what: tmp_path)
    return tmp_path


def test_record_writes_verdicts_and_readme(checkout):
    verdicts.record(reversed(ALL))
    assert list(verdicts.recorded()) == [claim.id for claim in ledger()]
    text = (checkout / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "\nold\n" not in text
    assert (
        "| KK24 Prop. 5 | the map never lowers the top probability | [6](notebooks/06_confidence.py) | **REFUTED** |"
        in text
    )


def test_nothing_is_recorded_that_was_not_checked(checkout):
    with pytest.raises(ValueError, match=r"Got none of kk24.ce_overconfident"):
        verdicts.record(ALL[1:])
    without_runs = [check._replace(verdict="UNCHECKABLE HERE") for check in ALL]
    with pytest.raises(FileNotFoundError, match=r"which `make book` makes. Got none for kk24.ce_overconfident"):
        verdicts.record(without_runs)
    assert not (checkout / "verdicts.json").exists()


def test_what_counts_as_a_change():
    same = Check("kk24.fig2_error", "NOT REPRODUCED", "up to 0.0012", "NOT REPRODUCED", "up to 0.0012")
    assert not same.changed
    assert same._replace(verdict="REPRODUCED").changed
    assert same._replace(instead="up to 0.0013").changed
    assert same._replace(recorded=None).changed
    unchecked = Check("kk24.choose_by_nll", "UNCHECKABLE HERE", "", "REPRODUCED", "")
    assert unchecked.missing
    assert not unchecked.changed
    assert not same._replace(verdict="UNCHECKABLE HERE").missing  # it needs no runs


def test_record_is_whole_json():
    content = json.loads(verdicts.FILE.read_text())
    assert set(content) == {"verdicts", "instead"}
