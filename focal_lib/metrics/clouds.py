"""Made-up classification with a known truth: each class a normal cloud, of which Bayes' rule gives the logits."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.optimize import brentq

__all__ = ["bayes_logits"]


def bayes_logits(n: int, classes: int, rng: np.random.Generator, *, accuracy: float = 0.8) -> np.ndarray:
    """Logits (n, classes) whose softmax are the true probabilities of the classes.

    The classes are equally frequent, their clouds of unit variance are equally far apart, and how far is set by the
    accuracy of Bayes' rule.

    Raises:
        ValueError: fewer than 2 classes; an accuracy that is not between chance and 1.
    """
    if classes < 2:
        raise ValueError(f"classes must be at least 2. Got {classes}.")
    if not 1 / classes < accuracy < 1:
        raise ValueError(f"accuracy must lie between {1 / classes:.3g} and 1. Got {accuracy}.")
    apart = _distance(classes, accuracy)
    logits = rng.standard_normal((n, classes))
    logits[np.arange(n), rng.integers(0, classes, n)] += apart
    return apart * logits


def _distance(classes: int, accuracy: float) -> float:
    """Of the means from 0, along axes of their own."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    weights = weights / weights.sum()

    def excess(apart: float) -> float:
        return float(weights @ stats.norm.cdf(nodes + apart) ** (classes - 1)) - accuracy

    return float(brentq(excess, 0.0, 20.0))
