"""Votes in the order of the runs, and that another order is noticed."""

import numpy as np
import pytest

from reproduction.studies.people.cifar10h import check_order, load_people
from reproduction.studies.shared.votes import Votes


def test_votes_come_in_the_order_of_the_runs(network, write_votes):
    logits, labels, votes = network
    write_votes(votes)
    found = load_people()
    np.testing.assert_array_equal(found.counts, votes)
    check_order(found, logits, labels)


def test_rows_in_the_order_of_the_file_are_noticed(network, write_votes):
    logits, labels, votes = network
    write_votes(votes, np.arange(len(votes)))
    with pytest.raises(ValueError, match=r"majority must be the label for 98% of the images. Got [23]\d"):
        check_order(load_people(), logits, labels)


def test_images_of_one_class_that_are_exchanged_are_noticed(network):
    """The majority agrees with the label as before."""
    logits, labels, votes = network
    rng, moved = np.random.default_rng(2), votes.copy()
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        moved[own] = votes[rng.permutation(own)]
    assert (moved.argmax(-1) == labels).mean() == (votes.argmax(-1) == labels).mean() > 0.98
    with pytest.raises(ValueError, match=r"surer where people agree.*images of a class in another order"):
        check_order(Votes(moved, np.eye(4)), logits, labels)


def test_another_number_of_images_is_refused(network):
    logits, labels, votes = network
    with pytest.raises(ValueError, match="Got 999, 1000 and 1000 rows"):
        check_order(Votes(votes[:-1], np.eye(4)), logits, labels)


def test_an_order_that_is_no_permutation_is_refused(network, write_votes):
    *_, votes = network
    write_votes(votes, np.zeros(len(votes), dtype=int))
    with pytest.raises(ValueError, match=r"each of 0 ... 999 once. Got 1000 numbers, 1 of them different"):
        load_people()


def test_votes_that_are_not_there_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"FOCAL_DATA must have cifar10h/cifar10h\.npz"):
        load_people()
