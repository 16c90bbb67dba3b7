"""Made-up classification with a known truth: each class a normal cloud, of which Bayes' rule gives the logits."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def bayes_logits(
    n: int, classes: int, rng: np.random.Generator, *, accuracy: float = 0.8, frequencies: np.ndarray | None = None
) -> np.ndarray:
    """Logits (n, classes) whose softmax are the true probabilities of the classes.

    The clouds have unit variance and are equally far apart, and how far is set by the accuracy that Bayes' rule has, or
    would have, were all classes equally frequent.

    Args:
        frequencies: of the classes, (classes,), positive, with sum 1; equal by default.

    Raises:
        ValueError: fewer than 2 classes; an accuracy that is not between chance and 1; frequencies that are none.
    """
    if classes < 2:
        raise ValueError(f"classes must be at least 2. Got {classes}.")
    if not 1 / classes < accuracy < 1:
        raise ValueError(f"accuracy must lie between {1 / classes:.3g} and 1. Got {accuracy}.")
    if frequencies is not None and not (
        np.shape(frequencies) == (classes,) and np.min(frequencies) > 0 and abs(np.sum(frequencies) - 1) < 1e-9
    ):
        raise ValueError(f"frequencies must be {classes} positive numbers with sum 1. Got {frequencies}.")
    apart = _distance(classes, accuracy)
    logits = rng.standard_normal((n, classes))
    drawn = rng.integers(0, classes, n) if frequencies is None else rng.choice(classes, n, p=frequencies)
    logits[np.arange(n), drawn] += apart
    return apart * logits if frequencies is None else apart * logits + np.log(frequencies)


def _distance(classes: int, accuracy: float) -> float:
    """Of the means from 0, along axes of their own."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    weights = weights / weights.sum()

    def excess(apart: float) -> float:
        return float(weights @ stats.norm.cdf(nodes + apart) ** (classes - 1)) - accuracy

    return float(brentq(excess, 0.0, 20.0))
