"""The certificate that R'' changes sign at most once: faulty variants of it must fail."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from reproduction.ledger.certificates import checker
from reproduction.ledger.evidence import Certificate
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import turning


@pytest.fixture(scope="module")
def whole():
    return turning.turning_certificate()


@pytest.mark.slow
def test_monotone_up_to_gamma_c_and_not_above():
    assert turning.monotone_certificate("5.635").verdict == Verdict.CERTIFIED
    assert turning.monotone_certificate("5.65").verdict == Verdict.FAILED


@pytest.mark.slow
def test_a_certificate_with_a_box_missing_or_cut_fails(whole):
    name, boxes = "c3", whole.boxes["c3"]
    for faulty in (boxes[:5] + boxes[6:], boxes[:-1], (*boxes[:-1], replace(boxes[-1], high=Fraction(11))), ()):
        assert not replace(whole, boxes={**whole.boxes, name: faulty}).holds
    assert not replace(whole, boxes={k: v for k, v in whole.boxes.items() if k != name}).holds


@pytest.mark.slow
def test_a_certificate_for_a_function_that_is_not_positive_fails(whole):
    c0, *_, c3 = symbols.curvature_cubic()
    low = Certificate("", {"c3": c3 - sp.Rational(1, 1000)}, symbols.s, whole.boxes, whole.low, whole.high)
    assert not low.holds
    assert not replace(low, functions={"c3": c0}).holds
    assert replace(low, functions={"c3": c3}).verdict == Verdict.CERTIFIED


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
    first, *_, last = turning.far_coefficients()
    assert turning._far_enclosure(turning._far_slope(first, last), 1) < 0
    assert not turning._far_enclosure(turning._far_slope(-first, last), 1) < 0
    assert turning._far_enclosure(last, 0) > 0
    assert not turning._far_enclosure(-last, 0) > 0


def test_far_from_zero_a_term_that_grows_too_fast_is_refused():
    with pytest.raises(ValueError, match=r"degree 0 in s at most. Got s\^1"):
        turning._far_enclosure(symbols.s + 1, 0)
