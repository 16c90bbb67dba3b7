"""CIFAR-10H (Peterson et al. 2019): the votes of 47 to 63 people on each of CIFAR-10's 10,000 test images.

Licence CC BY-NC-SA 4.0. The votes are no part of this project: they are read from FOCAL_DATA/cifar10h where a user has
put them, and only tables computed from them are kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import softmax

from reproduction.engine.data import places
from reproduction.studies.shared.votes import Votes

NAME, FILE = "cifar10h", "cifar10h.npz"
PUBLISHED = "published-resnets"  # logits of networks that others trained and published, in CIFAR-10's own order
DEPTHS = (20, 32, 44, 56)
_AGREE = 0.98  # of the majorities with the labels; in the right order 99.2 %
_RELATED = 10.0  # standard errors by which agreement of people and confidence of a network must be correlated


def load_people() -> Votes:
    """The votes, in the order of the test images of the recorded runs.

    Raises:
        FileNotFoundError: FOCAL_DATA/cifar10h/cifar10h.npz is not there.
        ValueError: `original_to_mosaic` is no permutation of the rows of `counts`.
    """
    with np.load(_file(NAME, FILE), allow_pickle=False) as file:
        counts, places_of = file["counts"].astype(np.int64), file["original_to_mosaic"]
    if not np.array_equal(np.sort(places_of), np.arange(len(counts))):
        raise ValueError(
            f"original_to_mosaic must hold each of 0 ... {len(counts) - 1} once. Got {len(places_of)} numbers, "
            f"{len(np.unique(places_of))} of them different."
        )
    ordered = np.empty_like(counts)
    ordered[places_of] = counts
    return Votes(ordered, np.eye(counts.shape[-1]))


def load_published() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> logits and labels of published cross-entropy networks, in the order of the recorded runs.

    From FOCAL_DATA/published-resnets/logits20.npz ... logits56.npz (akamaster/pytorch_resnet_cifar10, BSD-2).

    Raises:
        FileNotFoundError: they, or the votes with the order of the images, are not there.
    """
    with np.load(_file(NAME, FILE), allow_pickle=False) as file:
        places_of = file["original_to_mosaic"]
    found = {}
    for depth in DEPTHS:
        with np.load(_file(PUBLISHED, f"logits{depth}.npz"), allow_pickle=False) as file:
            logits, labels = np.empty_like(file["logits"]), np.empty(len(places_of), dtype=np.int64)
            logits[places_of], labels[places_of] = file["logits"], file["labels"]
        found[f"ResNet-{depth}"] = logits, labels
    return found


def check_order(votes: Votes, logits: np.ndarray, labels: np.ndarray) -> None:
    """Refuses votes whose rows are not those of the logits.

    The majority must be the label, which tells classes apart; and within the classes a network must be surer of the
    label where more people say it, which tells images of one class apart.

    Args:
        votes, logits, labels: of the same images, (n, K), (n, K), (n,).

    Raises:
        ValueError: another number of rows, or either does not hold.
    """
    if not len(votes) == len(logits) == len(labels):
        raise ValueError(
            "votes, logits and labels must be of the same images. "
            f"Got {len(votes)}, {len(logits)} and {len(labels)} rows."
        )
    agree = float(np.mean(votes.shares.argmax(-1) == labels))
    if agree < _AGREE:
        raise ValueError(
            f"the majority must be the label for {_AGREE:.0%} of the images. Got {agree:.1%}: another order?"
        )
    rows = np.arange(len(labels))
    related = _correlation_within(votes.shares[rows, labels], softmax(logits, -1)[rows, labels], labels)
    if related * np.sqrt(len(labels)) < _RELATED:
        raise ValueError(
            "within a class the network must be surer where people agree. "
            f"Got a correlation of {related:.3f}: images of a class in another order?"
        )


def _correlation_within(one: np.ndarray, two: np.ndarray, labels: np.ndarray) -> float:
    """Of the ranks within each class, pooled."""
    ranks = np.empty((2, len(labels)))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        for row, values in zip(ranks, (one, two), strict=True):
            ordered = np.argsort(np.argsort(values[own], kind="stable"), kind="stable")
            row[own] = ordered - ordered.mean()
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _file(folder: str, name: str) -> Path:
    found = places.own_folder(folder)
    if found is None or not (found / name).is_file():
        raise FileNotFoundError(
            f"FOCAL_DATA must have {folder}/{name}, which is not part of this project. It is not there."
        )
    return found / name
