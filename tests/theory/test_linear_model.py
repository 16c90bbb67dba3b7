"""The linear model of M20 App. G."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from focal_lib.theory.linear_model import fit_linear_model, noisy_clusters


def test_cross_entropy_is_logistic_regression():
    x, labels = noisy_clusters(500, 0)
    other = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(x, labels)
    np.testing.assert_allclose(fit_linear_model(x, labels, 0.0).weights, other.coef_[0], rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_the_fit_is_a_minimum(gamma):
    x, labels = noisy_clusters(300, 1)
    fit = fit_linear_model(x, labels, gamma)

    def loss(weights):
        q = 1 / (1 + np.exp(-np.where(labels == 1, 1, -1) * (x @ weights)))
        return float((-((1 - q) ** gamma) * np.log(q)).mean())

    assert fit.loss == pytest.approx(loss(fit.weights))
    for direction in np.eye(2):
        for step in (1e-3, -1e-3):
            assert loss(fit.weights + step * direction) > fit.loss


def test_clusters_flip_a_tenth():
    x, labels = noisy_clusters(20_000, 2, spread=0.05)
    assert np.mean((x[:, 0] > 0) != (labels == 1)) == pytest.approx(0.1, abs=0.01)


def test_bad_input():
    with pytest.raises(ValueError, match="shapes"):
        fit_linear_model(np.zeros((3, 2)), np.zeros(4), 1.0)
    with pytest.raises(ValueError, match="gamma"):
        fit_linear_model(np.zeros((3, 2)), np.zeros(3), -1.0)
