"""M20 App. G: logistic regression on noisy clusters, where focal loss and cross-entropy can be fitted exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.validation import check_gamma


def noisy_clusters(
    samples: int, seed: int, *, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian clusters a class at the corners of a square, labels flipped at random: (n, 2), (n,).

    M20 App. G gives no cluster spread; ours leaves the clean classes nearly separable.
    """
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, size=(samples, 2)) * 2 - 1  # corner of each point
    x = separation * side + spread * rng.normal(size=(samples, 2))
    labels = (side[:, 0] > 0).astype(np.int64)
    flipped = rng.random(samples) < flip
    return x, np.where(flipped, 1 - labels, labels)


@dataclass(frozen=True)
class LinearFit:
    """Weights (2,) of f(x) = sigmoid(w . x), the mean loss there, and the largest entry of its gradient."""

    weights: np.ndarray
    loss: float
    gradient: float = float("nan")

    def probs(self, x: np.ndarray) -> np.ndarray:
        """Probability of class 1: (n, 2) -> (n,)."""
        return expit(x @ self.weights)


def fit_linear_model(x: np.ndarray, labels: np.ndarray, gamma: float, shares: np.ndarray | None = None) -> LinearFit:
    """The weights that minimise mean focal loss, by BFGS with the exact gradient from 0.

    With margin s = +-w.x the loss of a sample is (1-q)^gamma (-log q), q = sigmoid(s), and its
    derivative by s is -g(q)(1-q) (M20 Prop. 1).

    Args:
        x, labels: (n, d), (n,).
        gamma: >= 0.
        shares: (n,), what each sample counts, adding up to 1; without them all the same.

    Raises:
        ValueError: gamma < 0, or shapes that do not fit.
        RuntimeError: the optimiser did not converge; the message is its own.
    """
    check_gamma(gamma, minimum=0.0)
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise ValueError(f"x and labels must have shapes (n, d) and (n,). Got {x.shape} and {labels.shape}.")
    counts = np.full(len(x), 1 / len(x)) if shares is None else shares
    if counts.shape != labels.shape:
        raise ValueError(f"shares must have shape {labels.shape}, as labels. Got {counts.shape}.")
    sign = np.where(labels == 1, 1.0, -1.0)

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        s = sign * (x @ weights)
        soft, rest = np.logaddexp(0, -s), expit(-s)
        loss = rest**gamma * soft
        slope = -np.exp(log_gain_of_logit(s, gamma)) * rest * sign
        return float(counts @ loss), x.T @ (counts * slope)

    found = minimize(objective, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-11})
    if not found.success and np.abs(found.jac).max() > 1e-6:
        raise RuntimeError(f"focal fit did not converge: {found.message}")
    return LinearFit(found.x, float(found.fun), float(np.abs(found.jac).max()))
