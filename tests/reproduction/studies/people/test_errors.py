"""Errors over images and raters against those that are known."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from reproduction.studies.people.errors import draw_errors, ratio_error, terms, two_way_interval
from reproduction.studies.people.measures import Network, fit_to_people
from reproduction.studies.shared.votes import Votes, divergence_to_raters, squared_distance_to_raters


@pytest.mark.parametrize("metric", ["kl", "l2"])
def test_the_terms_give_differences_of_the_distances(network, metric):
    logits, _, counts = network
    votes = Votes(counts, np.eye(4))
    one, two = log_softmax(logits, -1), log_softmax(logits / 3, -1)

    def by_terms(z):
        a, b = terms(z, metric)
        return (votes.shares * a).sum(-1) + b

    def distance(z):
        if metric == "kl":
            return divergence_to_raters(z, votes)
        return squared_distance_to_raters(np.exp(z), votes)

    np.testing.assert_allclose(by_terms(one) - by_terms(two), distance(one) - distance(two), atol=1e-12)
    with pytest.raises(ValueError, match="metric must be kl, kl_floor or l2"):
        terms(one, "energy")


def test_the_bootstrap_finds_the_variance_of_images_and_of_raters(network):
    logits, _, counts = network
    votes, z = Votes(counts, np.eye(4)), log_softmax(logits, -1)
    ((both, images),) = draw_errors([(-z, np.zeros(len(z)))], votes, 400)
    each, s = -(votes.shares * z).sum(-1), votes.shares
    of_images = each.var() / len(z)
    of_raters = (((s * z**2).sum(-1) - each**2) / votes.raters).mean() / len(z)
    assert images == pytest.approx(np.sqrt(of_images), rel=0.12)
    assert both == pytest.approx(np.sqrt(of_images + of_raters), rel=0.12)
    assert both > images


def test_equal_networks_differ_by_nothing(network):
    logits, _, counts = network
    zero = np.zeros_like(logits), np.zeros(len(logits))
    assert draw_errors([zero], Votes(counts, np.eye(4)), 20) == [(0.0, 0.0)]


def test_the_error_of_a_ratio_is_that_of_repeated_samples():
    """Of 200 samples from one population, the spread of log T for people over T for labels."""
    rng, n = np.random.default_rng(5), 400

    def sample():
        z = 3 * rng.normal(size=(n, 3))
        p = softmax(z / 1.5, -1)
        labels = (rng.random((n, 1)) < p.cumsum(-1)).argmax(-1)
        votes = Votes(rng.multinomial(20, p), np.eye(3))
        return Network("", "", "", 0.0, 0, z, labels, (z, labels)), votes

    found = []
    for _ in range(60):
        network, votes = sample()
        t = fit_to_people(network.logits, Votes(np.eye(3, dtype=int)[network.labels] * 2, np.eye(3)))
        found.append(np.log(fit_to_people(network.logits, votes) / t))
    network, votes = sample()
    assert ratio_error([network], votes) == pytest.approx(np.std(found, ddof=1), rel=0.3)


def test_an_interval_has_both_parts():
    seeds = np.array([1.0, 2.0, 3.0])
    alone, wide = two_way_interval(seeds, 0.0), two_way_interval(seeds, 1.0)
    assert wide.standard_error == pytest.approx(np.hypot(alone.standard_error, 1.0))
    half = np.hypot(4.302653 / np.sqrt(3), 1.959964)  # Student's quantile of 2 degrees of freedom, and the normal one
    assert wide.high - wide.low == pytest.approx(2 * half, abs=1e-5)
    assert wide.high - wide.low > alone.high - alone.low
    assert two_way_interval(np.full(3, 2.0), 1.0).low == pytest.approx(2 - 1.959964, abs=1e-5)
    with pytest.raises(ValueError, match="seeds must be at least two"):
        two_way_interval(seeds[:1], 1.0)
