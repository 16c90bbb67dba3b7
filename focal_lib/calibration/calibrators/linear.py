"""Vector and matrix scaling (Guo et al. 2017): a linear map of the logits, fitted on the NLL."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, label_index, largest, log_softmax, total
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples, by_class, weighted_sum
from focal_lib.validation import check_number

_MOST_CLASSES = 4000  # of a matrix: the fit keeps some thirty of them, 4 GB


class _LinearCalibrator(Calibrator):
    """p = softmax(W z + b), fitted on the NLL by L-BFGS; subclasses define the form of W."""

    weight_: np.ndarray
    bias_: np.ndarray

    def __init__(self, l2: float = 0.0) -> None:
        self.l2 = l2

    def _check_options(self) -> None:
        check_number(self.l2, "l2", minimum=0)

    def _fit(self, samples: FitSamples) -> None:
        k = samples.classes
        identity = self._identity(k)
        start = np.r_[identity.ravel(), np.zeros(k)]

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            weight, bias = theta[:-k].reshape(identity.shape), theta[-k:]
            sums = samples.weighted_mean(functools.partial(self._sums, weight, bias))
            away = theta - start
            return float(sums[0] + self.l2 * away @ away), sums[1:] + 2 * self.l2 * away

        found = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
        if not found.success:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(f"{type(self).__name__} did not converge: {found.message}", ConvergenceWarning, stacklevel=3)
        self.weight_, self.bias_ = found.x[:-k].reshape(identity.shape), found.x[-k:]

    def _sums(
        self, weight: np.ndarray, bias: np.ndarray, z: np.ndarray, y: np.ndarray, w: np.ndarray | None = None
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
        return np.r_[value, self._weight_gradient(error, z).ravel(), error.sum(0)]

    def _log_probs(self, logits: Any) -> Any:
        xp, device = array_namespace(logits), getattr(logits, "device", None)
        fitted = (xp.asarray(v, dtype=logits.dtype, device=device) for v in (self.weight_, self.bias_))
        return log_softmax(map_logits(logits, *fitted))

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import LinearModule

        return LinearModule(self.weight_, self.bias_)

    def _identity(self, classes: int) -> np.ndarray:
        raise NotImplementedError  # in the form of W

    def _weight_gradient(self, error: np.ndarray, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError  # of the NLL, from p minus the one-hot labels (m, K)


class MatrixScaling(_LinearCalibrator):
    r"""Matrix scaling: a linear map of the logits, fitted on the NLL by L-BFGS (Guo et al. 2017).

    p = softmax(W z + b).

    Args:
        l2: penalty on the squared distance of W from the identity and of b from 0.

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

    def _weight_gradient(self, error: np.ndarray, z: np.ndarray) -> np.ndarray:
        return error.T @ z


class VectorScaling(_LinearCalibrator):
    r"""Vector scaling: a scale and a bias for each class, fitted on the NLL by L-BFGS (Guo et al. 2017).

    p = softmax(v * z + b).

    Args:
        l2: penalty on the squared distance of v from 1 and of b from 0.

    Fitted attributes:
        ``weight_`` (K,), ``bias_`` (K,), ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or l2 < 0.

    Examples:
        >>> logits, labels = [[0.0, 0.0]] * 4, [1, 1, 1, 0]  # no temperature changes these, a bias does
        >>> fit = VectorScaling().fit(logits, labels)
        >>> round(float(fit.bias_[1] - fit.bias_[0]), 2), fit.predict_proba(logits[:1]).round(2).tolist()
        (1.1, [[0.25, 0.75]])
    """

    def _identity(self, classes: int) -> np.ndarray:
        return np.ones(classes)

    def _weight_gradient(self, error: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (error * z).sum(0)


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
