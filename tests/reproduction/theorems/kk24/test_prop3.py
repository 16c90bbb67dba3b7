"""What no constant can do, and the steps of the bounds for many classes, with faults."""

import numpy as np
import sympy as sp

from focal_lib.theory.maps import focal_logit_slope
from reproduction.ledger.certificates import formulas
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop3, prop3_many_classes


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


def test_the_comparison_of_derivatives_needs_the_true_slope(monkeypatch):
    assert prop3.prop3_proof_comparison_reading().verdict == Verdict.PROVED
    assert prop3.prop3_proof_increasing().verdict == Verdict.PROVED
    u = symbols.u
    monkeypatch.setattr(symbols, "u", lambda s: 2 * u(s))
    assert prop3.prop3_proof_comparison_reading().verdict == Verdict.FAILED
    assert prop3.prop3_proof_increasing().verdict == Verdict.FAILED
    assert prop3.prop3_proof_negative_gap().verdict == Verdict.FAILED


def test_bounds_as_wide_as_the_printed_ones_are_not_tighter(monkeypatch):
    assert prop3.fig3_tighter().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(prop3, "temperature_bounds", lambda g, radius: prop3.printed_temperature_bounds(g))
    assert prop3.fig3_tighter().verdict == Verdict.NOT_REPRODUCED


def test_the_slope_of_the_gap_is_below_half_the_logarithm():
    logits = np.linspace(0, 40, 401)
    for gamma in (1e-3, 0.3, 1.0, 4.0, 30.0, 1e3):
        slope = gamma + 1 - focal_logit_slope(logits, gamma)
        assert (slope < np.log1p(gamma) / 2).all()
