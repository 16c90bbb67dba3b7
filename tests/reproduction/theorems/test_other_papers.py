"""Claims of M20, KN24 and L25: what they compute, and with faults."""

import operator
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from focal_lib.theory.gain import lambert_gamma, log_gain
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find
from reproduction.theorems import symbols
from reproduction.theorems.kn24 import curvature, maxwell_boltzmann
from reproduction.theorems.l25 import after_map, strictly_proper, thm41, thm45
from reproduction.theorems.lemmas import entropy_bound, fcl
from reproduction.theorems.m20 import app_h, prop2


def holds(id):
    return find(id).check().verdict == Verdict.PROVED


def test_a_wrong_lambert_branch_is_not_the_root():
    assert all(s.holds for s in prop2.lambert_steps())
    assert abs(log_gain(0.3, lambert_gamma(0.3))) < 1e-14
    assert abs(log_gain(0.3, 1.01 * lambert_gamma(0.3))) > 1e-4


def test_a_point_whose_entropy_rises_is_no_counterexample():
    assert app_h.entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2") > 0
    assert not app_h.entropy_change(("0.6", "0.3", "0.1"), "1") > 0


def test_bernoulli_is_asked_for_gamma_from_one_on():
    assert holds("m20.app_h_bernoulli")
    assert holds("m20.app_h_below_one")


def test_hoelders_step_needs_the_largest_probability_and_bars(monkeypatch):
    assert holds("m20.app_h_hoelder")
    terms = app_h.bound_terms
    for factors in ((1, 2, 1), (-1, 1, 1)):  # without the largest probability, without bars
        monkeypatch.setattr(app_h, "bound_terms", lambda *of, by=factors: tuple(map(operator.mul, by, terms(*of))))
        assert not holds("m20.app_h_hoelder")


def test_the_sign_of_the_second_step_is_asked_of_gamma(monkeypatch):
    assert holds("m20.app_h_sign")
    monkeypatch.setattr(app_h, "g", -app_h.g)
    assert not holds("m20.app_h_sign")


def test_a_wrong_digit_is_no_crossing():
    ratio = symbols.probability_curvature_ratio(curvature.q, curvature.g)
    assert curvature._crossings(ratio, {2: "0.7905"}).holds
    assert not curvature._crossings(ratio, {2: "0.7906"}).holds


def test_the_bounds_slope_is_that_of_the_entropy(monkeypatch):
    assert holds("kn24.entropy_constrained")
    slope = maxwell_boltzmann.bound_slope()
    monkeypatch.setattr(maxwell_boltzmann, "bound_slope", lambda: slope.subs(maxwell_boltzmann.g, -maxwell_boltzmann.g))
    assert not holds("kn24.entropy_constrained")


def test_a_point_below_one_half_is_no_example(monkeypatch):
    monkeypatch.setattr(maxwell_boltzmann, "SOLUTION", "0.3")
    assert not holds("kn24.entropy_constrained")


def test_gibbs_principle_needs_the_logarithm(monkeypatch):
    assert holds("kn24.gibbs")
    log = sp.log
    monkeypatch.setattr(sp, "log", lambda value: 2 * log(value))
    assert not holds("kn24.gibbs")


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (thm41.norms_step, {"power": 3}),
        (thm45.square_growth_step, {"power": 3}),
        (strictly_proper.defect_step, {"combine": operator.mul}),  # of a product
        (strictly_proper.entropy_rate_step, {"weight": strictly_proper.g}),  # a bound that grows with the entropy
        (entropy_bound.entropy_slope_step, {"other": (1 - symbols.q) / 2}),
        (lambda **sums: after_map.multiplier_step(sp.Symbol("c"), **sums), {"excess": 1}),
    ],
)
def test_a_step_of_something_else_does_not_hold(step, fault):
    assert step().holds
    assert not step(**fault).holds


def test_moving_away_from_the_truth_gains_nothing():
    assert thm45.gap_of_focal_minimiser("0.63", "0.7", 2, Fraction(1)) > 0
    assert not thm45.gap_of_focal_minimiser("0.63", "0.5", 2, Fraction(1)) > 0


def test_the_square_falls_where_the_prediction_comes_nearer():
    assert all(step.holds for step in thm45.square_gap_steps())
    printed_as_negative = thm45.square_gap_steps(lambda move, off: 2 * move * off - move**2)
    assert [step.holds for step in printed_as_negative] == [False, False, False]


@pytest.mark.parametrize("n", [2, 3, 7])
def test_shares_add_up_to_the_expected_square(n):
    rng = np.random.default_rng(n)
    q, p = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
    over_labels = sum(p[y] * ((q - np.eye(n)[y]) ** 2).sum() for y in range(n))
    assert sum(fcl.class_share(q, p)) == pytest.approx(over_labels)


def test_slack_tells_a_minimiser_from_a_point_beside_it():
    p = ("0.5", "0.3", "0.2")
    good = fcl.candidate(p, 1.0, 1.0)
    moved = [good[0] + Fraction(1, 1000), good[1] - Fraction(1, 1000), good[2]]
    assert fcl.slack(good, p, Fraction(1)) < 1e-12
    assert fcl.slack(moved, p, Fraction(1)) > 1e-4
