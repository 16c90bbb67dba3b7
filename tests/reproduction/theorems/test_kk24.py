"""Claims of KK24: what they compute, against numbers, and with faults."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq
from scipy.special import log_softmax

from focal_lib.theory.gain import weight_inflection
from focal_lib.theory.maps import focal_log_probs, focal_logit_slope
from focal_lib.theory.proper import regret_constant
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import (
    class_weights,
    fig4,
    prop1,
    prop3,
    prop3_many_classes,
    prop4,
    prop5,
    regret,
    valley,
)
from reproduction.theorems.lemmas.confidence import drop_of_ties, weight_growth
from tests.quick import first_is_quick

ANGLES = np.linspace(0, 2 * np.pi, 180, endpoint=False)


@pytest.mark.parametrize(("which", "harmonic"), [(0, 2), (1, 3)])
def test_a_harmonic_is_found_about_any_centre(which, harmonic):
    outline = (1 + 0.1 * np.cos(harmonic * ANGLES)) * np.exp(1j * ANGLES) + 0.3 - 0.2j
    found = fig4._harmonics_of(outline, ANGLES)
    assert found[which] == pytest.approx(0.1, abs=2e-3)
    assert found[1 - which] < 2e-3


def test_the_same_shapes_for_every_gamma_are_no_trend(monkeypatch):
    found = {"brier": [(0.0, 0.0)] * 3, 0.0: [(0.2, 0.1)] * 3, 1.0: [(0.2, 0.12)] * 3, 3.0: [(0.2, 0.14)] * 3}
    monkeypatch.setattr(fig4, "_harmonics", found.__getitem__)
    assert fig4.fig4_shapes().verdict == fig4.fig4_triangle().verdict == Verdict.REPRODUCED
    found[3.0] = found[1.0]
    assert fig4.fig4_triangle().verdict == Verdict.NOT_REPRODUCED
    found[0.0] = [(0.1, 0.2)] * 3
    assert fig4.fig4_shapes().verdict == Verdict.NOT_REPRODUCED


def test_a_convex_point_is_no_counterexample():
    assert prop1.negative_gamma_point().verdict == Verdict.REFUTED
    assert prop1.negative_gamma_point("1/2").verdict == Verdict.FAILED


def test_a_derivative_below_the_bound_is_no_gap(monkeypatch):
    assert prop3.prop3_proof_gap().verdict == Verdict.PROVED
    slope = formulas.logit_gap_slope
    monkeypatch.setattr(formulas, "logit_gap_slope", lambda s, g: slope(s, g) / 2)
    assert prop3.prop3_proof_gap().verdict == Verdict.FAILED


def test_bounds_as_wide_as_the_printed_ones_are_not_tighter(monkeypatch):
    assert prop3.fig3_tighter().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(prop3, "temperature_bounds", lambda g, radius: prop3.printed_temperature_bounds(g))
    assert prop3.fig3_tighter().verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 1.0, 4.0, 30.0, 1e3])
def test_the_slope_of_the_gap_is_below_half_the_logarithm(gamma):
    slope = gamma + 1 - focal_logit_slope(np.linspace(0, 40, 401), gamma)
    assert (slope < np.log1p(gamma) / 2).all()


@pytest.mark.parametrize("factor", first_is_quick([0.999999, 1.000003, 2.0]))
def test_a_temperature_that_is_off_fails(monkeypatch, factor):
    exact = prop3_many_classes.top_temperature_bounds
    assert prop3_many_classes.many_high_search().verdict == Verdict.NUMERIC
    monkeypatch.setattr(
        prop3_many_classes, "top_temperature_bounds", lambda gamma, n: (exact(gamma, n)[0], factor * exact(gamma, n)[1])
    )
    assert prop3_many_classes.many_high_search().verdict == Verdict.FAILED


def test_determinant_for_five_classes():
    rng = np.random.default_rng(0)
    q, e = rng.dirichlet(np.ones(5)), rng.normal(size=5)
    rows = np.diag(e[:4] / q[:4]) + e[4] / q[4]
    assert np.linalg.det(rows) == pytest.approx(np.prod(e / q) * (q / e).sum())


def test_a_wrong_recurrence_is_no_step(monkeypatch):
    assert all(s.holds for s in prop4.jacobian_steps())
    monkeypatch.setattr(sp.Matrix, "det", lambda self: self.trace())
    assert not all(s.holds for s in prop4.jacobian_steps())


def test_the_inflection_lies_below_one_sixth():
    assert all(0 < weight_inflection(gamma) < 1 / 6 for gamma in (0.01, 0.1, 1.0, 10.0))


def test_a_point_whose_top_rises_is_no_counterexample():
    assert drop_of_ties(1, ("0.333", 3), ("0.001", 1)) > 0
    assert not drop_of_ties(1, ("0.6", 1), ("0.2", 1), ("0.1", 2)) > 0


def test_tied_classes_rise_above_the_critical_gamma():
    ties = (Fraction(999_999, 3_000_000), 3), (Fraction(1, 10**6), 1)
    assert drop_of_ties("1.4", *ties) > 0
    assert drop_of_ties("1.5", *ties) < 0


def test_the_lemma_on_concave_functions_needs_a_zero_at_0():
    assert prop5.sublemma_step().holds
    assert not prop5.sublemma_step(at_zero=1).holds


def test_three_classes_grow_sharper_and_four_need_not():
    points = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 2_000))
    gammas = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
    mapped = np.sort([focal_log_probs(points, g) for g in gammas], axis=-1)
    assert (np.diff(mapped[..., -1], axis=0) >= -1e-12).all()
    assert (np.diff(mapped[..., 0], axis=0) < 0).all()
    point = ("0.33", "0.33", "0.33", "0.01")
    assert prop5.less_sharp(point, "0", "1/2")
    assert not prop5.less_sharp(point, "1", "2")
    assert not prop5.less_sharp(("0.6", "0.2", "0.2"), "0", "1/2")


def test_the_turning_gamma_is_where_the_growth_is_0():
    at = float(prop5.turning_gamma("1/3").mid())
    growth = sp.lambdify((symbols.q, sp.Symbol("gamma", nonnegative=True)), weight_growth())
    assert abs(growth(1 / 3, at)) < 1e-12
    assert growth(1 / 3, 0.99 * at) < 0 < growth(1 / 3, 1.01 * at)
    with balls.precision():
        assert abs(float(prop5.turning_gamma("1/2").mid())) < 1e-12  # three classes: from 0 on


@pytest.mark.parametrize(
    ("check", "formula"),
    [
        *((class_weights.class_weights, name) for name in ("focal_loss", "focal_loss_slope", "binary_map")),
        *((class_weights.curvature_below, name) for name in ("focal_loss", "gain")),
    ],
)
def test_class_weights_rest_on_the_formulas(monkeypatch, check, formula):
    right = getattr(symbols, formula)
    monkeypatch.setattr(symbols, formula, lambda *at: right(*at) ** 2)
    assert check().verdict == Verdict.FAILED


def excess_over_distance(q, own, gamma):
    """Of the prediction q under the truth whose minimiser is `own`: from the loss alone, in 40 digits."""

    def loss(x):
        return -((1 - x) ** gamma) * mpmath.log(x)

    def mapped(probs):
        weights = [-1 / mpmath.diff(loss, x) for x in probs]
        return [w / mpmath.fsum(weights) for w in weights]

    p, said = mapped(own), mapped(q)
    excess = mpmath.fsum(share * (loss(x) - loss(best)) for share, x, best in zip(p, q, own, strict=True))
    return excess / mpmath.fsum(abs(a - b) for a, b in zip(p, said, strict=True)) ** 2


def pairs_of_predictions(rng):
    """Any two, two close ones, and two next to a tie of the first two classes."""
    n = int(rng.integers(2, 8))
    one, other = rng.dirichlet(np.full(n, 10 ** rng.uniform(-1, 1)), 2) * 0.999 + 0.001 / n
    tie = np.r_[0.5, 0.5, np.zeros(n - 2)] * (1 - 1e-6) + 1e-6 / n
    shift = np.r_[1e-3, -1e-3, np.zeros(n - 2)]
    return [(one, other), (one, 0.99 * one + 0.01 * other), (tie, tie + shift)]


@pytest.mark.parametrize("gamma", first_is_quick([2.0, 0.1, 0.5, 1.0, 4.0, 8.0, 15.0]))
def test_no_pair_has_less_excess_than_the_constant_says(gamma):
    rng, found = np.random.default_rng(3), []
    with mpmath.workdps(40):
        for _ in range(60):
            for q, own in pairs_of_predictions(rng):
                at = [[mpmath.mpf(x) / mpmath.fsum(map(mpmath.mpf, v)) for x in v] for v in (q, own)]
                found.append(float(8 * excess_over_distance(*at, gamma)) / regret_constant(gamma))
    assert 1 - 1e-9 < min(found) < 1.001
    assert max(found) > 2


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_constant_that_is_off_fails(monkeypatch, factor):
    monkeypatch.setattr(regret, "regret_constant", lambda *at: factor * regret_constant(*at))
    assert regret.regret_sharp().verdict == Verdict.FAILED


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_slope_of_the_closest_temperature(n):
    """By differences of the temperature itself, found anew at either side of gamma = 0."""
    z = log_softmax(2 * np.random.default_rng(n).normal(size=(300, n)), axis=-1)
    q = np.exp(z)

    def inverse_temperature(gamma):
        p = np.exp(focal_log_probs(z, gamma))
        return brentq(lambda beta: ((np.exp(log_softmax(beta * z, -1)) - p) * z).sum(), 0.9, 1.1, xtol=1e-14)

    def centred(x):
        return x - (q * x).sum(-1, keepdims=True)

    tilt = sp.lambdify(symbols.q, valley.v)(q)
    slope = (q * centred(tilt) * centred(z)).sum() / (q * centred(z) ** 2).sum()
    assert slope == pytest.approx((inverse_temperature(1e-4) - inverse_temperature(-1e-4)) / 2e-4, abs=1e-6)
    assert float(valley.LEAST) < slope < 1
    assert n > 2 or slope > 2 - 2 * np.log(2)


@pytest.mark.parametrize("fault", [2 * valley.v, -sp.log(1 - symbols.q)])
def test_a_slope_of_another_function_fails(monkeypatch, fault):
    assert valley.valley_slope().verdict == Verdict.PROVED
    monkeypatch.setattr(valley, "v", fault)
    assert valley.valley_slope().verdict == Verdict.FAILED


def test_a_slope_can_be_below_a_higher_bound(monkeypatch):
    monkeypatch.setattr(valley, "LEAST", sp.Rational(-6, 100))
    assert valley.valley_slope().verdict == Verdict.FAILED
