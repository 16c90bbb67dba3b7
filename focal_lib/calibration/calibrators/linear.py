"""Vector and matrix scaling (Guo et al. 2017): a linear map of the logits, fitted on the NLL."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, label_index, largest, log_softmax, total
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples, by_class, weighted_sum
from focal_lib.validation import check_number

_MOST_CLASSES = 4000  # of a matrix: the fit keeps some thirty of them, 4 GB
_EXACT = 1000  # classes, up to which the last digits are worth their time
_OF_SLOPES, _OF_BIAS, _OF_SLOPE = 16.0, 0.1, 0.01  # precisions of the priors: standard deviations 1/4, 3 and 10


class _LinearCalibrator(Calibrator):
    """p = softmax(W z + b), fitted by L-BFGS; subclasses define the form of W."""

    weight_: np.ndarray
    bias_: np.ndarray

    def __init__(self, l2: float | None = None) -> None:
        self.l2 = l2

    def _check_options(self) -> None:
        if self.l2 is not None:
            check_number(self.l2, "l2", minimum=0)

    def _fit(self, samples: FitSamples) -> None:
        self.weight_, self.bias_ = fit_linear(samples, self._identity(samples.classes), self.l2, type(self).__name__)

    def _log_probs(self, logits: Any) -> Any:
        xp, device = array_namespace(logits), getattr(logits, "device", None)
        fitted = (xp.asarray(v, dtype=logits.dtype, device=device) for v in (self.weight_, self.bias_))
        return log_softmax(map_logits(logits, *fitted))

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import LinearModule

        return LinearModule(self.weight_, self.bias_)

    def _identity(self, classes: int) -> np.ndarray:
        raise NotImplementedError  # in the form of W


class MatrixScaling(_LinearCalibrator):
    r"""Matrix scaling: a linear map of the logits, fitted on the NLL by L-BFGS (Guo et al. 2017).

    p = softmax(W z + b).

    Args:
        l2: None for the normal priors of `fit_linear`, which fade as 1/n. A number: in their place l2 times the squared
            distance of W from the identity and of b from 0 is added to the mean NLL, at any n.

    Fitted attributes:
        ``weight_`` (K, K), ``bias_`` (K,), ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, l2 < 0, or more than 4,000 classes.

    Examples:
        >>> logits, labels = [[2.0, 0.0], [0.0, 2.0]] * 4, [1, 0] * 3 + [0, 1]  # classes swapped in 3 of 4 samples
        >>> MatrixScaling().fit(logits, labels).predict_proba(logits[:2]).round(2).tolist()
        [[0.25, 0.75], [0.75, 0.25]]
    """

    def _identity(self, classes: int) -> np.ndarray:
        check_matrix_size(classes, "matrix scaling")
        return np.eye(classes)


class VectorScaling(_LinearCalibrator):
    r"""Vector scaling: a scale and a bias for each class, fitted on the NLL by L-BFGS (Guo et al. 2017).

    p = softmax(v * z + b).

    Args:
        l2: None for the normal priors of `fit_linear`, which fade as 1/n. A number: in their place l2 times the squared
            distance of v from 1 and of b from 0 is added to the mean NLL, at any n.

    Fitted attributes:
        ``weight_`` (K,), ``bias_`` (K,), ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or l2 < 0.

    Examples:
        >>> logits, labels = [[0.0, 0.0]] * 400, [1, 1, 1, 0] * 100  # no temperature changes these, a bias does
        >>> fit = VectorScaling().fit(logits, labels)
        >>> round(float(fit.bias_[1] - fit.bias_[0]), 2), fit.predict_proba(logits[:1]).round(2).tolist()
        (1.1, [[0.25, 0.75]])
    """

    def _identity(self, classes: int) -> np.ndarray:
        return np.ones(classes)


def fit_linear(samples: FitSamples, identity: np.ndarray, l2: float | None, name: str) -> tuple[np.ndarray, np.ndarray]:
    r"""W, in the form of the identity, and b (K,) that minimise the NLL of softmax(W z + b) and a penalty.

    With l2 = None the penalty is that of normal priors, the smaller the more samples there are. With m the mean of W's
    diagonal, z centred over samples and scaled to a root mean square of 1,

    .. math:: \frac{1}{2n} \Big(16 \sum_k (W_{kk} - m)^2 + 16 K \sum_{k \ne j} W_{kj}^2
              + \tfrac{1}{10} \lVert b \rVert^2 + \tfrac{1}{100} m^2\Big).

    With few samples the classes' scales hardly differ, as in temperature scaling. The last two terms only keep the fit
    finite where the logits separate the classes or a class has no label: the mean probability of class k is its share
    of the labels up to abs(b_k) / 10 samples. The rows of W's off-diagonal part, there where the identity is (K, K),
    have the spread of one entry of the diagonal.

    Returns:
        W and b of the logits as they are given.

    Warns:
        ConvergenceWarning: L-BFGS did not converge.
    """
    k = samples.classes
    center, scale = _center_and_scale(samples) if l2 is None else (np.zeros(k), 1.0)
    precision = np.ones(k) if identity.ndim == 1 else np.where(identity == 1, 1.0, k)
    precision *= _OF_SLOPES

    def given(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        weight = theta[:-k].reshape(identity.shape) / scale
        slope = float((weight * identity).sum()) / k
        return weight, theta[-k:] - map_logits(center, weight, -slope * center), slope

    def prior(theta: np.ndarray) -> tuple[float, np.ndarray]:
        if l2 is not None:
            away = theta - start
            return l2 * float(away @ away), 2 * l2 * away
        weight, bias = theta[:-k].reshape(identity.shape), theta[-k:]
        slope = float((weight * identity).sum()) / k
        away = weight - slope * identity
        value = (precision * away * away).sum() + _OF_BIAS * bias @ bias + _OF_SLOPE * slope**2
        pull = precision * away + _OF_SLOPE * slope / k * identity  # the away of the diagonal sum to 0
        return float(value) / (2 * samples.weight), np.r_[pull.ravel(), _OF_BIAS * bias] / samples.weight

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        weight, bias, _ = given(theta)
        sums = samples.weighted_mean(functools.partial(_linear_sums, weight, bias))
        of_weight, of_bias = sums[1:-k].reshape(identity.shape), sums[-k:]
        if l2 is None:  # the bias moves with W, too
            moved = of_bias * center if identity.ndim == 1 else np.outer(of_bias, center)
            of_weight = (of_weight - moved + identity * (of_bias @ center / k)) / scale
        value, pull = prior(theta)
        return float(sums[0]) + value, np.r_[of_weight.ravel(), of_bias] + pull

    start = np.r_[identity.ravel(), np.zeros(k)]
    exact = {} if l2 is not None else {"ftol": 1e-16, "gtol": 1e-10} if k <= _EXACT else {"ftol": 1e-8, "gtol": 1e-7}
    found = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000} | exact)
    if not found.success and np.abs(found.jac).max() > 1e-5:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(f"{name} did not converge: {found.message}", ConvergenceWarning, stacklevel=4)
    return given(found.x)[:2]


def _center_and_scale(samples: FitSamples) -> tuple[np.ndarray, float]:
    """Mean (K,) of the logits over samples, and the root mean square of what is left of each, 1 where nothing is."""
    k = samples.classes
    sums = samples.weighted_mean(_moments)
    center, mean, square = sums[:k], sums[k : 2 * k], float(sums[-1])
    variance = square - float(mean @ mean) / k
    return center, math.sqrt(variance) if variance > 1e-20 * square else 1.0


def _moments(z: np.ndarray, _: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Sums over samples: logits (K,), those less a sample's mean (K,), and the mean square of the latter."""
    w = np.ones(len(z)) if w is None else w
    z = z.astype(np.float64, copy=False)
    rest = z - total(z) / z.shape[1]
    return np.r_[w @ z, w @ rest, w @ np.einsum("nk,nk->n", rest, rest) / z.shape[1]]


def _linear_sums(
    weight: np.ndarray, bias: np.ndarray, z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None
) -> np.ndarray:
    """NLL summed over samples, with its gradients by W, flattened, and by b (K,)."""
    z, label = by_class(z), label_index(y)
    scores = map_logits(z, weight, bias)
    scores -= largest(scores)
    picked = scores[label]
    error = np.exp(scores, out=scores)
    normaliser = total(error)
    value = weighted_sum(np.log(normaliser) - picked, w)
    error /= normaliser
    error[label] -= 1
    if w is not None:
        error *= w[:, None]
    of_weight = (error * z).sum(0) if weight.ndim == 1 else error.T @ z
    return np.r_[value, of_weight.ravel(), error.sum(0)]


def map_logits(logits: Any, weight: Any, bias: Any) -> Any:
    """W z + b of logits (..., K), arrays or tensors; W is (K, K), or (K,) where it is diagonal."""
    return (logits * weight if weight.ndim == 1 else logits @ weight.T) + bias


def check_matrix_size(classes: int, name: str) -> None:
    """Raise ValueError for more than 4,000 classes."""
    if classes > _MOST_CLASSES:
        raise ValueError(
            f"{name} must have at most {_MOST_CLASSES:,} classes, as it has a weight for each pair: take "
            f"vector scaling. Got {classes:,}."
        )
