"""The truth behind `linear_model.noisy_clusters`: normal clusters at the corners of a square, labels flipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from focal_lib.validation import check_number
from reproduction.studies.shared.known_truth import KnownTruth

NODES = 66  # a coordinate and cluster: a fifth of the spread apart
REACH = 6.5  # in spreads, on either side of a mean


def cluster_truth(*, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5, nodes: int = NODES) -> KnownTruth:
    r"""A grid over each of the four clusters, and there

    .. math:: p(x) = f + (1 - 2f)\,\frac{1}{1 + e^{-2 d x_1/\sigma^2}},

    f the share of flipped labels, +-d the cluster means and sigma the spread: the second coordinate, which is
    distributed alike in both classes, drops out. Sums over the grid are integrals by the trapezoidal rule, which beside
    normal densities is good to about 1e-6 for smooth functions; with a kink, as the confidence has, to about 1e-3.

    Raises:
        ValueError: flip not in [0, 1/2), separation or spread not positive, fewer than 2 nodes.
    """
    check_number(flip, "flip", minimum=0.0)
    check_number(separation, "separation", above=0.0)
    check_number(spread, "spread", above=0.0)
    if flip >= 0.5 or nodes < 2:
        raise ValueError(f"flip must be below 1/2 and nodes at least 2. Got {flip} and {nodes}.")
    at = np.linspace(-REACH, REACH, nodes)
    weight = norm.pdf(at)
    line = np.concatenate([side * separation + spread * at for side in (-1, 1)])
    share = np.tile(weight / weight.sum(), 2) / 2
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    clean = expit(2 * separation * points[:, 0] / spread**2)
    return KnownTruth(points, np.outer(share, share).ravel(), flip + (1 - 2 * flip) * clean)


def mistakes_above(
    weights: np.ndarray, confidence: Any, *, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5
) -> Any:
    r"""Probability that sigmoid(w.x) is wrong with a confidence above this; above 1/2, that it is wrong.

    In a cluster with mean c the logit is normal, N(w.c, sigma^2 |w|^2), and the label does not depend on it: a sum of
    four normal probabilities for each label, exact where a sum over nodes would not be.

    Raises:
        ValueError: a confidence outside [1/2, 1).
    """
    level = np.asarray(confidence, dtype=np.float64)
    if not ((level >= 0.5) & (level < 1)).all():
        raise ValueError(f"confidence must be in [1/2, 1). Got {confidence}.")
    threshold, scale, total = logit(level), spread * np.linalg.norm(weights), 0.0
    for first in (-1, 1):
        for second in (-1, 1):
            mean = separation * (first * weights[0] + second * weights[1])
            of_one = 1 - flip if first > 0 else flip
            wrong_one, wrong_zero = norm.cdf((-threshold - mean) / scale), norm.sf((threshold - mean) / scale)
            total = total + (of_one * wrong_one + (1 - of_one) * wrong_zero) / 4
    return total
