"""Distances to people, and temperatures that suit them."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.people.measures import Network, fit_to_people, halves, measure_distances, settings
from reproduction.studies.shared.votes import Votes


def test_a_network_equal_to_the_votes_is_at_distance_zero_but_for_the_noise():
    votes = Votes(np.array([[30, 15, 5], [10, 20, 20]]), np.eye(3))
    found = measure_distances(np.log(votes.shares), votes, np.array([0, 1]))
    assert found["kl"] == pytest.approx(float((votes.entropy - votes.corrected_entropy).mean()))
    assert found["l2"] == pytest.approx(-float(votes.squared_noise.mean()))
    assert found["gap"] == pytest.approx(0)
    assert found["kl_rare"] == found["l2_rare"] == 0


def test_distances_by_hand():
    """p = (3/4, 1/4, 0) and q = (0.995, 0.001, 0.004): KL of the second and third class is of almost excluded ones."""
    votes, q = Votes(np.array([[75, 25, 0]]), np.eye(3)), np.array([[0.995, 0.001, 0.004]])
    found = measure_distances(np.log(q), votes, np.array([1]))
    assert found["kl_rare"] == pytest.approx(0.25 * np.log(0.25 / 0.001))
    assert found["l2_rare"] == pytest.approx(0.249**2 + 0.004**2)
    assert found["l2"] == pytest.approx(0.245**2 + 0.249**2 + 0.004**2 - 0.75 * 0.25 * 2 / 99)
    assert (found["gap"], found["label_gap"]) == (pytest.approx(0.245), pytest.approx(0.995))
    p = np.array([75.1, 25.1, 0.1]) / 100.3
    assert found["kl_prior"] == pytest.approx((p * np.log(p / q[0])).sum())
    floor = 0.99 * q[0] + 0.01 / 3
    assert found["kl_floor"] - found["kl"] == pytest.approx(
        0.75 * np.log(0.995 / floor[0]) + 0.25 * np.log(0.001 / floor[1])
    )


@pytest.mark.parametrize("distance", ["kl", "l2"])
def test_the_temperature_that_votes_were_drawn_with_is_found(network, distance):
    logits, _, votes = network
    assert fit_to_people(logits, Votes(votes, np.eye(4)), distance) == pytest.approx(1.5, rel=0.05)
    with pytest.raises(ValueError, match="distance must be one of kl, l2"):
        fit_to_people(logits, Votes(votes, np.eye(4)), "l1")


def test_votes_exchanged_between_classes_are_far(network):
    logits, labels, votes = network
    log_probs = log_softmax(logits / 1.5, -1)
    near = measure_distances(log_probs, Votes(votes, np.eye(4)), labels)
    far = measure_distances(log_probs, Votes(np.roll(votes, 1, axis=1), np.eye(4)), labels)
    assert abs(near["kl"]) < 0.01 < 1 < far["kl"]
    assert abs(near["l2"]) < 0.001 < 1 < far["l2"]


def test_a_temperature_for_people_is_tried_on_images_it_was_not_fitted_on(network):
    logits, labels, counts = network
    votes = Votes(counts, np.eye(4))
    given = Network("", "", "focal 2", 2.0, 0, logits, labels, (logits, labels))
    found = {method: (log_probs, t) for method, log_probs, t in settings(given, votes)}
    assert list(found) == ["none", "temperature", "map", "map-temperature", "people", "people-l2"]
    one, two = halves(len(labels))
    assert sorted([*one, *two]) == list(range(len(labels)))
    t = fit_to_people(logits[two], votes.take(two))
    np.testing.assert_allclose(found["people"][0][one], log_softmax(logits[one] / t, -1))
    np.testing.assert_allclose(found["map"][0], focal_log_probs(log_softmax(logits, -1), 2.0), atol=1e-12)
    changed = counts.copy()
    changed[one] = np.random.default_rng(3).multinomial(50, softmax(logits[one] / 4, -1))
    again = {m: z for m, z, _ in settings(given, Votes(changed, np.eye(4)))}
    np.testing.assert_array_equal(again["people"][one], found["people"][0][one])
    assert not np.allclose(again["people"][two], found["people"][0][two])


def test_without_validation_labels_the_other_half_of_the_test_labels_serves(network):
    logits, labels, counts = network
    given = Network("", "", "cross-entropy", 0.0, 0, logits, labels, None)
    found = {m: t for m, _, t in settings(given, Votes(counts, np.eye(4)))}
    assert list(found) == ["none", "temperature", "people", "people-l2"]
    assert found["people"] > found["temperature"]
