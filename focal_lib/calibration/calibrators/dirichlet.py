"""Dirichlet calibration (Kull et al. 2019), fitted by scikit-learn."""

from __future__ import annotations

import numpy as np

from focal_lib.calibration.calibrators.seen_classes import SeenClassesCalibrator


class DirichletCalibration(SeenClassesCalibrator):
    r"""p' = softmax(W log p + b), the linear parametrisation of Dirichlet calibration (Kull et al. 2019).

    Fitted as scikit-learn's multinomial LogisticRegression on log p.

    Args:
        C: inverse penalty: :math:`\lVert W \rVert^2 / 2C` is added to the summed log-loss; b is not penalised.
        tol: tolerance of the solver.

    Fitted attributes:
        ``weight_`` (seen, K), ``bias_`` (seen,), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or C not positive.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # confidence 0.9, accuracy 0.75
        >>> DirichletCalibration().fit(logits, labels).predict_proba(logits[:1]).round(2).tolist()
        [[0.25, 0.75]]
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-4) -> None:
        self.C = C
        self.tol = tol

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        from sklearn.linear_model import LogisticRegression

        found = LogisticRegression(C=self.C, tol=self.tol, max_iter=1000).fit(log_p, y, weights)
        two = len(seen) == 2  # then scikit-learn has the second class' scores minus the first's
        self.weight_ = np.concatenate([-found.coef_, found.coef_]) / 2 if two else found.coef_
        self.bias_ = np.concatenate([-found.intercept_, found.intercept_]) / 2 if two else found.intercept_

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        return log_p @ self.weight_.T + self.bias_
