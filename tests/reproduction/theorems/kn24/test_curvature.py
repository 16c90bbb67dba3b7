"""Where the curvature ratios cross 1: a wrong digit must fail, and so must another gain."""

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kn24 import curvature


def test_a_wrong_digit_is_no_crossing():
    ratio = symbols.probability_curvature_ratio(curvature.q, curvature.g)
    assert curvature._crossings(ratio, {2: "0.7905"}).holds
    assert not curvature._crossings(ratio, {2: "0.7906"}).holds


def test_the_shape_needs_the_true_gain(monkeypatch):
    assert curvature.curvature_logit_high().verdict == Verdict.PROVED
    gain = symbols.gain
    monkeypatch.setattr(symbols, "gain", lambda *values: gain(*values) * (1 - values[0]))
    assert curvature.curvature_logit_high().verdict == Verdict.FAILED
    assert curvature.curvature_probability_high().verdict == Verdict.FAILED
