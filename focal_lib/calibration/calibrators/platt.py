"""Platt scaling (Platt 1999): slope and intercept of a logit, for two classes."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from focal_lib.arrays import array_namespace, log_sigmoid, sigmoid
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples

_FAR = 1e6  # slope or intercept, in units of the logits' standard deviation: they separate the classes


class PlattScaling(Calibrator):
    r"""Platt scaling: slope and intercept of the logit of class 1, for two classes (Platt 1999).

    p_1 = sigmoid(a d + b), d = z_1 - z_0 (or the score of class 1 alone).

    Fitted on the NLL by Newton steps. With `smoothing` labels are replaced by Platt's targets,
    :math:`(N_1 + 1)/(N_1 + 2)` for class 1 and :math:`1/(N_0 + 2)` for class 0. The fit is then finite where the scores
    separate the classes, and nearer to the truth with few positives; with many it is the maximum of the likelihood.

    Args:
        smoothing: whether to use Platt's targets.

    Fitted attributes:
        ``slope_``: a, negative where higher scores mean class 0. ``intercept_``: b. ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or other than two classes.

    Examples:
        >>> scores, labels = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0], [0, 0, 1, 0, 1, 1]
        >>> fit = PlattScaling(smoothing=False).fit(scores, labels)
        >>> fit.predict_proba([1.0]).round(3).tolist()  # two of three such samples are of class 1
        [[0.333, 0.667]]
    """

    slope_: float
    intercept_: float

    def __init__(self, smoothing: bool = True) -> None:
        self.smoothing = smoothing

    def _fit(self, samples: FitSamples) -> None:
        if samples.classes != 2:
            raise ValueError(f"Platt scaling is for two classes. Got {samples.classes}: take vector scaling.")
        mean, square, share = samples.weighted_mean(_moments)
        variance = square - mean**2
        spread = float(np.sqrt(variance)) if variance > 1e-20 * square else 1.0
        positives = share * samples.weight
        targets = (0.0, 1.0)
        if self.smoothing:
            targets = 1 / (samples.weight - positives + 2), (positives + 1) / (positives + 2)
        part = functools.partial(_sums, float(mean), spread, np.array(targets))
        a, b = _newton(lambda a, b: samples.weighted_mean(functools.partial(part, a, b)))
        self.slope_, self.intercept_ = a / spread, b - a * float(mean) / spread

    def _log_probs(self, logits: Any) -> Any:
        score = self.slope_ * (logits[..., 1:2] - logits[..., 0:1]) + self.intercept_
        return array_namespace(score).concat([log_sigmoid(-score), log_sigmoid(score)], axis=-1)

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import LinearModule

        weight = np.array([[0.0, 0.0], [-self.slope_, self.slope_]])
        return LinearModule(weight, np.array([0.0, self.intercept_]))


def _difference(z: np.ndarray) -> np.ndarray:
    return z[:, 1].astype(np.float64, copy=False) - z[:, 0]


def _moments(z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Sums over samples: d, its square, and the label."""
    d = _difference(z)
    w = np.ones(len(d)) if w is None else w
    return np.array([w @ d, w @ (d * d), w @ y])


def _sums(
    mean: float,
    spread: float,
    targets: np.ndarray,
    a: float,
    b: float,
    z: np.ndarray,
    y: np.ndarray,
    w: np.ndarray | None = None,
) -> np.ndarray:
    """NLL summed over samples, its gradient by (a, b) and its Hessian (aa, ab, bb): (6,)."""
    x = (_difference(z) - mean) / spread
    w = np.ones(len(x)) if w is None else w
    score, target = a * x + b, targets[y]
    error = w * (sigmoid(score) - target)
    value = -(w * (target * log_sigmoid(score) + (1 - target) * log_sigmoid(-score))).sum()
    curve = w * sigmoid(score) * sigmoid(-score)
    return np.array([value, error @ x, error.sum(), curve @ (x * x), curve @ x, curve.sum()])


def _newton(parts: Any) -> tuple[float, float]:
    """(a, b) at the minimum of a convex function, by Newton steps that are halved until they descend."""
    theta, found = np.zeros(2), parts(0.0, 0.0)
    for _ in range(200):
        hessian = np.array([[found[3], found[4]], [found[4], found[5]]])
        step = -np.linalg.pinv(hessian, rcond=1e-14, hermitian=True) @ found[1:3]
        tried = parts(*(theta + step))
        while tried[0] > found[0] + 1e-15 and np.abs(step).max() > 1e-14:
            step /= 2
            tried = parts(*(theta + step))
        theta, found = theta + step, tried
        if np.abs(step).max() < 1e-10 * (1 + np.abs(theta).max()):
            return float(theta[0]), float(theta[1])
        if np.abs(theta).max() > _FAR or found[0] < 1e-12:
            break
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn("the NLL has no minimum: the scores separate the classes", ConvergenceWarning, stacklevel=4)
    return float(theta[0]), float(theta[1])
