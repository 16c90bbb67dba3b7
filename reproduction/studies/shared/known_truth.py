"""Binary predictions against a known truth: expectations over points that stand for the whole distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, xlogy


@dataclass(frozen=True)
class KnownTruth:
    """Points (m, d), their shares (m,) of the distribution, and the true probability (m,) of class 1 there.

    Raises:
        ValueError: shapes that do not fit, shares that do not add up to 1, a probability outside [0, 1].
    """

    points: np.ndarray
    shares: np.ndarray
    posterior: np.ndarray

    def __post_init__(self) -> None:
        m = len(self.points)
        if self.points.ndim != 2 or self.shares.shape != (m,) or self.posterior.shape != (m,):
            shapes = self.points.shape, self.shares.shape, self.posterior.shape
            raise ValueError(f"points, shares and posterior must have shapes (m, d), (m,) and (m,). Got {shapes}.")
        if abs(float(self.shares.sum()) - 1) > 1e-6:
            raise ValueError(f"shares must add up to 1. Got {self.shares.sum()}.")
        if not ((self.posterior >= 0) & (self.posterior <= 1)).all():
            raise ValueError("posterior must lie in [0, 1]. Got values outside.")

    @property
    def accuracy(self) -> float:
        """Of the best classifier there is."""
        return float(self.shares @ np.maximum(self.posterior, 1 - self.posterior))


@dataclass(frozen=True)
class Standing:
    """How predictions stand against the truth, each (...) as the predictions (..., m) had axes before the last.

    Attributes:
        accuracy: probability that the predicted class is the label.
        confidence: mean of max(q, 1-q); above the accuracy is overconfident.
        distance: root mean square of q - p, p the truth.
        excess: mean of KL(p || q), by which the log-loss lies above that of the truth.
    """

    accuracy: np.ndarray
    confidence: np.ndarray
    distance: np.ndarray
    excess: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """Confidence minus accuracy."""
        return self.confidence - self.accuracy


def against_truth(logits: np.ndarray, truth: KnownTruth) -> Standing:
    """Of the logits (..., m) of class 1 at the points of `truth`; where they are 0, class 0 is predicted.

    Raises:
        ValueError: not as many logits as points.
    """
    if logits.shape[-1:] != truth.shares.shape:
        raise ValueError(f"logits must have shape (..., {len(truth.shares)}). Got {logits.shape}.")
    p, q = truth.posterior, expit(logits)
    entropy = -xlogy(p, p) - xlogy(1 - p, 1 - p)
    log_loss = -p * log_expit(logits) - (1 - p) * log_expit(-logits)
    return Standing(
        accuracy=np.where(logits > 0, p, 1 - p) @ truth.shares,
        confidence=expit(np.abs(logits)) @ truth.shares,
        distance=np.sqrt(np.square(q - p) @ truth.shares),
        excess=(log_loss - entropy) @ truth.shares,
    )
