"""Vector and matrix scaling against scikit-learn's logistic regression."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.scores import nll


def test_vector_and_matrix_scaling(synthetic_logits):
    z, y = synthetic_logits(2000, 4)
    plain = nll(TemperatureScaling().fit(z, y).predict_proba(z), y)
    vector = nll(VectorScaling().fit(z, y).predict_proba(z), y)
    matrix = nll(MatrixScaling().fit(z, y).predict_proba(z), y)
    assert matrix <= vector + 1e-6 <= plain + 2e-6
    theirs = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8).fit(z, y)  # the same model
    np.testing.assert_allclose(MatrixScaling().fit(z, y).predict_proba(z), theirs.predict_proba(z), atol=2e-3)
