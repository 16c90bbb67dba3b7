"""Each formula has one home. Where it is written again, for a reason given there, it agrees with that home.

b is at home in theory.entropy_ratio, g in theory.gain, the map in theory.maps, the loss in theory.proper. Here what
theory itself writes again; what calibrators and losses do, in theirs.
"""

import math

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from focal_lib.theory.entropy_ratio import bernoulli, bernoulli_slope
from focal_lib.theory.gain import elasticity, log_gain, peak_probability
from focal_lib.theory.maps import focal_log_probs, focal_logit, focal_logit_slope, log_weight
from focal_lib.theory.proper import focal_calibration_minimiser, focal_loss_values
from focal_lib.theory.second_derivative import logit_curvature_ratio, probability_curvature_ratio, second_derivative
from focal_lib.theory.temperature_bounds import beta, beta_at_zero
from reproduction.ledger.certificates import balls, formulas
from reproduction.theorems import symbols
from workflow import maps_reference

Q = (1e-4, 0.05, 0.3, 0.5, 0.8, 0.999)
GAMMAS = (0.5, 2.0, 7.0)
PAIRS = [(q, gamma) for q in Q for gamma in GAMMAS]
BOTH = pytest.mark.parametrize(("q", "gamma"), PAIRS)


def value(expression, **at):
    """An expression of symbols at decimal numbers, from 40 digits."""
    known = {"q": symbols.q, "s": symbols.s, "gamma": symbols.gamma}
    return float(expression.subs({known[name]: sp.Rational(str(number)) for name, number in at.items()}).evalf(40))


def approx(expected, rel=1e-12):
    return pytest.approx(expected, rel=rel, abs=1e-13)


# --- sympy --------------------------------------------------------------------------------


@pytest.mark.parametrize("q", Q)
def test_entropy_ratio_of_sympy(q):
    x = -math.log(q)
    assert bernoulli(x) == approx(value(symbols.entropy_ratio(), q=q))
    assert bernoulli_slope(x) == approx(value(-symbols.q * sp.diff(symbols.entropy_ratio(), symbols.q), q=q))
    s = math.log(q / (1 - q))
    assert bernoulli(x) == approx(value(symbols.u(), s=s), rel=1e-10)


@BOTH
def test_gain_and_weight_of_sympy(q, gamma):
    assert log_gain(q, gamma) == approx(value(sp.log(symbols.gain()), q=q, gamma=gamma))
    weight = symbols.weight()
    assert elasticity(q, gamma) == approx(value(symbols.q * sp.diff(weight, symbols.q) / weight, q=q, gamma=gamma))
    found = log_weight(np.log([q, 1 - q]), gamma)
    expected = [
        value(sp.log(weight), q=q, gamma=gamma),
        value(sp.log(weight.subs(symbols.q, 1 - symbols.q)), q=q, gamma=gamma),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("gamma", [-0.5, *GAMMAS])
def test_the_peak_is_where_the_sign_of_sympy_turns(gamma):
    peak = peak_probability(gamma)
    low, high = (float(symbols.gain_sign(peak * factor, gamma)) for factor in (0.999, 1.001))
    assert low > 0 > high


@BOTH
def test_binary_map_of_sympy(q, gamma):
    s = math.log(q / (1 - q))
    assert focal_logit(np.float64(s), gamma) == approx(
        value(symbols.binary_map_of_logit(), s=s, gamma=gamma), rel=1e-11
    )
    p = symbols.binary_map()
    assert focal_logit(np.float64(s), gamma) == approx(value(sp.log(p / (1 - p)), q=q, gamma=gamma), rel=1e-9)
    slope = sp.diff(symbols.binary_map_of_logit(), symbols.s)
    assert focal_logit_slope(np.float64(s), gamma) == approx(value(slope, s=s, gamma=gamma), rel=1e-9)


@BOTH
def test_loss_and_its_derivatives_of_sympy(q, gamma):
    loss = symbols.focal_loss()
    assert focal_loss_values(q, gamma) == approx(value(loss, q=q, gamma=gamma))
    assert -math.exp(log_gain(q, gamma)) / q == approx(value(symbols.focal_loss_slope(), q=q, gamma=gamma))
    assert value(symbols.focal_loss_slope() - sp.diff(loss, symbols.q), q=q, gamma=gamma) == approx(0)
    assert second_derivative(q, gamma) == approx(value(sp.diff(loss, symbols.q, 2), q=q, gamma=gamma), rel=1e-10)
    for found, expected in (
        (probability_curvature_ratio, symbols.probability_curvature_ratio()),
        (logit_curvature_ratio, symbols.logit_curvature_ratio()),
    ):
        assert found(q, gamma) == approx(value(expected, q=q, gamma=gamma), rel=1e-10)


# --- Arb, mpmath, scalars -----------------------------------------------------------------


@BOTH
def test_arb(q, gamma):
    with balls.precision(200):
        exact = [balls.exact(str(number)) for number in (q, gamma)]
        assert float(formulas.gain(*exact).log()) == approx(log_gain(q, gamma))
        assert float(formulas.weight(*exact)) == approx(q * math.exp(-log_gain(q, gamma)))
        s = math.log(q / (1 - q))
        gap = formulas.logit_gap(balls.exact(str(s)), exact[1])
        assert (gamma + 1) * s - float(gap) == approx(float(focal_logit(np.float64(s), gamma)), rel=1e-11)
        point = [balls.exact(v) for v in ("0.6", "0.3", "0.1")]
        mapped = [float(p) for p in formulas.focal_map(point, exact[1])]
    np.testing.assert_allclose(mapped, np.exp(focal_log_probs(np.log([0.6, 0.3, 0.1]), gamma)), rtol=1e-12)


@pytest.mark.parametrize("q", Q)
def test_the_60_digits_of_the_reference(q):
    with mp.workdps(60):
        assert bernoulli(-math.log(q)) == approx(float(maps_reference.b_of(-mp.log(mp.mpf(q)))))


@pytest.mark.parametrize("gamma", [-0.9, 0.0, *GAMMAS, 100.0])
@pytest.mark.parametrize("s", [1e-6, 1e-3, 0.5, 0.9999, 1.0, 3.0, 40.0, 900.0])
def test_beta_is_the_map_over_its_logit(s, gamma):
    assert beta(s, gamma) == approx(float(focal_logit(np.float64(s), gamma)) / s, rel=1e-11)
    assert beta_at_zero(gamma) == approx(float(focal_logit_slope(np.float64(0.0), gamma)))


# --- the loss -----------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_stationarity_of_focal_calibration(gamma):
    p = np.array([0.6, 0.3, 0.1])
    q = focal_calibration_minimiser(p, gamma, 1.5)
    slope = np.array([value(symbols.focal_loss_slope(), q=v, gamma=gamma) for v in q])
    assert np.ptp(p * slope + 3 * (q - p)) < 1e-11
