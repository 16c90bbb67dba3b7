"""Vector and matrix scaling against scikit-learn's logistic regression."""

import numpy as np
import pytest
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


def test_vector_scaling_is_matrix_scaling_with_a_diagonal(synthetic_logits):
    """Its gradient is the diagonal of the other's, by differences too."""
    z, y = synthetic_logits(500, 4)
    fit = VectorScaling().fit(z, y)
    assert fit.weight_.shape == (4,)

    def loss(weight):
        scaled = z * weight + fit.bias_
        return (np.logaddexp.reduce(scaled, 1) - scaled[np.arange(len(y)), y]).mean()

    slopes = [(loss(fit.weight_ + e) - loss(fit.weight_ - e)) / 2e-5 for e in 1e-5 * np.eye(4)]
    np.testing.assert_allclose(slopes, 0, atol=2e-4)


def test_vector_scaling_of_many_classes_keeps_no_matrix():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 5000)).astype(np.float32)
    y = rng.integers(0, 5000, 300)
    z[np.arange(300), y] += 6
    fit = VectorScaling(1e-3).fit(z, y)
    assert fit.weight_.shape == fit.bias_.shape == (5000,)
    assert nll(fit.predict_proba(z), y) < nll(np.exp(z) / np.exp(z).sum(1, keepdims=True), y)


def test_matrix_scaling_of_many_classes_is_refused():
    with pytest.raises(ValueError, match="matrix scaling must have at most 4,000 classes"):
        MatrixScaling().fit(np.zeros((2, 4001)), [0, 1])
