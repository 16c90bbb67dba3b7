"""Vector and matrix scaling (Guo et al. 2017): a linear map of the logits, fitted on the NLL."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import torch
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator, check_samples
from focal_lib.calibration.calibrators.torch_module import LinearModule

__all__ = ["MatrixScaling", "VectorScaling"]


class MatrixScaling(Calibrator):
    r"""p = softmax(W z + b) (Guo et al. 2017), fitted on the NLL by L-BFGS.

    Args:
        l2: penalty on the squared distance of W from the identity and of b from 0.

    Attributes:
        ``weight_`` (K, K), ``bias_`` (K,), ``n_classes_``, ``classes_``.
    """

    def __init__(self, l2: float = 0.0) -> None:
        self.l2 = l2

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        if not self.l2 >= 0:
            raise ValueError(f"l2 must be >= 0. Got {self.l2}.")
        samples = check_samples(logits, labels)
        n, k = len(samples), samples.classes
        start = np.r_[self._reduce(np.eye(k)), np.zeros(k)]

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            weight, bias = self._expand(theta[:-k], k), theta[-k:]
            sums = samples.total(lambda z, y: _nll_and_gradient(weight, bias, z, y)) / n
            gradient = np.r_[self._reduce(sums[1:-k].reshape(k, k)), sums[-k:]]
            away = theta - start
            return float(sums[0] + self.l2 * away @ away), gradient + 2 * self.l2 * away

        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
        if not found.success:
            warnings.warn(f"{type(self).__name__} did not converge: {found.message}", ConvergenceWarning, stacklevel=2)
        self.weight_, self.bias_ = self._expand(found.x[:-k], k), found.x[-k:]
        self._remember_classes(k)
        return self

    def _expand(self, weight: np.ndarray, classes: int) -> np.ndarray:
        return weight.reshape(classes, classes)

    def _reduce(self, gradient: np.ndarray) -> np.ndarray:
        return gradient.ravel()

    def _log_probs(self, logits: Any) -> Any:
        if not isinstance(logits, Tensor):
            return self._log_probs(torch.from_numpy(np.array(logits))).numpy()
        weight, bias = (torch.as_tensor(v, dtype=logits.dtype, device=logits.device) for v in self._fitted())
        return torch.log_softmax(logits @ weight.T + bias, -1)

    def _module(self) -> LinearModule:
        return LinearModule(*self._fitted())

    def _fitted(self) -> tuple[np.ndarray, np.ndarray]:
        return self.weight_, self.bias_


class VectorScaling(MatrixScaling):
    r"""p = softmax(v * z + b), one scale for each class (Guo et al. 2017); ``weight_`` is diagonal."""

    def _expand(self, weight: np.ndarray, classes: int) -> np.ndarray:
        return np.diag(weight)

    def _reduce(self, gradient: np.ndarray) -> np.ndarray:
        return np.diag(gradient)


def _nll_and_gradient(weight: np.ndarray, bias: np.ndarray, z: Tensor, y: Tensor) -> np.ndarray:
    """NLL summed over samples, its gradient by W (K, K), flat, and by b (K,)."""
    log_p = torch.log_softmax(z @ torch.from_numpy(weight).T + torch.from_numpy(bias), -1)
    picked = log_p.gather(-1, y[:, None])
    error = log_p.exp_().scatter_add_(-1, y[:, None], torch.full_like(picked, -1.0))
    return np.r_[-float(picked.sum()), (error.T @ z).numpy().ravel(), error.sum(0).numpy()]
