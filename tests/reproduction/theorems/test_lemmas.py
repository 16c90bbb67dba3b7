"""The lemmas: a published number that is off, a faulty certificate, and each error of a step must be noticed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb

from focal_lib.theory import gain
from focal_lib.theory.gain import elasticity as exact_elasticity
from focal_lib.theory.temperature_bounds import beta
from reproduction.ledger.certificates import checker
from reproduction.ledger.evidence import Certificate, Derivation, step
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop3_sharp
from reproduction.theorems.lemmas import published, turning
from reproduction.theorems.lemmas.binary_map import gap_slope_steps, logit_form_steps, logit_gap_steps


def test_errors_of_one_step_do_not_cancel():
    x = sp.Symbol("x")
    assert step("both", (x, x), (1, 1)).holds
    assert not step("0 for 1 and 1 for 0: the sum is right", (0, 1), (1, 0)).holds
    assert not step("none").holds


def test_a_step_of_two_lemmas_stands_once():
    steps = gap_slope_steps()
    assert Derivation((*steps, *logit_gap_steps(), *steps)).steps[: len(steps)] == steps
    assert len(set(Derivation((*steps, *steps)).steps)) == len(steps)


@pytest.mark.slow
def test_the_turning_certificate_hangs_on_the_printed_map():
    assert set(logit_form_steps()) <= set(turning.turning_certificate().remainder)


def off(function, factor):
    return lambda *args: factor * function(*args)


@pytest.mark.parametrize("factor", [0.99, 1.01, 1 + 1e-9])
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("confidence_threshold", published.threshold_step),
        ("critical_gamma", published.critical_gamma_step),
        ("lambert_gamma", published.lambert_step),
    ],
)
def test_a_root_that_is_off_fails(monkeypatch, name, made, factor):
    assert made().holds
    monkeypatch.setattr(published, name, off(getattr(published, name), factor))
    assert not made().holds


@pytest.mark.parametrize(
    "fault",
    [
        lambda q, gamma: 2 - exact_elasticity(q, gamma),
        lambda q, gamma: 2 * gamma * q / (1 - q) + 2 - exact_elasticity(q, gamma),  # the sign of the part with b'
        lambda q, gamma: exact_elasticity(q, gamma + 1e-9),
    ],
)
def test_a_smallest_elasticity_that_is_off_fails(monkeypatch, fault):
    assert published.elasticity_step().holds
    monkeypatch.setattr(gain, "elasticity", fault)
    assert not published.elasticity_step().holds
    assert find("kk24.many_high").check().verdict == Verdict.FAILED


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_slope_that_is_off_fails(monkeypatch, factor):
    assert published.slope_step().holds
    exact = published.beta_at_zero
    monkeypatch.setattr(published, "beta_at_zero", lambda g, log2: g + 1 + factor * (exact(g, log2) - g - 1))
    assert not published.slope_step().holds


@pytest.mark.slow
def test_a_turning_point_that_is_off_fails(monkeypatch):
    exact = published.largest_monotone_gamma
    for factor, holds in ((1, True), (0.99, False), (1.01, False)):
        monkeypatch.setattr(published, "largest_monotone_gamma", off(exact, factor))
        assert all(step.holds for step in published.turning_steps()) == holds


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("confidence_threshold", "kk24.prop5_threshold"),
        ("confidence_threshold", "kk24.prop5_threshold_sharp"),
        ("critical_gamma", "kk24.prop5_n_fails"),
        ("critical_gamma", "kk24.prop5_n_holds"),
    ],
)
def test_a_claim_falls_with_the_number_it_names(monkeypatch, name, id):
    monkeypatch.setattr(published, name, off(getattr(published, name), 1.01))
    assert find(id).check().verdict == Verdict.FAILED


@pytest.mark.slow
def test_no_other_gamma_passes_for_the_turning_one(monkeypatch):
    """Below gamma_c the certificate holds, too: that alone is no 'if and only if'."""
    proved = Derivation((step("", True),))
    monkeypatch.setattr(turning, "monotone_certificate", lambda gamma: proved)
    exact = published.largest_monotone_gamma
    for factor, verdict in (
        (1, Verdict.CONDITIONAL),
        (0.5, Verdict.FAILED),
        (0.99, Verdict.FAILED),
        (1.01, Verdict.FAILED),
    ):
        for module in (published, prop3_sharp):
            monkeypatch.setattr(module, "largest_monotone_gamma", off(exact, factor))
        assert prop3_sharp.prop3_sharp().verdict == verdict


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
    with pytest.raises(ValueError, match=r"must decrease in s beyond 12. Got x\^0 s\^1"):
        turning._far_enclosure(symbols.s + 1, 0)


@pytest.fixture(scope="module")
def certificate():
    return turning.falling_certificate().parts[1]


@pytest.mark.slow
def test_it_holds_and_a_weaker_function_fails(certificate):
    assert certificate.verdict == Verdict.CERTIFIED
    for (name, function), slope in zip(certificate.functions.items(), ("1e-5", "1e-2"), strict=True):
        lower = {**certificate.functions, name: function - sp.Rational(slope) * symbols.s}
        assert not replace(certificate, functions=lower).holds


@pytest.mark.parametrize("name", list(turning.falling_functions()))
def test_beyond_the_boxes_a_wrong_sign_fails(name, monkeypatch):
    assert turning.beyond_enclosure(name) > 0
    opposite = {name: tuple(-w for w in turning._WEIGHTS[name])}
    monkeypatch.setattr(turning, "_WEIGHTS", opposite)
    assert not turning.beyond_enclosure(name) > 0


def test_the_enclosure_holds_the_function():
    """Over its leading term: x^3 s for the first, x for the second."""
    for (name, function), power in zip(turning.falling_functions().items(), (3, 1), strict=True):
        ball = turning.beyond_enclosure(name)
        for point in (4, 6, 10):
            value = sp.N((function * sp.exp(power * symbols.s)).subs(symbols.s, point), 30)
            assert ball.contains(arb(str(value / point if power == 3 else value)))


def test_beta_falls_for_negative_gamma():
    for gamma in (-0.99, -0.5, -0.05):
        assert (np.diff([beta(s, gamma) for s in np.geomspace(0.01, 40, 60)]) < 0).all()
