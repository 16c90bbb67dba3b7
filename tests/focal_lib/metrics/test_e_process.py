"""The e-process is a martingale: its mean over all outcomes, each with its probability, is 1."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from focal_lib.metrics.e_process import BETS, block_factors, log_factors, log_unstarted, log_wealth, overconfident

PROBABILITY = st.floats(0, 1)
START = np.full(len(BETS), -np.inf)


def e_process(confidence, correct, resolution=1e-5):
    factors = log_factors(np.asarray(confidence), np.asarray(correct, dtype=float), resolution)
    return np.exp(log_wealth(factors, START, 0)[1])


@given(PROBABILITY, st.sampled_from([1e-10, 1e-5, 1e-2]))
def test_each_bet_is_fair(p, resolution):
    right, wrong = (np.exp(log_factors(np.array([p]), np.array([y]), resolution))[0] for y in (1.0, 0.0))
    mean = p * right + (1 - p) * wrong
    assert (mean <= 1 + 1e-9).all()
    if resolution < p < 1 - resolution:
        np.testing.assert_allclose(mean, 1, rtol=1e-7)


@given(PROBABILITY, st.sampled_from([1e-5, 1e-2]), st.floats(1e-6, 0.49), st.floats(-1, 1))
def test_within_the_tolerance_no_bet_pays(p, resolution, tolerance, off):
    truth = np.clip(p + off * tolerance, 0, 1)
    right, wrong = (np.exp(log_factors(np.array([p]), np.array([y]), resolution, tolerance))[0] for y in (1.0, 0.0))
    assert (truth * right + (1 - truth) * wrong <= 1 + 1e-9).all()


@given(PROBABILITY, st.floats(0, 0.49), st.floats(-1, 1), st.floats(1, 30))
def test_of_an_event_too_no_bet_pays_within_the_tolerance(p, tolerance, off, strength):
    """With a tolerance of 0 the truth is p itself."""
    truth, options = np.clip(p + off * tolerance, 0, 1), {"event": True, "strength": strength}
    right, wrong = (np.exp(log_factors(np.array([p]), np.array([y]), 1e-5, tolerance, **options))[0] for y in (1.0, 0))
    assert (truth * right + (1 - truth) * wrong <= 1 + 1e-9).all()


def test_a_temperature_of_an_event_moves_both_ends_towards_the_middle():
    right = np.exp(log_factors(np.array([0.9, 0.1]), np.ones(2), 1e-5, event=True))[:, 2]  # T = 2
    np.testing.assert_allclose(right * [0.9, 0.1], [expit(logit(0.9) / 2), expit(logit(0.1) / 2)])


def test_a_block_has_mean_one_however_its_outcomes_depend():
    """Two outcomes that are always equal; taken one by one the product has a mean above 1."""
    p = np.array([0.7, 0.7])
    each = {y: np.exp(log_factors(p, np.full(2, y), 1e-5)) for y in (1.0, 0.0)}
    block = {y: np.exp(block_factors(np.log(found), 2))[0] for y, found in each.items()}
    np.testing.assert_allclose(0.7 * block[1.0] + 0.3 * block[0.0], 1)
    assert (0.7 * each[1.0].prod(0) + 0.3 * each[0.0].prod(0) > 1).all()


def test_with_a_tolerance_bets_are_made_from_its_ends_and_are_fair_there():
    right, wrong = (np.exp(log_factors(np.array([0.8]), np.array([y]), 1e-5, 0.05))[0] for y in (1.0, 0.0))
    for bets, end in ((overconfident, 0.75), (~overconfident, 0.85)):
        np.testing.assert_allclose((end * right + (1 - end) * wrong)[bets], 1)
        without = np.exp(log_factors(np.array([end]), np.array([1.0]), 1e-5))[0]
        np.testing.assert_allclose(right[bets], without[bets])
    assert (log_factors(np.array([0.04]), np.ones(1), 1e-5, 0.05)[0, overconfident] == 0).all()
    assert (log_factors(np.array([0.97]), np.ones(1), 1e-5, 0.05)[0, ~overconfident] == 0).all()


BLIND = [(1.0, 0.03, 0.0), (0.999, 0.1, 0.0), (0.9, 0.3, 0.0), (0.2, 0.25, 1.0)]


@pytest.mark.parametrize(("confidence", "tolerance", "right"), BLIND)
def test_no_tolerance_makes_it_blind(confidence, tolerance, right):
    factors = log_factors(np.full(500, confidence), np.full(500, right), 1e-5, tolerance)
    assert log_wealth(factors, START, 0)[1][-1] > 50


def test_bets_are_on_the_probabilities_they_say():
    right = np.exp(log_factors(np.array([0.9]), np.array([1.0]), 1e-5))[0]
    moved = [0.9 * r for r in right]
    by_temperature = [expit(logit(0.9) / t) for t in (1.25, 1.5, 2, 3)]
    by_shift = [expit(logit(0.9) - s) for s in (0.1, 0.3, 1)]
    np.testing.assert_allclose(moved[:7], [*by_temperature, *by_shift])
    assert (np.array(moved)[overconfident] < 0.9).all()
    assert (np.array(moved)[~overconfident] > 0.9).all()


def test_mean_over_all_outcomes_is_one():
    """Confidences may depend on what came before, as here they do."""
    total, at_each = 0.0, np.zeros(8)
    for outcomes in product((0, 1), repeat=8):
        confidence, chance = [], 1.0
        for t, y in enumerate(outcomes):
            confidence.append(0.6 + 0.3 * np.sin(3 * sum(outcomes[:t]) + t))
            chance *= confidence[-1] if y else 1 - confidence[-1]
        total += chance
        at_each += chance * e_process(confidence, outcomes)
    assert total == pytest.approx(1)
    np.testing.assert_allclose(at_each, 1)


def test_by_hand():
    """The mixture over bets and starting times, summed as it is written."""
    confidence, correct = np.array([0.9, 0.8, 0.7, 0.95]), np.array([1.0, 0, 0, 1])
    f = np.exp(log_factors(confidence, correct, 1e-5))
    left = np.exp(log_unstarted(np.arange(5)))
    weight = left[:-1] - left[1:]
    for t in range(1, 5):
        started = sum(weight[j] * f[j:t].prod(0).mean() for j in range(t))
        assert e_process(confidence[:t], correct[:t])[-1] == pytest.approx(started + left[t])


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_in_parts_as_in_one(cut, seed):
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(40), rng.integers(0, 2, 40).astype(float)
    factors = log_factors(confidence, correct, 1e-5)
    wealth, e = log_wealth(factors, START, 0)
    before = wealth[cut - 1] if cut else START
    if cut < 40:
        again, later = log_wealth(factors[cut:], before, cut)
        np.testing.assert_allclose(again, wealth[cut:], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(later, e[cut:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1e-300, 1 - 1e-16])
def test_certainties_stay_finite(confidence):
    for y in (0.0, 1.0):
        assert np.isfinite(log_factors(np.array([confidence]), np.array([y]), 1e-5)).all()
