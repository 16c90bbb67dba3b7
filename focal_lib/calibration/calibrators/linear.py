"""Vector and matrix scaling (Guo et al. 2017): a linear map of the logits, fitted on the NLL."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples, weighted_sum
from focal_lib.calibration.calibrators.torch_module import LinearModule, map_logits

_MOST_CLASSES = 4000  # of a matrix: the fit keeps some thirty of them, 4 GB


class _LinearCalibrator(Calibrator):
    """p = softmax(W z + b), fitted on the NLL by L-BFGS; a subclass says what W is."""

    weight_: np.ndarray
    bias_: np.ndarray

    def __init__(self, l2: float = 0.0) -> None:
        self.l2 = l2

    def _check_options(self) -> None:
        if not self.l2 >= 0:
            raise ValueError(f"l2 must be >= 0. Got {self.l2}.")

    def _fit(self, samples: FitSamples) -> None:
        k = samples.classes
        identity = self._identity(k)
        start = np.r_[identity.ravel(), np.zeros(k)]

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            weight, bias = torch.from_numpy(theta[:-k].reshape(identity.shape)), torch.from_numpy(theta[-k:])
            sums = samples.weighted_mean(functools.partial(self._sums, weight, bias))
            away = theta - start
            return float(sums[0] + self.l2 * away @ away), sums[1:] + 2 * self.l2 * away

        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
        if not found.success:
            warnings.warn(f"{type(self).__name__} did not converge: {found.message}", ConvergenceWarning, stacklevel=3)
        self.weight_, self.bias_ = found.x[:-k].reshape(identity.shape), found.x[-k:]

    def _sums(self, weight: Tensor, bias: Tensor, z: Tensor, y: Tensor, w: Tensor | None = None) -> np.ndarray:
        """NLL summed over samples, its gradient by W, flat, and by b (K,)."""
        log_p = torch.log_softmax(map_logits(z, weight, bias), -1)
        picked = log_p.gather(-1, y[:, None])
        error = log_p.exp_().scatter_add_(-1, y[:, None], torch.full_like(picked, -1.0))
        if w is not None:
            error.mul_(w[:, None])
        return np.r_[
            -float(weighted_sum(picked, w)), self._weight_gradient(error, z).numpy().ravel(), error.sum(0).numpy()
        ]

    def _log_probs(self, logits: Any) -> Any:
        if not isinstance(logits, Tensor):
            return self._log_probs(torch.from_numpy(np.array(logits))).numpy()
        fitted = (self.weight_, self.bias_)
        weight, bias = (torch.as_tensor(v, dtype=logits.dtype, device=logits.device) for v in fitted)
        return torch.log_softmax(map_logits(logits, weight, bias), -1)

    def _module(self) -> LinearModule:
        return LinearModule(self.weight_, self.bias_)

    def _identity(self, classes: int) -> np.ndarray:
        """The W that changes nothing."""
        raise NotImplementedError

    def _weight_gradient(self, error: Tensor, z: Tensor) -> Tensor:
        """Of the NLL by W, from p minus the one-hot labels (m, K)."""
        raise NotImplementedError


class MatrixScaling(_LinearCalibrator):
    r"""p = softmax(W z + b) (Guo et al. 2017), fitted on the NLL by L-BFGS.

    Args:
        l2: penalty on the squared distance of W from the identity and of b from 0.

    Fitted attributes:
        ``weight_`` (K, K), ``bias_`` (K,), ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, l2 < 0, or more than 4,000 classes.
    """

    def _identity(self, classes: int) -> np.ndarray:
        check_matrix_size(classes, "matrix scaling")
        return np.eye(classes)

    def _weight_gradient(self, error: Tensor, z: Tensor) -> Tensor:
        return error.T @ z


class VectorScaling(_LinearCalibrator):
    r"""p = softmax(v * z + b), one scale for each class (Guo et al. 2017), fitted on the NLL by L-BFGS.

    Args:
        l2: penalty on the squared distance of v from 1 and of b from 0.

    Fitted attributes:
        ``weight_`` (K,), ``bias_`` (K,), ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or l2 < 0.
    """

    def _identity(self, classes: int) -> np.ndarray:
        return np.ones(classes)

    def _weight_gradient(self, error: Tensor, z: Tensor) -> Tensor:
        return (error * z).sum(0)


def check_matrix_size(classes: int, name: str) -> None:
    """ValueError beyond 4,000 classes."""
    if classes > _MOST_CLASSES:
        raise ValueError(
            f"{name} must have at most {_MOST_CLASSES:,} classes, as it has a weight for each pair: take "
            f"vector scaling. Got {classes:,}."
        )
