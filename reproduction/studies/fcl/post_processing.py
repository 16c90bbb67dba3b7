"""The post-processing gap of a binary predictor: what a smooth recalibration takes off its loss (L25 Def. 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from focal_lib.theory.gain import log_gain
from focal_lib.theory.proper import focal_loss_values
from focal_lib.validation import check_gamma, check_number

PIECES = 20  # of the recalibration
EDGE = 1e-6  # probabilities are kept within [EDGE, 1 - EDGE]


@dataclass(frozen=True)
class BinaryPredictor:
    """Predicted probabilities (n,), the share of class 1 among what has them (n,), a label say, and weights (n,).

    Raises:
        ValueError: shapes that do not fit; a probability or share outside [0, 1]; weights that do not add up to 1.
    """

    predicted: np.ndarray
    share: np.ndarray
    weight: np.ndarray

    def __post_init__(self) -> None:
        shapes = {part.shape for part in (self.predicted, self.share, self.weight)}
        if len(shapes) != 1 or self.predicted.ndim != 1:
            raise ValueError(f"predicted, share and weight must have one shape (n,). Got {sorted(shapes)}.")
        for part in (self.predicted, self.share):
            if not ((part >= 0) & (part <= 1)).all():
                raise ValueError("predicted and share must lie in [0, 1]. Got values outside.")
        if abs(float(self.weight.sum()) - 1) > 1e-6:
            raise ValueError(f"weight must add up to 1. Got {self.weight.sum()}.")

    @classmethod
    def of_labels(cls, predicted: np.ndarray, labels: np.ndarray) -> BinaryPredictor:
        """Of samples that count alike."""
        return cls(predicted, labels.astype(np.float64), np.full(len(labels), 1 / len(labels)))

    def loss(self, gamma: float, lam: float, predicted: np.ndarray | None = None) -> float:
        r"""Mean of focal loss plus :math:`\lambda\lVert q - e_y\rVert^2`; of other predictions, if given."""
        q = np.clip(self.predicted if predicted is None else predicted, EDGE, 1 - EDGE)
        focal = self.share * focal_loss_values(q, gamma) + (1 - self.share) * focal_loss_values(1 - q, gamma)
        square = 2 * (self.share * (1 - q) ** 2 + (1 - self.share) * q**2)
        return float(self.weight @ (focal + lam * square))

    def _slope(self, gamma: float, lam: float, q: np.ndarray) -> np.ndarray:
        """Of the loss, by each prediction."""
        pull = -self.share * np.exp(log_gain(q, gamma)) / q
        pull += (1 - self.share) * np.exp(log_gain(1 - q, gamma)) / (1 - q)
        slope: np.ndarray = self.weight * (pull + 4 * lam * (q - self.share))
        return slope


def smooth_recalibration(predictor: BinaryPredictor, gamma: float, lam: float, pieces: int = PIECES) -> np.ndarray:
    r"""The best :math:`\kappa(v) = v + \eta(v)`, :math:`\eta` 1-Lipschitz, by FCL: its values at equal steps of [0, 1].

    After Blasiok et al., whom L25 follow. So :math:`\kappa` has slopes in [0, 2]; here it is linear on each of so many
    pieces. The loss is convex in its values, and found by sequential quadratic programming.

    Returns:
        (pieces + 1,), for np.interp.

    Raises:
        ValueError: gamma or lam negative; pieces below 1.
        RuntimeError: the search failed; the message is its own.
    """
    check_gamma(gamma, minimum=0.0)
    check_number(lam, "lam", minimum=0.0)
    check_number(pieces, "pieces", minimum=1)
    knots = np.linspace(0, 1, pieces + 1)
    left = np.minimum((predictor.predicted * pieces).astype(int), pieces - 1)
    share = predictor.predicted * pieces - left

    def value(kappa: np.ndarray) -> tuple[float, np.ndarray]:
        q = np.clip((1 - share) * kappa[left] + share * kappa[left + 1], EDGE, 1 - EDGE)
        slope = predictor._slope(gamma, lam, q)
        whole = np.bincount(left, slope * (1 - share), pieces + 1)
        whole += np.bincount(left + 1, slope * share, pieces + 1)
        return predictor.loss(gamma, lam, q), whole

    steps = LinearConstraint(np.diff(np.eye(pieces + 1), axis=0), 0, 2 / pieces)
    start = np.clip(knots, EDGE, 1 - EDGE)
    found = minimize(
        value, start, jac=True, method="SLSQP", bounds=[(EDGE, 1 - EDGE)] * (pieces + 1), constraints=[steps],
        options={"ftol": 1e-10, "maxiter": 300},
    )  # fmt: skip
    if not found.success:
        raise RuntimeError(f"smooth recalibration failed: {found.message}")
    return np.asarray(found.x)


def post_processing_gap(
    fitted: BinaryPredictor, gamma: float, lam: float = 0.0, judged: BinaryPredictor | None = None
) -> float:
    """What the smooth recalibration that is best for `fitted` takes off FCL of `judged`, without it of `fitted` itself.

    Of `fitted` itself it is never negative, but for the error of the search; of other samples it can be. gamma = lam =
    0: off the log-loss. Errors as `smooth_recalibration`.
    """
    kappa, judged = smooth_recalibration(fitted, gamma, lam), judged or fitted
    after = np.interp(judged.predicted, np.linspace(0, 1, len(kappa)), kappa)
    return judged.loss(gamma, lam) - judged.loss(gamma, lam, after)
