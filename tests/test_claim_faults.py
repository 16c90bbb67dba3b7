"""A false variant of each kind of claim must fail its check."""

from fractions import Fraction

import sympy as sp

from focal_lib import certify, symbols
from focal_lib.claims import Verdict, find
from focal_lib.claims.evidence import Derivation, step
from focal_lib.claims.kk24 import prop1, prop3, prop5


def test_monotonicity_fails_just_above_gamma_c():
    assert prop3.monotone_certificate("5.635").verdict == Verdict.CERTIFIED
    assert prop3.monotone_certificate("5.65").verdict == Verdict.FAILED


def test_a_slope_bound_that_is_too_tight_fails():
    assert prop3.slope_certificate().verdict == Verdict.CERTIFIED
    assert prop3.slope_certificate(Fraction("0.77")).verdict == Verdict.FAILED  # the sup of the ratio is 0.7726


def test_a_certificate_with_a_box_missing_fails():
    from dataclasses import replace

    whole = prop3.monotone_certificate()
    assert replace(whole, boxes=whole.boxes[:5] + whole.boxes[6:]).verdict == Verdict.FAILED
    assert replace(whole, boxes=(*whole.boxes[:-1], (whole.boxes[-1][0], Fraction(7)))).verdict == Verdict.FAILED


def test_a_row_that_does_not_violate_is_no_counterexample():
    assert not prop5.drop(("0.6", "0.2", "0.1", "0.1"), "1") > 0
    assert prop1.negative_gamma_point("1/2").verdict == Verdict.FAILED  # convex there


def test_a_wrong_derivative_is_not_proved():
    q = symbols.q
    wrong = step("", sp.diff(symbols.focal_loss(), q), symbols.focal_loss_slope() + 1)
    assert Derivation((wrong,)).verdict == Verdict.FAILED


def test_threshold_claim_needs_the_true_factor():
    steps = prop5.threshold_steps()
    assert all(s.holds for s in steps)
    b, gamma, q = symbols.entropy_ratio(), symbols.gamma, symbols.q
    log_g = gamma * sp.log(1 - q) + sp.log(1 + gamma * b)
    assert not step("", sp.diff(log_g, q), -gamma * sp.log(q) / (1 - q)).holds


def test_ball_of_decimal_is_exact():
    with certify.precision():
        third = certify.exact("0.333")
        assert (third * 1000).contains(333)
        assert float(third.rad()) < 1e-30


def test_ids_lead_to_code():
    path, line = find("kk24.prop5").location.rsplit(":", 1)
    assert path == "focal_lib/claims/kk24/prop5.py"
    assert int(line) > 0
