"""When the map raises the top probability, and when not."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from focal_lib.theory.confidence import confidence_change, sample_simplex, top_probability_bounds
from focal_lib.theory.gain import confidence_threshold, critical_gamma
from focal_lib.theory.maps import focal_log_probs


@settings(deadline=None)
@given(st.floats(0.05, 20), st.integers(2, 60), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_above_the_threshold_confidence_never_falls(gamma, n, share, seed):
    tau = max(confidence_threshold(gamma), 1 / n)
    top = tau + (0.999 - tau) * share
    rest = np.random.default_rng(seed).dirichlet(np.full(n - 1, 0.5)) * (1 - top) + 1e-12
    rest = np.minimum(rest, top)
    point = np.r_[1 - rest.sum(), rest]
    if point[0] >= max(tau, rest.max()):
        assert confidence_change(point, gamma) >= -1e-12


@pytest.mark.parametrize("n", [4, 6, 20])
def test_the_critical_gamma_is_where_tied_classes_turn(n):
    tied = np.r_[np.full(n - 1, (1 - 1e-9) / (n - 1)), 1e-9]
    below, above = (confidence_change(tied, factor * critical_gamma(n)) for factor in (0.99, 1.01))
    assert below < 0 < above


def mapped_in_digits(probs, gamma):
    """KK24 Eq. (1) for several classes, in 50 digits: w = q / ((1-q)^gamma - gamma (1-q)^(gamma-1) q log q)."""
    with mp.workdps(50):
        q = [mp.mpf(v) for v in probs]
        w = [v / gain_in_digits(v, mp.mpf(gamma)) for v in q]
        return [v / mp.fsum(w) for v in w]


def gain_in_digits(q, gamma):
    return (1 - q) ** gamma - gamma * (1 - q) ** (gamma - 1) * q * mp.log(q)


@pytest.mark.parametrize("gamma", [-0.7, 0.3, 2.0, 9.0])
def test_change_is_the_map_minus_the_probability(gamma):
    points = np.array([[0.5, 0.25, 0.125, 0.125], [0.0625, 0.125, 0.0625, 0.75], [0.25, 0.25, 0.25, 0.25]])
    wanted = [float(mapped_in_digits(point, gamma)[k]) - point[k] for point, k in zip(points, (0, 3, 0), strict=True)]
    np.testing.assert_allclose(confidence_change(points, gamma), wanted, rtol=1e-10, atol=1e-15)


# --- bounds at other temperatures -------------------------------------------------------------

LOGITS = np.random.default_rng(0).normal(size=(200, 6)) * np.geomspace(0.05, 8, 200)[:, None]


def top_at(temperature, gamma, logits=LOGITS):
    """logit of q_top, and p_top, of each sample."""
    z = np.sort(logits / temperature, axis=-1)[:, ::-1]
    log_p = focal_log_probs(z, gamma)
    return z[:, 0] - logsumexp(z[:, 1:], axis=-1), np.exp(log_p[:, 0])


@pytest.mark.parametrize("gamma", [-0.9, -0.3, 0.0, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_no_lower_temperature_falls_below_and_no_higher_one_rises_above(gamma, classes):
    logits = LOGITS[:, :classes]
    low, high = top_probability_bounds(*top_at(1.0, gamma, logits), gamma, classes)
    for factor in (1.001, 1.03, 1.3, 3.0, 30.0):
        assert (top_at(1 / factor, gamma, logits)[1] >= low - 1e-12).all()
        assert (top_at(factor, gamma, logits)[1] <= high + 1e-12).all()


@pytest.mark.parametrize("gamma", [-0.9, -0.3, 0.005, 0.2, 1.0, 5.0])
def test_bounds_are_those_of_the_formulas(gamma):
    logit, p_top = top_at(1.0, gamma)
    found = np.array(top_probability_bounds(logit, p_top, gamma, 6))
    with mp.workdps(30):
        peak = minimize_scalar(
            lambda q: -float(gain_in_digits(mp.mpf(q), gamma)), bounds=(1e-6, 0.999), method="bounded"
        )
        peak = min(mp.mpf(peak.x), mp.mpf(0.5))
        for i in range(0, 200, 20):
            q = 1 / (1 + mp.exp(-mp.mpf(logit[i])))
            if gamma > 0:
                extreme = gain_in_digits(peak, gamma)
                wanted = (q / extreme, extreme * q) if q < peak else (p_top[i], max(mp.mpf(p_top[i]), extreme * peak))
            else:
                w = q / gain_in_digits(q, gamma)
                h = [1 / gain_in_digits(v, gamma) for v in (*np.linspace(1e-12, 0.5, 20_001)[::20], 0.5)]
                wanted = [w / (w + (1 - q) * extreme) for extreme in (max(h), min(1, h[-1]))]
            assert found[:, i] == pytest.approx([float(v) for v in wanted], rel=2e-7 if gamma < 0 else 1e-9)


def test_of_two_classes_or_without_a_map_bounds_are_the_probability():
    logit, p_top = top_at(1.0, 2.0, LOGITS[:, :2])
    for gamma, classes in ((0.0, 6), (2.0, 2), (-0.5, 2)):
        low, high = top_probability_bounds(logit, p_top, gamma, classes)
        np.testing.assert_array_equal(low, p_top)
        np.testing.assert_array_equal(high, p_top)
    of_more = top_at(1.0, 0.2)
    assert (top_probability_bounds(*of_more, 0.2, 6)[1] > of_more[1]).any()


@pytest.mark.parametrize("n", [2, 3, 7])
def test_sampled_points_are_sorted_distributions(n):
    points = sample_simplex(n, seed=1, count=40)
    assert points.shape == (80, n)
    np.testing.assert_allclose(points.sum(-1), 1)
    assert np.all(np.diff(points, axis=-1) <= 0)
    assert np.all(points > 0)
    np.testing.assert_array_equal(points, sample_simplex(n, seed=1, count=40))


def test_bad_input():
    with pytest.raises(ValueError, match="must sum to 1"):
        confidence_change(np.array([0.5, 0.4]), 1.0)
    with pytest.raises(ValueError, match="probs must be positive"):
        confidence_change(np.array([1.0, 0.0]), 1.0)
