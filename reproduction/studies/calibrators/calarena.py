"""Ours for CalArena, a benchmark of calibrators (Berta, Holzmueller, Bach & Jordan 2026, arXiv 2605.30188).

In a checkout of github.com/probkit/CalArena, beside an installed focal-lib and this package, `custom_calibrators.py` is

    from reproduction.studies.calibrators.calarena import CUSTOM_CALIBRATORS

and `python run_benchmark.py --benchmark cv-multiclass --calibrator focal-lib-advice` runs ours as any other.

A calibrator there has `fit(p_cal, y_cal)` and `predict_proba(p_test)` with probabilities (n, K), or of two classes also
(n,) of the second one. Ours take their logarithms for logits, so that a temperature is the one of the logits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.tool.report.report import calibrate

_RESAMPLES = 50  # of the report's bootstrap, which the advice does not read


class ForCalArena:
    """A calibrator of ours with CalArena's interface.

    Args:
        fitted: logits (n, K) and labels (n,) -> a fitted calibrator.

    Attributes:
        calibrator_: the fitted one.
    """

    calibrator_: Calibrator

    def __init__(self, fitted: Callable[[np.ndarray, np.ndarray], Calibrator]) -> None:
        self._fitted = fitted

    def fit(self, p_cal: np.ndarray, y_cal: np.ndarray) -> None:
        """Fit to probabilities (n, K) or (n,), and labels (n,)."""
        self.calibrator_ = self._fitted(logits_of(p_cal), np.asarray(y_cal).ravel().astype(np.int64))

    def predict_proba(self, p_test: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, (n, K)."""
        return np.asarray(self.calibrator_.predict_proba(logits_of(p_test)))


def logits_of(probs: Any) -> np.ndarray:
    """Log-probabilities (n, K) of probabilities (n, K), (n, 1) or (n,); 0 counts as the smallest normal float32.

    >>> logits_of(np.array([0.5])).round(4).tolist()
    [[-0.6931, -0.6931]]
    """
    p = np.asarray(probs, dtype=np.float64)
    if p.ndim == 1 or p.shape[1] == 1:
        p = np.stack([1 - p.ravel(), p.ravel()], 1)
    return np.log(np.maximum(p, float(np.finfo(np.float32).tiny)))


def _advised(logits: np.ndarray, labels: np.ndarray) -> Calibrator:
    return calibrate((logits, labels), resamples=_RESAMPLES, force=True).calibrator


CUSTOM_CALIBRATORS: dict[str, Callable[[], ForCalArena]] = {
    "focal-lib-TS": lambda: ForCalArena(TemperatureScaling().fit),
    "focal-lib-FTS": lambda: ForCalArena(FocalTemperatureScaling().fit),
    "focal-lib-advice": lambda: ForCalArena(_advised),
}
