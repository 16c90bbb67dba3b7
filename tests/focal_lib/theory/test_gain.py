"""g(q) and what follows from it: values, thresholds, elasticity and curvature of the weight."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.theory.gain import (
    confidence_threshold,
    critical_gamma,
    elasticity,
    elasticity_minimum,
    lambert_gamma,
    log_gain,
    log_gain_of_logit,
    peak_probability,
    weight_curvature,
    weight_inflection,
)

GAMMAS = (-0.9, 0.3, 2.0, 50.0)


def log_gain_reference(q, gamma):
    """log g(q) of an mpmath number."""
    return gamma * mp.log(1 - q) + mp.log(1 - gamma * q * mp.log(q) / (1 - q))


# --- g ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("q", [1e-12, 1e-3, 0.3, 0.9, 1 - 1e-9])
def test_log_gain_to_1e_14(q, gamma):
    with mp.workdps(50):
        expected = float(log_gain_reference(mp.mpf(q), gamma))
    assert log_gain(q, gamma) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert log_gain(np.array([0.5, q]), gamma)[1] == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("s", [-700.0, -30.0, -1.0, 0.0, 3.0, 40.0, 700.0])
def test_log_gain_of_logit_to_1e_14(s, gamma):
    with mp.workdps(400):  # 1 - q has 304 zeros at s = 700
        expected = float(log_gain_reference(1 / (1 + mp.exp(-mp.mpf(s))), gamma))
    assert log_gain_of_logit(np.array([s]), gamma)[0] == pytest.approx(expected, rel=1e-14, abs=1e-15)


def root_reference(function, low, high):
    """Where a function of an mpmath number changes its sign, to 30 digits, by halving."""
    with mp.workdps(40):
        low, high = mp.mpf(low), mp.mpf(high)
        at_low = mp.sign(function(low))
        assert at_low == -mp.sign(function(high)) != 0
        for _ in range(110):
            middle = (low + high) / 2
            low, high = (middle, high) if mp.sign(function(middle)) == at_low else (low, middle)
        return float(middle)


@pytest.mark.parametrize("gamma", [-0.9, -0.2, 0.005, 0.5, 3.0, 50.0, 1000.0])
def test_the_peak_is_where_the_derivative_vanishes(gamma):
    """d/dq of (1-q)^gamma - gamma q (1-q)^(gamma-1) log q over gamma (1-q)^(gamma-2) (M20 Eqs. 7, 8)."""
    expected = root_reference(
        lambda q: -2 * (1 - q) - (1 - q) * mp.log(q) + (mp.mpf(gamma) - 1) * q * mp.log(q), "1e-9", 1 - mp.mpf("1e-9")
    )
    assert peak_probability(gamma) == pytest.approx(expected, rel=1e-12)


# --- tau and gamma* -----------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5, 2.0, 3.0, 10.0, 100.0])
def test_at_the_threshold_the_gain_is_1(gamma):
    peak = peak_probability(gamma)
    expected = root_reference(lambda q: log_gain_reference(q, mp.mpf(gamma)), peak, 0.6)
    assert confidence_threshold(gamma) == pytest.approx(expected, rel=1e-12)


def test_thresholds_and_critical_gammas_that_are_known():
    assert confidence_threshold(1.0) == pytest.approx(np.exp(-1), abs=1e-15)
    assert peak_probability(1.0) == pytest.approx(np.exp(-2), abs=1e-15)
    assert confidence_threshold(1e-6) == pytest.approx(0.5, abs=1e-6)
    assert confidence_threshold(1e-12) == 0.5
    assert critical_gamma(2) == critical_gamma(3) == 0


@pytest.mark.parametrize("n", [4, 5, 10, 1000])
def test_at_the_critical_gamma_the_gain_is_1(n):
    expected = root_reference(lambda gamma: log_gain_reference(1 / mp.mpf(n - 1), gamma), "0.1", 10 * n)
    assert critical_gamma(n) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("p0", [0.01, 0.19, 0.3, 0.45, 0.499])
def test_lambert_gamma_is_the_formula_of_m20(p0):
    """Prop. 2 in 40 digits: a/b + W_-1(-a^(1-a/b) log(a)/b) / log(a), a = 1 - p0, b = p0 log p0."""
    with mp.workdps(40):
        a, b = 1 - mp.mpf(p0), mp.mpf(p0) * mp.log(p0)
        expected = a / b + mp.lambertw(-(a ** (1 - a / b)) * mp.log(a) / b, -1).real / mp.log(a)
    assert lambert_gamma(p0) == pytest.approx(float(expected), rel=1e-11)


def test_lambert_gamma_ends():
    assert lambert_gamma(0.5) == lambert_gamma(0.501) == lambert_gamma(0.9) == 0
    assert 0 < lambert_gamma(0.4999999) < 1e-6
    assert abs(log_gain(0.005, lambert_gamma(0.005))) < 1e-12
    with pytest.raises(ValueError, match="p0 must lie"):
        lambert_gamma(0.0)


# --- w = q/g ------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.3, 2.0, 7.0])
@pytest.mark.parametrize("q", [1e-6, 0.05, 0.3, 0.95, 1 - 1e-6])
def test_elasticity_and_curvature_against_50_digits(q, gamma):
    def weight(v):
        return v / mp.exp(log_gain_reference(v, gamma))

    with mp.workdps(50):
        v = mp.mpf(q)
        expected = v * mp.diff(weight, v) / weight(v), mp.diff(weight, v, 2) / weight(v)
    assert elasticity(q, gamma) == pytest.approx(float(expected[0]), rel=1e-12)
    assert weight_curvature(q, gamma) == pytest.approx(float(expected[1]), rel=1e-9)


@given(st.floats(0.05, 20), st.floats(1e-6, 0.999))
def test_no_elasticity_is_below_the_minimum(gamma, q):
    at, least = elasticity_minimum(gamma)
    assert elasticity(at, gamma) == pytest.approx(least)
    assert elasticity(q, gamma) >= least - 1e-12


def test_a_small_gamma_has_thresholds_and_a_minimum():
    gamma = 0.005
    assert 0.49 < confidence_threshold(gamma) < 0.5
    at, least = elasticity_minimum(gamma)
    assert 0 < at < peak_probability(gamma)
    assert 1 - gamma < least < 1


@pytest.mark.parametrize("gamma", [0.005, 0.1, 1.0, 10.0])
def test_the_weight_turns_at_its_inflection(gamma):
    q = weight_inflection(gamma)
    assert weight_curvature(0.999 * q, gamma) < 0 < weight_curvature(1.001 * q, gamma)


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        (confidence_threshold, 0.0, "gamma must be a finite number > 0. Got 0"),
        (peak_probability, -1.0, "gamma must be a finite number > -1. Got -1"),
        (elasticity_minimum, -0.5, "gamma must be a finite number > 0. Got -0.5"),
        (weight_inflection, 0.0, "gamma must be a finite number > 0. Got 0"),
        (critical_gamma, 1, "n must be at least 2"),
        (lambert_gamma, 1.0, r"p0 must lie in \(0, 1\). Got 1"),
    ],
)
def test_bad_input(function, argument, message):
    with pytest.raises(ValueError, match=message):
        function(argument)
