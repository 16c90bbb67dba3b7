"""Base class of calibrators fitted by other packages: a score for each class seen, as a function of log p.

Each is fitted on p = softmax(z). The fit is kept as plain arrays, so that prediction needs NumPy alone. Two cases keep
the probability as given:

* a class without a label in fit keeps its p_k, and the classes seen share the rest;
* a sample for which every class seen gets 0 (possible with a step function) keeps its p.

`seen_` holds the classes seen; the other arrays have one entry for each of them. A torch input gives a torch output,
without gradients.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, is_torch_array, to_numpy
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples


class SeenClassesCalibrator(Calibrator):
    """Softmax, over the classes seen, of scores that a subclass fits to log p."""

    def _fit(self, samples: FitSamples) -> None:
        log_p, y = samples.gather(_log_softmax)  # brought into memory
        weights = samples.weights
        if weights is not None:
            log_p, y, weights = log_p[weights > 0], y[weights > 0], weights[weights > 0]
        seen = np.unique(y)
        self._fit_scores(log_p, y, seen, weights)
        self.seen_ = seen

    def _log_probs(self, logits: Any) -> Any:
        if is_torch_array(logits):
            found = self._log_probs(to_numpy(logits))
            return array_namespace(logits).asarray(found, dtype=logits.dtype, device=logits.device)
        before = scipy.special.log_softmax(np.asarray(logits, dtype=np.float64), -1)
        seen = before[..., self.seen_]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self._scores(before)
            total = scipy.special.logsumexp(scores, -1, keepdims=True)
            after = scores - total + scipy.special.logsumexp(seen, -1, keepdims=True)
        before[..., self.seen_] = np.where(total > -np.inf, after, seen)
        return before

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        raise NotImplementedError

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        """Scores of the classes seen, (..., seen)."""
        raise NotImplementedError


def _log_softmax(z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return scipy.special.log_softmax(z, -1), y


def import_extra(module: str, package: str, calibrator: str) -> ModuleType:
    """Import a package that only some calibrators need.

    Raises:
        ImportError: it is not installed; the message gives the command.
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
    """Repeat samples by integer weight, for packages without sample weights.

    Raises:
        ValueError: weights that are not whole numbers.
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
