"""Rates by hand, and expectations that are reached, are not, and are open."""

import pandas as pd
import pytest

from reproduction.studies.intervals.methods import OURS
from reproduction.studies.intervals.rates import ECE_BOOTSTRAP, TEST, judge_expectations, judged, rate


def _row(**own):
    plain = {
        "package": OURS,
        "kind": "interval",
        "method": "ECE",
        "samples": 200,
        "model": "calibrated",
        "calibrated": True,
        "limit": 0.05,
        "true": 0.0,
        "runs": 1000,
        "refused": 0,
        "hits": 0,
        "rejected": 0,
        "passed": 0,
        "failed": 0,
    }
    return plain | own


def test_a_gate_is_wrong_where_the_error_lies_on_the_other_side():
    rows = [_row(kind="gate", true=true, passed=7, failed=3) for true in (0.04, 0.06)]
    assert judged(pd.DataFrame(rows))["wrong"].tolist() == [3, 7]


def test_a_rate_leaves_out_what_was_refused():
    of = judged(pd.DataFrame([_row(hits=45, runs=60, refused=10), _row(hits=45, runs=50)]))
    (found,) = rate(of, "hits", ["method"]).to_dict("records")
    assert (found["count"], found["done"], found["rate"]) == (90, 100, 0.9)
    assert found["low"] == pytest.approx(0.8238, abs=1e-4)  # Clopper and Pearson of 90 of 100
    assert found["high"] == pytest.approx(0.9510, abs=1e-4)


def test_what_came_of_each_expectation():
    rows = [
        _row(hits=960),
        _row(hits=900, method="classwise", true=0.1),
        _row(kind="test", method=TEST, rejected=50),
        _row(kind="test", method=TEST, rejected=990, calibrated=False, model="overconfident", samples=5000, true=0.1),
        _row(kind="gate", method="check", failed=100),
        _row(package="torchmetrics", method=ECE_BOOTSTRAP, hits=0),
    ]
    found = judge_expectations(pd.DataFrame(rows)).set_index(["expectation", "method"])["came"]
    assert found["intervals hold", "ECE"] == "reached"
    assert found["intervals hold", "classwise"] == "not reached"
    assert found["test rejects calibrated", TEST] == "open"
    assert found["test finds", TEST] == "reached"
    assert found["check is wrong", "check"] == "not reached"
    assert found["bootstrap holds", ECE_BOOTSTRAP] == "reached"
