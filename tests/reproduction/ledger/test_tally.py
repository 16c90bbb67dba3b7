"""Two tallies of verdicts."""

import pytest

from reproduction.ledger import Verdict
from reproduction.ledger.tally import GROUPS, tally


def test_every_verdict_but_a_failed_check_has_one_group():
    grouped = [verdict for found in GROUPS.values() for verdict in found]
    assert sorted(grouped) == sorted(set(Verdict) - {Verdict.FAILED})


def test_counts_by_group():
    counts = tally(["PROVED", "NUMERIC", "REFUTED", "NOT CONFIRMED", "UNDECIDED"])
    assert counts == {
        "hold": 2,
        "hold under a condition": 0,
        "refuted or not reproduced": 2,
        "undecided": 1,
        "not checkable here": 0,
    }
    with pytest.raises(ValueError, match=r"Got CHECK FAILED"):
        tally(["CHECK FAILED"])
