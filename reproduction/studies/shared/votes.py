"""Distances from predictions to what people said, with the noise of few raters taken out.

Of an item :math:`m` raters were asked, :math:`s` is the mean of their votes, :math:`p` that of all raters there could
be. A prediction :math:`q` that did not see these votes is compared with :math:`p`, of which only :math:`s` is known:

.. math:: E\lVert q-s\rVert^2 = \lVert q-p\rVert^2 + E\lVert s-p\rVert^2, \qquad
          E\big[-\textstyle\sum_k s_k\log q_k\big] = -\sum_k p_k\log q_k .

So the squared distance to the votes is too large by the variance of their mean, which has an unbiased estimate, and
cross-entropy is not too large at all: the noise enters :math:`\mathrm{KL}(p\Vert q)` through the entropy of :math:`p`
alone, the same for every prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import xlogy


@dataclass(frozen=True)
class Votes:
    """How many raters of each item gave each answer, and what an answer counts for each class.

    Attributes:
        counts: (n, answers), whole numbers, at least two votes an item.
        worth: (answers, K), each row a distribution over the classes: (0.5, 0.5) for an answer between two of them.

    Raises:
        ValueError: another shape, rows of `worth` that are no distributions, an item with fewer than two votes.
    """

    counts: np.ndarray
    worth: np.ndarray

    def __post_init__(self) -> None:
        if self.counts.ndim != 2 or self.worth.shape[:1] != self.counts.shape[1:]:
            raise ValueError(
                "counts and worth must have shapes (n, answers) and (answers, K). "
                f"Got {self.counts.shape} and {self.worth.shape}."
            )
        if (self.worth < 0).any() or not np.allclose(self.worth.sum(-1), 1):
            raise ValueError(f"each row of worth must be a distribution. Got {self.worth.tolist()}.")
        if len(self.counts) and ((self.counts < 0).any() or self.raters.min() < 2):
            raise ValueError(f"each item must have at least two votes. Got {self.raters.min()}.")

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, index: np.ndarray) -> Votes:
        return Votes(self.counts[index], self.worth)

    @cached_property
    def raters(self) -> np.ndarray:
        """m, the number of votes of each item (n,)."""
        return self.counts.sum(-1)

    @cached_property
    def shares(self) -> np.ndarray:
        """s, the mean vote of each item (n, K)."""
        return self.counts @ self.worth / self.raters[:, None]

    @cached_property
    def squared_noise(self) -> np.ndarray:
        r"""Unbiased estimate (n,) of :math:`E\lVert s-p\rVert^2`, the sample variance of the votes over m."""
        squares = self.counts @ (self.worth**2).sum(-1) / self.raters
        return (squares - (self.shares**2).sum(-1)) / (self.raters - 1)

    @cached_property
    def entropy(self) -> np.ndarray:
        """Entropy of s (n,), in nats; on average less than that of p."""
        return _entropy(self.shares)

    @cached_property
    def corrected_entropy(self) -> np.ndarray:
        """The jackknife's estimate (n,) of the entropy of p; its bias is of order 1/m^2, that of `entropy` of 1/m."""
        m = self.raters
        total = np.zeros(len(self))
        for answer, worth in enumerate(self.worth):  # without one vote for it
            fewer = (self.shares * m[:, None] - worth) / (m - 1)[:, None]
            there = self.counts[:, answer] > 0
            total += np.where(there, self.counts[:, answer] * _entropy(np.clip(fewer, 0, 1)), 0)
        return m * self.entropy - (m - 1) / m * total


def _entropy(shares: np.ndarray) -> np.ndarray:
    found: np.ndarray = -xlogy(shares, shares).sum(-1)
    return found


def squared_distance_to_raters(probs: np.ndarray, votes: Votes) -> np.ndarray:
    r"""Unbiased estimate (n,) of :math:`\lVert q-p\rVert^2`: to the votes, less their noise; it may be below 0.

    For two classes it is the energy distance between the two distributions over labels, too; `energy_to_raters`.

    Raises:
        ValueError: probs are not (n, K).
    """
    _check(probs, votes)
    distance: np.ndarray = ((probs - votes.shares) ** 2).sum(-1) - votes.squared_noise
    return distance


def energy_to_raters(probs: np.ndarray, votes: Votes) -> np.ndarray:
    r"""Unbiased estimate (n,) of the energy distance of ordered classes, 1 apart from each to the next.

    .. math:: 2E|X-Y| - E|X-X'| - E|Y-Y'| = 2\textstyle\sum_{k<K} (Q_k-P_k)^2

    (Székely & Rizzo 2013) for classes :math:`X, X'` as predicted, :math:`Y, Y'` as raters say, :math:`Q_k, P_k` their
    chances to be at most k; less the noise of the votes, so that it may be below 0. For two classes it is
    `squared_distance_to_raters`.

    Raises:
        ValueError: probs are not (n, K).
    """
    _check(probs, votes)
    up_to = votes.worth.cumsum(-1)[:, :-1]  # of each answer, for each class but the last
    said = votes.counts @ up_to / votes.raters[:, None]
    noise = (votes.counts @ up_to**2 / votes.raters[:, None] - said**2) / (votes.raters - 1)[:, None]
    distance: np.ndarray = 2 * ((probs.cumsum(-1)[:, :-1] - said) ** 2 - noise).sum(-1)
    return distance


def divergence_to_raters(log_probs: np.ndarray, votes: Votes) -> np.ndarray:
    r"""Estimate (n,) of :math:`\mathrm{KL}(p\Vert q)`: cross-entropy to the votes less the corrected entropy.

    A difference between two predictions is that of their cross-entropies, without bias.

    Raises:
        ValueError: log_probs are not (n, K).
    """
    _check(log_probs, votes)
    said = votes.shares > 0  # what nobody says counts nothing, even where the prediction is 0
    crossed = -np.multiply(votes.shares, log_probs, where=said, out=np.zeros_like(votes.shares)).sum(-1)
    difference: np.ndarray = crossed - votes.corrected_entropy
    return difference


def _check(values: np.ndarray, votes: Votes) -> None:
    if values.shape != votes.shares.shape:
        raise ValueError(f"predictions must have shape (n, K) = {votes.shares.shape}. Got {values.shape}.")
