"""Claims of KK24: what they compute, against numbers, and with faults."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq
from scipy.special import log_softmax

from focal_lib.theory.gain import critical_gamma, elasticity_minimum, weight_inflection
from focal_lib.theory.gain import elasticity as theory_elasticity
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
    raises_confidence,
    regret,
    valley,
)
from reproduction.theorems.lemmas import elasticity
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
    exact = prop3_many_classes.tied_classes
    monkeypatch.setattr(prop3_many_classes, "PAIRS", ((0.066, 14), (0.94, 21)))
    assert prop3_many_classes.many_high_search().verdict == Verdict.NUMERIC
    monkeypatch.setattr(
        prop3_many_classes, "tied_classes", lambda n, gamma: ((at, stretch / factor) for at, stretch in exact(n, gamma))
    )
    assert prop3_many_classes.many_high_search().verdict == Verdict.FAILED


def test_the_bound_above_the_least_elasticity_is_above_that_of_tied_classes(monkeypatch):
    """For every gamma, with numbers of the package; the largest, 3.4e-6, is near gamma 0.8."""
    found = []
    for gamma in (*np.geomspace(0.01, 30, 30), 0.793):
        least = elasticity_minimum(gamma)[1]
        n = int(1 / elasticity_minimum(gamma)[0]) + 1
        found.append(min(stretch for _, stretch in prop3_many_classes.tied_classes(n, gamma)) - least)
    assert 3e-6 < max(found) < float(elasticity.distance_at_most().upper()) < 4.5e-6
    monkeypatch.setattr(prop3_many_classes, "MOST", Fraction(3, 10**6))
    assert prop3_many_classes.many_high_within().verdict == Verdict.FAILED


@pytest.mark.parametrize("gamma", [0.01, 0.8, 5.0, 60.0])
def test_the_elasticity_turns_where_the_boxes_have_it(gamma):
    turn = elasticity._gamma_of_turn(flint.arb(-np.log(elasticity_minimum(gamma)[0])))
    assert float(turn.mid()) == pytest.approx(gamma, rel=1e-4)
    at, step = 3.0, 1e-4
    e = [theory_elasticity(np.exp(-x), gamma) for x in (at - step, at, at + step)]
    phi = sp.lambdify((elasticity.x, symbols.g), elasticity.PHI)
    slope = (phi(at + step, gamma) - phi(at - step, gamma)) / (2 * step)
    assert float(elasticity._rise(flint.arb(at), flint.arb(gamma)).mid()) == pytest.approx(
        (e[2] - e[0]) / (2 * step) / phi(at, gamma) * slope, rel=1e-4
    )


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


def inverse_temperature(z, gamma):
    """Of the temperature closest to the map, by the mean KL."""
    p = np.exp(focal_log_probs(z, gamma))
    return brentq(lambda beta: ((np.exp(log_softmax(beta * z, -1)) - p) * z).sum(), 0.5, 2 + gamma, xtol=1e-14)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0, 20.0])
def test_the_closest_temperature_is_between_two_bounds(gamma):
    """Both are nearly reached: the lower by nearly uniform predictions, the upper by sure ones."""
    rng, (at, least) = np.random.default_rng(1), elasticity_minimum(gamma)

    def drawn(n, spread):
        return inverse_temperature(log_softmax(spread * rng.normal(size=(50, n)), axis=-1), gamma)

    for n in (2, 3, 10, 100):
        for spread in (0.01, 1.0, 5.0):
            assert least < drawn(n, spread) < 1 + gamma
    assert drawn(round(1 / at), 0.01) == pytest.approx(least, abs=1e-3)
    sure = log_softmax([[30.0, 0.0, 0.0]], axis=-1)
    assert inverse_temperature(sure, gamma) == pytest.approx(1 + gamma, rel=0.1)


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_slope_of_the_closest_temperature(n):
    """By differences of the temperature itself, found anew at either side of gamma = 0."""
    z = log_softmax(2 * np.random.default_rng(n).normal(size=(300, n)), axis=-1)
    q = np.exp(z)

    def centred(x):
        return x - (q * x).sum(-1, keepdims=True)

    tilt = sp.lambdify(symbols.q, valley.v)(q)
    slope = (q * centred(tilt) * centred(z)).sum() / (q * centred(z) ** 2).sum()
    either_side = inverse_temperature(z, 1e-4) - inverse_temperature(z, -1e-4)
    assert slope == pytest.approx(either_side / 2e-4, abs=1e-6)
    assert float(valley.LEAST) < slope < 1
    assert n > 2 or slope > 2 - 2 * np.log(2)


@pytest.mark.parametrize("fault", [2 * valley.v, -sp.log(1 - symbols.q)])
def test_a_slope_of_another_function_fails(monkeypatch, fault):
    assert valley.valley_slope().verdict == Verdict.PROVED
    monkeypatch.setattr(valley, "v", fault)
    assert valley.valley_slope().verdict == Verdict.FAILED


def test_bounds_of_another_map_fail(monkeypatch):
    assert valley.valley_between().verdict == Verdict.PROVED
    monkeypatch.setattr(symbols, "weight", lambda q, gamma: q / (1 - q) ** (2 * gamma))
    assert valley.valley_between().verdict == Verdict.FAILED


def test_a_slope_can_be_below_a_higher_bound(monkeypatch):
    monkeypatch.setattr(valley, "LEAST", sp.Rational(-6, 100))
    assert valley.valley_slope().verdict == Verdict.FAILED


def lowered(h, seed):
    """How far the map q h(q) lowers the top at most, of nearly tied, two-level and random distributions."""
    rng, most = np.random.default_rng(seed), -np.inf
    for n in range(2, 61):
        top = np.concatenate([1 / n + 10.0 ** -np.arange(2, 6), np.linspace(1 / n, 0.99, 100)[1:]])
        one = np.column_stack([top, *[(1 - top) / (n - 1)] * (n - 1)])
        last = np.linspace(1e-9, 1 / n, 100)
        tied = np.column_stack([*[(1 - last) / (n - 1)] * (n - 1), last])
        drawn = [rng.dirichlet(np.full(n, size), 60) for size in (0.1, 1.0, 20.0)]
        points = np.maximum(np.concatenate([one, tied, *drawn]), 1e-12)
        points /= points.sum(1, keepdims=True)
        weights = points * h(points)
        most = max(most, float((points.max(1) - (weights / weights.sum(1, keepdims=True)).max(1)).max()))
    return most


def spreads_pairs(h, whole=True):
    """The condition of kk24.raises_every_n on a grid; with whole=False of two classes alone."""
    up, high = np.linspace(1e-6, 0.5, 2001), np.linspace(0.5, 1 - 1e-6, 2001)
    pairs = (h(high) - h(1 - high)).min() > -1e-9
    return bool(pairs and ((np.diff(h(up)) > -1e-9).all() or not whole))


def turning_once(rng):
    """A factor straight between three points, the middle one lower or higher than both or neither."""
    corner = rng.uniform(0.05, 0.95)
    values = rng.uniform(0.5, 1.5, 3)
    return lambda q: np.interp(q, [0, corner, 1], values)


def test_a_factor_raises_every_number_of_classes_as_the_condition_says():
    rng = np.random.default_rng(0)
    factors = [turning_once(rng) for _ in range(24)]
    factors += [lambda q, T=T: q ** (1 / T - 1) for T in (0.5, 0.9, 1.0, 1.1, 2.0)]
    factors += [lambda q, e=e: 1 / (1 + e * q) for e in (-0.9, -0.2, 0.0, 0.2, 2.0)]
    raises = [lowered(h, seed) <= 1e-12 for seed, h in enumerate(factors)]
    assert raises == [spreads_pairs(h) for h in factors]
    assert 8 < sum(raises) < len(raises) - 8
    assert raises != [spreads_pairs(h, whole=False) for h in factors]  # what two classes need is too little


def test_a_factor_with_two_turns_can_do_without_the_condition():
    at, values = (np.array([float(corner[k]) for corner in raises_confidence.CORNERS]) for k in (0, 1))

    def h(q):
        return np.interp(q, at, values)

    assert not spreads_pairs(h)
    assert lowered(h, 0) <= 1e-12
    # three levels, with the top where h is low
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(0.36, 0.5, 20_000), rng.uniform(0.3, 0.4, 20_000)])
    points = np.sort(np.column_stack([points, 1 - points.sum(1)]))[:, ::-1]
    assert (h(points[:, 0]) >= (points * h(points)).sum(1)).all()


def test_tied_classes_and_one_below_decide_for_each_n():
    for gamma in (0.5, 1.0, 2.0):
        for n in range(2, 8):
            top = np.linspace(1 / n, 1 / (n - 1), 400)[1:-1]
            last = 1 - (n - 1) * top
            decided = bool((formula_h(last, gamma) <= formula_h(top, gamma)).all())
            points = np.sort(np.random.default_rng(n).dirichlet(np.ones(n), 20_000))
            points = np.concatenate([points, np.column_stack([*[top] * (n - 1), last])])
            safe = bool((formula_h(points.max(1), gamma) >= (points * formula_h(points, gamma)).sum(1) - 1e-12).all())
            assert decided == safe == (gamma >= critical_gamma(n))


def formula_h(q, gamma):
    """By central differences of the loss."""
    step = 1e-6 * q * (1 - q)
    loss = [-((1 - at) ** gamma) * np.log(at) for at in (q - step, q + step)]
    return 2 * step / (q * (loss[0] - loss[1]))
