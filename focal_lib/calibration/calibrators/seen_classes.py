"""Dirichlet calibration and structured matrix scaling, and the base class of calibrators that other packages fit.

Each is fitted on p = softmax(z). The fit is kept as plain arrays, so that prediction needs NumPy alone. Two cases keep
the probability as given:

* a class without a label in fit keeps its p_k, and the classes seen share the rest;
* a sample for which every class seen gets 0 (possible with a step function) keeps its p.

`seen_` holds the classes seen; the other arrays have one entry for each of them. A torch input gives a torch output,
without gradients.
"""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, is_torch_array, to_numpy
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.linear import check_matrix_size, fit_linear
from focal_lib.validation import check_number, check_package


class SeenClassesCalibrator(Calibrator):
    """Softmax, over the classes seen, of scores that a subclass fits to log p."""

    def _fit(self, samples: FitSamples) -> None:
        log_p, y = samples.gather(lambda z, y: (scipy.special.log_softmax(z, -1), y))  # brought into memory
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


def import_extra(module: str, calibrator: str) -> ModuleType:
    """Import a package that only some calibrators need; ImportError, with the command, where it is not whole."""
    check_package(module.partition(".")[0], calibrator, "methods")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what = f"{calibrator} needs the package {module.partition('.')[0]} with all that it needs itself"
        raise ImportError(f"{what}: pip install 'focal-lib[methods]' ({error})") from None


def repeated(
    log_p: np.ndarray, y: np.ndarray, weights: np.ndarray | None, calibrator: str
) -> tuple[np.ndarray, np.ndarray]:
    """Repeat samples by integer weight, for packages without sample weights; ValueError for other weights."""
    if weights is None:
        return log_p, y
    if (weights != np.round(weights)).any():
        raise ValueError(
            f"sample_weight of {calibrator} must be whole numbers: its library counts samples. Fit without weights, or "
            "another method."
        )
    times = weights.astype(np.int64)
    return np.repeat(log_p, times, axis=0), np.repeat(y, times)


class DirichletCalibration(SeenClassesCalibrator):
    r"""Dirichlet calibration: multinomial logistic regression on log-probabilities (Kull et al. 2019).

    p' = softmax(W log p + b).

    Args:
        C: None: W's off-diagonal part and b are penalised, as ODIR does in the source, with the normal priors of matrix
            scaling, which fade as 1/n; the mean of W's diagonal is free. A number: in their place
            :math:`\lVert W \rVert^2 / 2C` is added to the summed log-loss, fitted by scikit-learn's
            LogisticRegression. That draws confident networks towards equal probabilities, the more the smaller C is.
        tol: tolerance of scikit-learn's solver.

    Fitted attributes:
        ``weight_`` (seen, K), ``bias_`` (seen,), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, C not positive, or more than 4,000 classes.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # confidence 0.9, accuracy 0.75
        >>> DirichletCalibration().fit(logits, labels).predict_proba(logits[:1]).round(2).tolist()
        [[0.25, 0.75]]
    """

    def __init__(self, C: float | None = None, tol: float = 1e-4) -> None:
        self.C = C
        self.tol = tol

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        check_matrix_size(len(seen), "Dirichlet calibration")
        if self.C is None:
            samples = FitSamples(log_p[:, seen], np.searchsorted(seen, y), weights)
            weight, self.bias_ = fit_linear(samples, np.eye(len(seen)), None, type(self).__name__)
            self.weight_ = np.zeros((len(seen), log_p.shape[1]))
            self.weight_[:, seen] = weight
            return
        from sklearn.linear_model import LogisticRegression

        found = LogisticRegression(C=self.C, tol=self.tol, max_iter=1000).fit(log_p, y, weights)
        two = len(seen) == 2  # then scikit-learn has the second class' scores minus the first's
        self.weight_ = np.concatenate([-found.coef_, found.coef_]) / 2 if two else found.coef_
        self.bias_ = np.concatenate([-found.intercept_, found.intercept_]) / 2 if two else found.intercept_

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        return log_p @ self.weight_.T + self.bias_


class StructuredMatrixScaling(SeenClassesCalibrator):
    r"""Structured matrix scaling: temperature scaling, then a matrix with structured penalties (Berta et al. 2026).

    p' = softmax(W log q + b), where q = (1 - c) softmax(z / T) + c / K.

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
        check_number(self.strength, "strength", minimum=0)

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        check_matrix_size(len(seen), "structured matrix scaling")
        log_p, y = repeated(scipy.special.log_softmax(log_p[:, seen], -1), y, weights, type(self).__name__)
        penalties = dict.fromkeys(("lambda_intercept", "lambda_diagonal", "lambda_off_diagonal"), self.strength)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about what the package is made with
            package = import_extra("probmetrics.calibrators", type(self).__name__)
            fit = package.SMSCalibrator(**penalties).fit(np.exp(log_p), np.searchsorted(seen, y))
        self.inverse_temperature_ = float(fit.ts_.cal_.invtemp_)
        self.uniform_ = float(fit.ts_.output_constant / (fit.ts_.n_samples_ + 1))
        self.weight_, self.bias_ = fit.W_[:, :-1].astype(np.float64), fit.W_[:, -1].astype(np.float64)

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        log_q = scipy.special.log_softmax(self.inverse_temperature_ * log_p[..., self.seen_], -1)
        mixed = np.logaddexp(log_q + np.log1p(-self.uniform_), np.log(self.uniform_ / len(self.seen_)))
        return mixed @ self.weight_.T + self.bias_
