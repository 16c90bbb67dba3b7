"""What the calibrators of other authors share: a score for each class seen, fitted by their libraries to log p.

Each is fitted on p = softmax(z). The fit is kept as plain arrays, so that prediction needs NumPy alone. Where the
fitted samples say nothing, the probability as given stays:

* a class without a label keeps its p_k, and the classes seen share the rest;
* a sample for which every class seen gets 0 (a step function can do that) keeps its p.

`seen_` holds the classes seen; the other arrays have one entry for each of them. A torch input gives a torch output,
without gradients.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import torch
from scipy.special import log_softmax, logsumexp
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples


class SeenClassesCalibrator(Calibrator):
    """Softmax over the classes seen of scores that a subclass fits to log p."""

    def _fit(self, samples: FitSamples) -> None:
        log_p, y = samples.gather(_log_softmax)  # brought into memory
        weights = samples.weights
        if weights is not None:
            log_p, y, weights = log_p[weights > 0], y[weights > 0], weights[weights > 0]
        seen = np.unique(y)
        self._fit_scores(log_p, y, seen, weights)
        self.seen_ = seen

    def _log_probs(self, logits: Any) -> Any:
        if isinstance(logits, Tensor):
            dtype = logits.dtype if logits.is_floating_point() else torch.get_default_dtype()
            found = self._log_probs(logits.detach().double().cpu().numpy())
            return torch.as_tensor(found, dtype=dtype, device=logits.device)
        before = log_softmax(np.asarray(logits, dtype=np.float64), -1)
        seen = before[..., self.seen_]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self._scores(before)
            total = logsumexp(scores, -1, keepdims=True)
            after = scores - total + logsumexp(seen, -1, keepdims=True)
        before[..., self.seen_] = np.where(total > -np.inf, after, seen)
        return before

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        raise NotImplementedError

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        """Of the classes seen, (..., seen)."""
        raise NotImplementedError


def _log_softmax(z: Tensor, y: Tensor) -> tuple[np.ndarray, np.ndarray]:
    return log_softmax(z.numpy(), -1), y.numpy()


def import_extra(module: str, package: str, calibrator: str) -> ModuleType:
    """A library that only some calibrators need.

    Raises:
        ImportError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        why = "" if error.name == module.partition(".")[0] else f" ({error})"
        raise ImportError(
            f"{calibrator} needs the package {package}: pip install {package}, or '.[methods]' in a checkout.{why}"
        ) from None


def repeated(
    log_p: np.ndarray, y: np.ndarray, weights: np.ndarray | None, calibrator: str
) -> tuple[np.ndarray, np.ndarray]:
    """Samples as often as their weights say, for a library that takes none.

    Raises:
        ValueError: weights that are not whole.
    """
    if weights is None:
        return log_p, y
    if (weights != np.round(weights)).any():
        raise ValueError(
            f"sample_weight of {calibrator} must be whole numbers: its library counts samples. Fit without weights, or "
            "another method."
        )
    times = weights.astype(np.int64)
    return np.repeat(log_p, times, axis=0), np.repeat(y, times)
