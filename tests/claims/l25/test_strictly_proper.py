"""Convexity of sums, and where the mapping of App. A.6 is unique: faults must fail."""

import operator

from focal_lib.claims.evidence import Verdict
from focal_lib.claims.l25 import strictly_proper
from focal_lib.theory import symbols


def test_the_defect_of_a_product_is_not_the_sum_of_the_defects():
    assert strictly_proper.defect_step().holds
    assert not strictly_proper.defect_step(operator.mul).holds


def test_the_root_needs_the_slope_of_focal_loss(monkeypatch):
    assert strictly_proper.a6_mapping().verdict == Verdict.PROVED
    slope = symbols.focal_loss_slope
    monkeypatch.setattr(symbols, "focal_loss_slope", lambda *values: -slope(*values))
    assert strictly_proper.a6_mapping().verdict == Verdict.FAILED
    assert strictly_proper.a8_when().verdict == Verdict.FAILED
