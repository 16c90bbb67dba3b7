"""The largest deviation from the map, against direct searches that know nothing of where it lies."""

import numpy as np
import pytest
from flint import arb, arb_series
from scipy.optimize import minimize

from focal_lib.theory.closest_temperature import closest_temperature, deviation_from_map
from focal_lib.theory.confidence import sample_simplex
from focal_lib.theory.largest_deviation import SIMPLEX, LevelSets, largest_deviation
from reproduction.ledger.certificates import balls
from reproduction.ledger.certificates.formulas import weight


@pytest.mark.parametrize("reach", [10.0, 45.0])
@pytest.mark.parametrize(("gamma", "n"), [(0.5, 2), (2.0, 3), (9.0, 4), (3.0, 10), (5.0, 100)])
def test_it_is_the_deviation_there(gamma, n, reach):
    b = 1 + 0.5 * gamma
    found = largest_deviation(gamma, b, n, reach)
    assert found.probs.shape == (n,)
    assert found.probs.sum() == pytest.approx(1)
    assert np.log(found.probs.max() / found.probs.min()) <= reach + 1e-9
    deviation = deviation_from_map(gamma, b, np.log(found.probs)[None])[0]
    assert deviation[0] == pytest.approx(found.difference, abs=1e-12)
    assert np.abs(deviation).max() == pytest.approx(abs(found.difference), abs=1e-9)


def _climb(gamma, b, logits, at):
    """Nelder-Mead over all logits from one point, for one class: the largest abs(deviation) it meets."""

    def height(z):
        return -abs(deviation_from_map(gamma, b, np.clip(z - z.max(), -45, 0)[None])[0, at])

    rng = np.random.default_rng(0)
    start = logits + 1e-2 * rng.normal(size=len(logits))
    return -minimize(height, start, method="Nelder-Mead", options={"maxiter": 400 * len(logits), "adaptive": True}).fun


# for gamma = 12 and 30 the closest 1/T is above 3, where no argument says how an extreme looks
def _log_slope(q, gamma, power):
    """Derivative of w''/q^power by log q, times q^power: a ball."""
    with balls.precision(300, 5):
        series = weight(arb_series([arb(q), 1]), arb(gamma))
        return 6 * series[3] * q - 2 * power * series[2]


@pytest.mark.parametrize("gamma", [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0])
def test_curvature_of_the_weight_over_q_increases(gamma):
    """What the module's argument rests on and nobody has proved."""
    q = np.exp(-np.geomspace(1e-3, 100, 800))
    assert all(_log_slope(float(v), gamma, 1) > 0 for v in q)


@pytest.mark.parametrize(("gamma", "n"), [(1.0, 5), (3.0, 6), (12.0, 5), (30.0, 4)])
def test_direct_search_finds_no_larger_one(gamma, n):
    b = closest_temperature(gamma, n).inverse_temperature
    found = abs(largest_deviation(gamma, b, n).difference)
    logits = np.log(np.maximum(sample_simplex(n, seed=n, count=2_000), 1e-19))
    deviation = np.abs(deviation_from_map(gamma, b, logits))
    assert deviation.max() <= found + 1e-12
    starts = np.argsort(-deviation.max(-1))[:: max(1, len(logits) // 40)][:3]
    reached = [_climb(gamma, b, logits[k], int(deviation[k].argmax())) for k in starts]
    assert max(reached) <= found + 1e-9
    assert max(reached) == pytest.approx(found, rel=0.02)  # a search that gets nowhere would show nothing


# --- level sets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("logit", [-30.0, -700.0])
def test_far_apart_logits_of_large_gamma_stay_finite(logit):
    sets = LevelSets(np.array([[0.0], [logit], [logit]]), np.array([1]), 4, -logit)
    assert np.isfinite(sets.mapped(50.0)).all()
    assert sets.mapped(50.0)[0] == pytest.approx(1)


def test_of_two_classes_by_default_and_of_any_temperature_and_reach():
    assert largest_deviation(2.0, 1.5).probs.shape == (2,)
    assert abs(largest_deviation(2.0, 0.005).difference) > 0.49  # nearly uniform where the map is certain
    assert 0 < abs(largest_deviation(2.0, 1.5, 3, reach=0.005).difference) < 0.005
    assert np.exp(-SIMPLEX) < np.finfo(float).eps ** 1.2  # which is the reach by default
