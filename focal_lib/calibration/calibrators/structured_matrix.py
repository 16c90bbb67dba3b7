"""Structured matrix scaling (Berta et al. 2026), fitted by its authors' package probmetrics."""

from __future__ import annotations

import warnings

import numpy as np
import scipy

from focal_lib.calibration.calibrators.linear import check_matrix_size
from focal_lib.calibration.calibrators.seen_classes import SeenClassesCalibrator, import_extra, repeated


class StructuredMatrixScaling(SeenClassesCalibrator):
    r"""p' = softmax(W log q + b), where q = (1 - c) softmax(z / T) + c / K (Berta et al. 2026).

    T is fitted first, by temperature scaling, with c = 1 / (n + 1). Then W and b are fitted with ridge penalties
    towards the identity and 0; they decrease with n and are stronger off the diagonal than on it.

    Args:
        strength: factor on all penalties of the package (its lambdas).

    Fitted attributes:
        ``inverse_temperature_``: 1/T. ``uniform_``: c. ``weight_`` (seen, seen), ``bias_`` (seen,), ``seen_``,
        ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, strength < 0, more than 4,000 classes, or weights that are not whole numbers: the package
            takes no sample weights.
        ImportError: probmetrics is not installed.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # confidence 0.9, accuracy 0.75
        >>> StructuredMatrixScaling().fit(logits, labels).predict_proba(logits[:1]).round(2).tolist()  # penalised
        [[0.27, 0.73]]
    """

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def _check_options(self) -> None:
        if not self.strength >= 0:
            raise ValueError(f"strength must be >= 0. Got {self.strength}.")

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        check_matrix_size(len(seen), "structured matrix scaling")
        log_p, y = repeated(scipy.special.log_softmax(log_p[:, seen], -1), y, weights, type(self).__name__)
        penalties = dict.fromkeys(("lambda_intercept", "lambda_diagonal", "lambda_off_diagonal"), self.strength)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about what the package is made with
            package = import_extra("probmetrics.calibrators", "probmetrics", type(self).__name__)
            fit = package.SMSCalibrator(**penalties).fit(np.exp(log_p), np.searchsorted(seen, y))
        self.inverse_temperature_ = float(fit.ts_.cal_.invtemp_)
        self.uniform_ = float(fit.ts_.output_constant / (fit.ts_.n_samples_ + 1))
        self.weight_, self.bias_ = fit.W_[:, :-1].astype(np.float64), fit.W_[:, -1].astype(np.float64)

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        log_q = scipy.special.log_softmax(self.inverse_temperature_ * log_p[..., self.seen_], -1)
        mixed = np.logaddexp(log_q + np.log1p(-self.uniform_), np.log(self.uniform_ / len(self.seen_)))
        return mixed @ self.weight_.T + self.bias_
