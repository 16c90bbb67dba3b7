"""A false variant of each kind of claim must fail its check."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from focal_lib.claims import Verdict, find
from focal_lib.claims.evidence import Certificate, Derivation, step
from focal_lib.claims.kk24 import prop1, prop3_sharp, prop5, prop5_each_n
from focal_lib.claims.l25 import thm45
from focal_lib.claims.lemmas import fcl_minimiser
from focal_lib.claims.lemmas.threshold import threshold_steps
from focal_lib.claims.m20 import app_h, prop2
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, checker
from focal_lib.theory.gain import lambert_gamma, log_gain


def test_monotonicity_fails_just_above_gamma_c():
    assert prop3_sharp.monotone_certificate("5.635").verdict == Verdict.CERTIFIED
    assert prop3_sharp.monotone_certificate("5.65").verdict == Verdict.FAILED


def test_a_certificate_with_a_box_missing_or_cut_fails():
    whole = prop3_sharp.turning_certificate()
    name, boxes = "c3", whole.boxes["c3"]
    for faulty in (boxes[:5] + boxes[6:], boxes[:-1], (*boxes[:-1], replace(boxes[-1], high=Fraction(11))), ()):
        assert not replace(whole, boxes={**whole.boxes, name: faulty}).holds()
    assert not replace(whole, boxes={k: v for k, v in whole.boxes.items() if k != name}).holds()


def test_a_certificate_for_a_function_that_is_not_positive_fails():
    whole = prop3_sharp.turning_certificate()
    c0, *_, c3 = symbols.curvature_cubic()
    low = Certificate(
        "", {"c3": checker.on_series(c3 - sp.Rational(1, 1000), symbols.s)}, whole.boxes, whole.low, whole.high
    )
    assert not low.holds()
    negative = Certificate("", {"c3": checker.on_series(c0, symbols.s)}, whole.boxes, whole.low, whole.high)
    assert not negative.holds()
    assert replace(low, functions={"c3": checker.on_series(c3, symbols.s)}).verdict == Verdict.CERTIFIED


def test_checker_wants_the_whole_order():
    short = lambda z: z.derivative()  # noqa: E731  one coefficient fewer than asked for
    with pytest.raises(ValueError, match="order"):
        checker.positive(short, checker.Box(Fraction(0), Fraction(1)))


def test_a_slope_bound_one_percent_too_tight_fails():
    """(u - u(-s))' <= 2 log 2 - 1 is sharp at 0: with 0.99 of it the bound is false there."""
    slope = symbols.u(symbols.s) + symbols.u(-symbols.s) - 1
    bound = 2 * sp.log(2) - 1
    near, box = checker.on_series, checker.Box(Fraction(1, 10), Fraction(1, 5))
    assert checker.positive(near(bound - slope, symbols.s), box)
    assert not checker.positive(
        near(bound * sp.Rational(99, 100) - slope, symbols.s), checker.Box(Fraction(0), Fraction(1, 5))
    )


def test_far_from_zero_a_wrong_sign_fails():
    coefficients = prop3_sharp.far_coefficients()
    assert prop3_sharp._far_enclosure(coefficients[0], coefficients[3]) < 0
    assert not prop3_sharp._far_enclosure(-coefficients[0], coefficients[3]) < 0


def test_a_tied_row_rises_above_the_critical_gamma():
    assert prop5_each_n.tied_fall(4, Fraction("1.4"), Fraction(1, 10**6)) > 0
    assert prop5_each_n.tied_fall(4, Fraction("1.5"), Fraction(1, 10**6)) < 0


def test_faulty_variants_of_the_other_papers_fail():
    assert not thm45.gap_of_focal_minimiser("0.63", "0.5", 2, Fraction(1)) > 0  # away from the truth
    assert not app_h.entropy_change(("0.6", "0.3", "0.1"), "1") > 0
    good = fcl_minimiser.candidate(("0.5", "0.3", "0.2"), 1.0, 1.0)
    moved = [good[0] + Fraction(1, 1000), good[1] - Fraction(1, 1000), good[2]]
    assert fcl_minimiser.slack(good, ("0.5", "0.3", "0.2"), Fraction(1)) < 1e-12
    assert fcl_minimiser.slack(moved, ("0.5", "0.3", "0.2"), Fraction(1)) > 1e-4


def test_a_wrong_lambert_branch_is_not_the_root():
    assert all(s.holds for s in prop2.lambert_steps())
    assert abs(log_gain(0.3, lambert_gamma(0.3))) < 1e-14
    assert abs(log_gain(0.3, 1.01 * lambert_gamma(0.3))) > 1e-4


def test_a_row_that_does_not_violate_is_no_counterexample():
    assert not prop5.drop(("0.6", "0.2", "0.1", "0.1"), "1") > 0
    assert prop1.negative_gamma_point("1/2").verdict == Verdict.FAILED  # convex there


def test_a_wrong_derivative_is_not_proved():
    q = symbols.q
    wrong = step("", sp.diff(symbols.focal_loss(), q), symbols.focal_loss_slope() + 1)
    assert Derivation((wrong,)).verdict == Verdict.FAILED


def test_threshold_claim_needs_the_true_factor():
    steps = threshold_steps()
    assert all(s.holds for s in steps)
    b, gamma, q = symbols.entropy_ratio(), symbols.gamma, symbols.q
    log_g = gamma * sp.log(1 - q) + sp.log(1 + gamma * b)
    assert not step("", sp.diff(log_g, q), -gamma * sp.log(q) / (1 - q)).holds


def test_ball_of_decimal_is_exact():
    with balls.precision():
        third = balls.exact("0.333")
        assert (third * 1000).contains(333)
        assert float(third.rad()) < 1e-30


def test_ids_lead_to_code():
    path, line = find("kk24.prop5").location.rsplit(":", 1)
    assert path == "focal_lib/claims/kk24/prop5.py"
    assert int(line) > 0
