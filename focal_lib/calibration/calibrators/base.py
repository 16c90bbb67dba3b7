"""What every calibrator shares: scikit-learn's conventions, and the check of the data to fit on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from focal_lib.metrics.samples import Samples
from focal_lib.validation import check_logits

__all__ = ["Calibrator", "LazyProbabilities", "check_samples"]


class Calibrator(ClassifierMixin, BaseEstimator):
    """fit(logits, labels), then predict_proba(logits): of an array, a tensor or a Dask array the same kind.

    Attributes:
        ``n_classes_``, ``classes_``: of fit; the columns of the logits are the classes 0 ... K-1.
    """

    n_classes_: int
    classes_: np.ndarray

    def predict_log_proba(self, logits: Any) -> Any:
        """Calibrated log-probabilities, (n, K).

        Raises:
            NotFittedError: before fit.
            ValueError: not finite, or not the classes of fit.
        """
        check_is_fitted(self)
        if hasattr(logits, "map_blocks"):
            every_class = logits.rechunk({1: -1})
            return every_class.map_blocks(self._of_block, meta=np.empty((0, 0), _width(logits.dtype)))
        wide = self._checked(logits)
        log_probs = self._log_probs(wide)
        return log_probs if isinstance(log_probs, Tensor) else log_probs.astype(wide.dtype, copy=False)

    def predict_proba(self, logits: Any) -> Any:
        """Calibrated probabilities, (n, K); errors as predict_log_proba."""
        log_probs = self.predict_log_proba(logits)
        return log_probs.exp() if isinstance(log_probs, Tensor) else np.exp(log_probs)

    def predict(self, logits: Any) -> Any:
        """The most probable class, (n,)."""
        return self.predict_log_proba(logits).argmax(-1)

    def lazy_proba(self, logits: Any) -> LazyProbabilities:
        """Calibrated probabilities that are computed where they are sliced: metrics of a memory map, chunk by chunk."""
        check_is_fitted(self)
        return LazyProbabilities(self, logits)

    def to_module(self) -> nn.Module:
        """A torch module, logits (..., K) -> probabilities (..., K), for deployment; `write_onnx` exports it.

        Raises:
            NotFittedError: before fit.
            TypeError: a method that has none: step functions of histogram binning, isotonic regression, ...
        """
        check_is_fitted(self)
        return self._module()

    def _module(self) -> nn.Module:
        raise TypeError(
            f"temperature, focal temperature, vector and matrix scaling have modules. {type(self).__name__} has none."
        )

    def _log_probs(self, logits: Any) -> Any:
        raise NotImplementedError

    def _of_block(self, logits: np.ndarray) -> np.ndarray:
        return self.predict_log_proba(logits) if len(logits) else logits.astype(_width(logits.dtype))

    def _checked(self, logits: Any) -> Any:
        """In float32 or float64."""
        if isinstance(logits, Tensor):
            narrow = logits.dtype in (torch.float16, torch.bfloat16) or not logits.is_floating_point()
            logits = logits.float() if narrow else logits
        else:
            logits = np.asarray(logits)
            logits = logits.astype(_width(logits.dtype), copy=False) if logits.dtype.kind in "fiu" else logits
        check_logits(logits)
        if logits.shape[-1] != self.n_classes_:
            raise ValueError(f"logits must have the {self.n_classes_} classes of fit. Got shape {tuple(logits.shape)}.")
        return logits

    def _remember_classes(self, classes: int) -> None:
        self.n_classes_, self.classes_ = classes, np.arange(classes)


@dataclass(frozen=True)
class LazyProbabilities:
    """Probabilities (n, K) of logits that may be larger than memory; sliced like an array."""

    calibrator: Calibrator
    logits: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.logits.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(_width(self.logits.dtype))

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.calibrator.predict_proba(np.asarray(self.logits[index]))


def _width(dtype: Any) -> type:
    return np.float32 if dtype == np.float32 else np.float64


def check_samples(logits: Any, labels: Any, least_classes: int = 2) -> Samples:
    """Samples to fit on, read once.

    Raises:
        ValueError: other shapes than (n, K) and (n,), logits that are not finite, labels outside 0 ... K-1 or of fewer
            classes.
    """
    samples = Samples(logits, labels)
    bad, *counts = samples.total(_count_bad_and_classes)
    if bad:
        raise ValueError(f"logits must be finite. Got {bad:.0f} NaN or infinite of {len(samples) * samples.classes}.")
    if np.count_nonzero(counts) < least_classes:
        raise ValueError(f"labels to fit on must hold at least two classes. Got only class {np.argmax(counts)}.")
    return samples


def _count_bad_and_classes(z: Tensor, y: Tensor) -> np.ndarray:
    """How many numbers are not finite, and the samples of each class, (1 + K,)."""
    bad = 0 if bool(torch.isfinite(z.sum())) else int((~torch.isfinite(z)).sum())
    return np.r_[bad, torch.bincount(y, minlength=z.shape[1]).numpy()].astype(np.float64)
