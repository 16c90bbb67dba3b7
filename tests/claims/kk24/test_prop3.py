"""What no constant can do, and the steps of the bounds for many classes, with faults."""

import sympy as sp

from focal_lib.claims.evidence import Verdict
from focal_lib.claims.kk24 import prop3, prop3_many_classes
from focal_lib.theory import symbols
from focal_lib.theory.certificates import formulas


def test_a_derivative_below_the_bound_is_no_gap(monkeypatch):
    assert prop3.prop3_proof_gap().verdict == Verdict.PROVED
    slope = formulas.logit_gap_slope
    monkeypatch.setattr(formulas, "logit_gap_slope", lambda s, g: slope(s, g) / 2)
    assert prop3.prop3_proof_gap().verdict == Verdict.FAILED


def test_the_bounds_for_many_classes_need_the_true_map(monkeypatch):
    gain = symbols.gain
    monkeypatch.setattr(symbols, "gain", lambda *values: gain(*values) * sp.exp(values[0]))
    assert prop3_many_classes.many_high().verdict == Verdict.FAILED
    assert prop3_many_classes.many_low().verdict == Verdict.FAILED
