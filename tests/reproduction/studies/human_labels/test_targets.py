"""Labels made of votes: their law, and the loss expected under them."""

import numpy as np
import pytest
import torch

from focal_lib.losses.focal import FocalLoss
from reproduction.studies.human_labels.targets import expected_loss, make_targets
from reproduction.studies.human_labels.votes import Votes
from reproduction.studies.human_labels.votes_data import WORTH, load_reviews_with_votes

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
