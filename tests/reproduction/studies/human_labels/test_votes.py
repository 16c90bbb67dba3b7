"""Votes and targets from them: unbiased distances, draws, majorities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy
from scipy.stats import multinomial

from focal_lib.losses.focal import FocalLoss
from reproduction.studies.human_labels.models import expected_loss, make_targets
from reproduction.studies.human_labels.votes import WORTH, load_reviews_with_votes
from reproduction.studies.shared.votes import (
    Votes,
    divergence_to_raters,
    energy_to_raters,
    squared_distance_to_raters,
)

HALVES = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
WORTHS = pytest.mark.parametrize("worth", [HALVES, np.eye(3)], ids=["two classes", "three classes"])
ANSWERS = np.array([0.3, 0.1, 0.6])  # what raters answer, in the long run


def _every_outcome(m):
    """All votes (N, 3) that m raters can give, with their probabilities."""
    counts = np.array([c for c in itertools.product(range(m + 1), repeat=3) if sum(c) == m])
    return counts, multinomial.pmf(counts, m, ANSWERS)


@WORTHS
@pytest.mark.parametrize("m", [2, 5, 9])
def test_the_squared_distance_is_unbiased(worth, m):
    counts, chance = _every_outcome(m)
    votes, truth = Votes(counts, worth), ANSWERS @ worth
    variance = chance @ ((votes.shares - truth) ** 2).sum(-1)
    assert chance @ votes.squared_noise == pytest.approx(variance, rel=1e-12)
    q = np.full(worth.shape[1], 1 / worth.shape[1])
    found = squared_distance_to_raters(np.tile(q, (len(counts), 1)), votes)
    assert chance @ found == pytest.approx(((q - truth) ** 2).sum(), rel=1e-12)


@WORTHS
def test_differences_of_divergence_are_unbiased_and_its_level_nearly(worth):
    counts, chance = _every_outcome(12)
    votes, truth = Votes(counts, worth), ANSWERS @ worth
    one, two = np.log(np.roll(truth, 1)), np.log(np.full(len(truth), 1 / len(truth)))
    divergence = [truth @ (np.log(truth) - q) for q in (one, two)]
    found = [chance @ divergence_to_raters(np.tile(q, (len(counts), 1)), votes) for q in (one, two)]
    assert found[0] - found[1] == pytest.approx(divergence[0] - divergence[1], rel=1e-12)
    entropy = -xlogy(truth, truth).sum()
    bias, corrected = chance @ votes.entropy - entropy, chance @ votes.corrected_entropy - entropy
    assert bias < 0
    assert abs(corrected) < abs(bias) / 5
    assert abs(found[0] - divergence[0]) < abs(bias) / 5


def _slow(votes):
    """Noise and jackknife of one item, from a list of its votes."""
    m, mean = len(votes), votes.mean(0)
    noise = sum(((vote - mean) ** 2).sum() for vote in votes) / (m - 1) / m

    def entropy(given):
        share = given.mean(0)
        return -xlogy(share, share).sum()

    without = [entropy(np.delete(votes, i, 0)) for i in range(m)]
    return noise, m * entropy(votes) - (m - 1) * np.mean(without)


@WORTHS
@given(counts=st.tuples(*[st.integers(0, 9)] * 3).filter(lambda c: sum(c) >= 2))
def test_as_written_out_vote_by_vote(worth, counts):
    noise, entropy = _slow(np.repeat(worth, counts, axis=0))
    votes = Votes(np.array([counts]), worth)
    assert votes.squared_noise[0] == pytest.approx(noise, abs=1e-12)
    assert votes.corrected_entropy[0] == pytest.approx(entropy, abs=1e-10)


def _energy(one, two):
    """By definition: twice the mean distance between two classes, less that within each, for classes on a line."""
    places = np.arange(len(one))
    apart = np.abs(places[:, None] - places)
    return 2 * one @ apart @ two - one @ apart @ one - two @ apart @ two


@given(p=st.floats(0, 1), q=st.floats(0, 1))
def test_the_energy_distance_of_two_classes_is_the_squared_distance(p, q):
    one, two = np.array([1 - p, p]), np.array([1 - q, q])
    assert _energy(one, two) == pytest.approx(((one - two) ** 2).sum(), abs=1e-12)


FOUR = np.array([[1, 0, 0, 0], [0, 0.5, 0.25, 0.25], [0, 0.1, 0.1, 0.8]])


@pytest.mark.parametrize("worth", [HALVES, np.eye(3), np.eye(3)[[1, 2, 0]], FOUR])
@pytest.mark.parametrize("m", [2, 5, 9])
def test_the_energy_distance_is_unbiased(worth, m):
    counts, chance = _every_outcome(m)
    votes, truth = Votes(counts, worth), ANSWERS @ worth
    for q in (truth, np.roll(truth, 1), np.full(len(truth), 1 / len(truth))):
        found = chance @ energy_to_raters(np.tile(q, (len(counts), 1)), votes)
        assert found == pytest.approx(_energy(q, truth), rel=1e-12, abs=1e-14)


@given(counts=st.tuples(*[st.integers(0, 9)] * 3).filter(lambda c: sum(c) >= 2), q=st.floats(0, 1))
def test_of_two_classes_the_energy_distance_to_raters_is_the_squared_one(counts, q):
    probs, votes = np.array([[1 - q, q]]), Votes(np.array([counts]), HALVES)
    assert energy_to_raters(probs, votes)[0] == pytest.approx(squared_distance_to_raters(probs, votes)[0], abs=1e-12)


def test_by_energy_the_far_end_is_farther_than_the_middle_and_by_the_square_it_is_not():
    votes = Votes(np.array([[0, 0, 7]] * 3), np.eye(3))  # all say the last
    np.testing.assert_allclose(energy_to_raters(np.eye(3), votes), [4, 2, 0])
    np.testing.assert_allclose(squared_distance_to_raters(np.eye(3), votes), [2, 2, 0])


def test_unanimous_raters_leave_no_noise_and_a_certain_mistake_is_infinitely_far():
    votes = Votes(np.array([[0, 0, 7]]), HALVES)
    assert votes.squared_noise[0] == 0
    with np.errstate(divide="ignore"):
        sure, wrong = np.log([[0.0, 1.0]]), np.log([[1.0, 0.0]])
    assert divergence_to_raters(sure, votes)[0] == 0
    assert divergence_to_raters(wrong, votes)[0] == np.inf


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"\(n, answers\) and \(answers, K\). Got \(1, 2\) and \(3, 2\)"):
        Votes(np.ones((1, 2), int), HALVES)
    with pytest.raises(ValueError, match="each row of worth must be a distribution"):
        Votes(np.ones((1, 3), int), 2 * HALVES)
    with pytest.raises(ValueError, match=r"at least two votes. Got 1"):
        Votes(np.array([[1, 1, 1], [0, 1, 0]]), HALVES)
    with pytest.raises(ValueError, match=r"must have shape \(n, K\) = \(1, 2\). Got \(1, 3\)"):
        squared_distance_to_raters(np.ones((1, 3)) / 3, Votes(np.array([[1, 1, 1]]), HALVES))
    with pytest.raises(ValueError, match=r"must have shape \(n, K\) = \(1, 3\). Got \(1, 2\)"):
        energy_to_raters(np.ones((1, 2)) / 2, Votes(np.array([[1, 1, 1]]), np.eye(3)))


COUNTS = np.array([[3, 2, 5]])


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_are_drawn_from_the_shares(classes):
    votes = Votes(np.repeat(COUNTS, 20_000, 0), WORTH[classes])
    drawn = make_targets(votes, "drawn", seed=3)
    assert set(drawn.ravel()) == {0, 1}
    np.testing.assert_array_equal(drawn.sum(-1), 1)
    error = np.sqrt(0.25 / len(drawn))
    np.testing.assert_allclose(drawn.mean(0), votes.shares[0], atol=4 * error)
    np.testing.assert_array_equal(drawn, make_targets(votes, "drawn", seed=3))
    assert (drawn != make_targets(votes, "drawn", seed=4)).any()


def test_the_majority_and_all_votes():
    votes = Votes(np.array([[3, 2, 5], [4, 0, 1], *[[2, 1, 2]] * 400]), WORTH[2])
    majority = make_targets(votes, "majority", 0)
    np.testing.assert_array_equal(majority[:2], [[0, 1], [1, 0]])
    assert 150 < majority[2:, 0].sum() < 250  # ties by a coin
    np.testing.assert_array_equal(make_targets(votes, "votes", 0), votes.shares)
    with pytest.raises(ValueError, match=r"one of drawn, majority, votes. Got 'mean'"):
        make_targets(votes, "mean", 0)


def test_the_expected_loss_of_shares_is_the_mean_over_many_drawn_labels():
    loss, logits = FocalLoss(2.0), torch.tensor([[0.3, -0.4, 1.0]], dtype=torch.float64)
    shares = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64)
    each = torch.stack([loss(logits, torch.tensor([k])) for k in range(3)])
    torch.testing.assert_close(expected_loss(loss, logits, shares), (shares[0] * each).sum())
    one = torch.eye(3, dtype=torch.float64)[[1]]
    torch.testing.assert_close(expected_loss(loss, logits, one), each[1])


def test_votes_are_those_of_the_data_sets_posterior(reviews):
    dataset, train, test = load_reviews_with_votes(2)
    np.testing.assert_allclose(train.shares, dataset.train.posterior)
    np.testing.assert_allclose(test.shares, dataset.test.posterior)
    _, _, three = load_reviews_with_votes(3)
    held = reviews[9::10]
    np.testing.assert_array_equal(three.counts, [((v < 0).sum(), (v == 0).sum(), (v > 0).sum()) for v in held])
    assert three.shares.shape == (20, 3)
    with pytest.raises(ValueError, match=r"classes must be 2 or 3\. Got 9"):
        load_reviews_with_votes(9)
