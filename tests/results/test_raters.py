"""Distances of outcomes whose truth is known."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib.metrics.votes import Votes
from focal_lib.results.raters import (
    fit_temperature,
    measure_outcomes,
    name_settings,
    scalings,
    share_by_prediction,
)
from focal_lib.results.written_contrasts import evaluate_contrasts
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.training.data.votes import WORTH
from focal_lib.training.raters.plan import VALIDATED, Plan, written_contrasts
from focal_lib.training.raters.train import Outcome

GAMMA = 2.0


def _outcome(seed=1, loss="focal", gamma=GAMMA, n=400):
    """What a perfect focal network says of sentences with known posteriors, and votes on them."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.7, n)
    truth = np.stack([1 - p, p], -1)
    said = inverse_focal_log_probs(np.log(truth), GAMMA)
    votes = rng.binomial(15, p)
    counts = np.stack([15 - votes, 0 * votes, votes], -1)
    plan = Plan("linear", loss, gamma, seed=seed)
    return Outcome(plan, VALIDATED, said, said, truth, Votes(counts, WORTH[2]), 1e-4, 1e-7)


def test_the_map_brings_a_perfect_focal_network_to_the_raters():
    table = measure_outcomes([_outcome()]).set_index(["method", "metric"])["value"]
    assert abs(table["map", "kl"]) < 0.005
    assert abs(table["map", "l2"]) < 0.003
    assert abs(table["map", "gap"]) < 0.02
    assert table["none", "gap"] < -0.1  # underconfident
    assert table["none", "kl"] > 0.05
    assert table["map-temperature", "temperature"] == pytest.approx(1, abs=1e-3)
    assert table["temperature", "temperature"] == pytest.approx(0.36, abs=0.04)
    assert table["none", "gradient"] == 1e-7


def test_losses_without_a_map_have_none():
    methods = [method for method, *_ in scalings(_outcome(loss="proper-focal"))]
    assert methods == ["none", "temperature"]
    assert [method for method, *_ in scalings(_outcome())] == ["none", "temperature", "map", "map-temperature"]


def test_the_temperature_is_the_one_a_search_finds():
    rng = np.random.default_rng(0)
    targets = rng.dirichlet(np.ones(3), 80)
    logits = 3 * np.log(targets) + rng.normal(size=(80, 3))

    def crossed(t):
        return -(targets * log_softmax(logits / t, -1)).sum()

    found = minimize_scalar(crossed, bounds=(0.1, 60), method="bounded", options={"xatol": 1e-7}).x
    assert fit_temperature(logits, targets) == pytest.approx(found, rel=1e-3)


def test_the_contrasts_find_their_settings():
    table = name_settings(measure_outcomes([_outcome(seed) for seed in (1, 2, 3)]), "linear")
    primary, *_ = written_contrasts("linear")
    found = evaluate_contrasts(table, [primary]).iloc[0]
    assert found["seeds"] == 3
    assert found["high"] < 0
    assert found["significant"]


def test_shares_by_prediction():
    shares = np.linspace(0, 1, 40)
    found = share_by_prediction(shares[::-1] ** 2, shares[::-1], bins=4)
    np.testing.assert_allclose(found["share"], shares.reshape(4, 10).mean(1))
    np.testing.assert_allclose(found["predicted"], (shares**2).reshape(4, 10).mean(1))
    assert (found["half"] > 0).all()
    with pytest.raises(ValueError, match=r"at least two sentences\. Got 7 for 4 bins"):
        share_by_prediction(shares[:7], shares[:7], bins=4)
