"""Dirichlet calibration: agreement with scikit-learn."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration


@pytest.mark.parametrize("classes", [2, 5])
def test_dirichlet_is_logistic_regression_on_log_p(overconfident, classes):
    (z, y), (other, _) = overconfident(classes=classes), overconfident(classes=classes, seed=1)
    reference = LogisticRegression(C=0.1, max_iter=1000).fit(log_softmax(z, -1), y)
    expected = reference.predict_proba(log_softmax(other, -1))
    np.testing.assert_allclose(DirichletCalibration(0.1).fit(z, y).predict_proba(other), expected, atol=1e-12)


def test_a_penalty_that_is_none_is_refused(overconfident):
    with pytest.raises(ValueError, match="'C' parameter"):
        DirichletCalibration(0.0).fit(*overconfident(100))
