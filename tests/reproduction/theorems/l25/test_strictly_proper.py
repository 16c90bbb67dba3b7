"""Convexity of sums, and where the mapping of App. A.6 is unique: faults must fail."""

import operator

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.l25 import strictly_proper


def test_the_defect_of_a_product_is_not_the_sum_of_the_defects():
    assert strictly_proper.defect_step().holds
    assert not strictly_proper.defect_step(operator.mul).holds


def test_the_root_needs_the_slope_of_focal_loss(monkeypatch):
    assert strictly_proper.a6_mapping().verdict == Verdict.PROVED
    slope = symbols.focal_loss_slope
    monkeypatch.setattr(symbols, "focal_loss_slope", lambda *values: -slope(*values))
    assert strictly_proper.a6_mapping().verdict == Verdict.FAILED
    assert strictly_proper.a8_when().verdict == Verdict.FAILED
    assert strictly_proper.a8_reading().verdict == Verdict.FAILED


def test_without_a_slope_that_falls_the_order_is_not_kept(monkeypatch):
    assert strictly_proper.focal_improper().verdict == Verdict.PROVED
    slope = symbols.focal_loss_slope
    monkeypatch.setattr(symbols, "focal_loss_slope", lambda *values: -slope(*values))
    assert strictly_proper.focal_improper().verdict == Verdict.FAILED
    assert strictly_proper.order_preserving().verdict == Verdict.FAILED


def test_a_bound_that_grew_with_the_entropy_would_penalise_it():
    assert strictly_proper.entropy_rate_step().holds
    assert not strictly_proper.entropy_rate_step(strictly_proper.g).holds


def test_the_entropy_falls_from_one_half_for_two_classes():
    assert strictly_proper.entropy_slope_step().holds
    assert not strictly_proper.entropy_slope_step((1 - strictly_proper.q) / 2).holds
