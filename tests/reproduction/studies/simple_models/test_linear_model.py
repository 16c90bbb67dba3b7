"""The linear model of M20 App. G."""

import numpy as np
import pytest
from scipy.optimize import OptimizeResult
from sklearn.linear_model import LogisticRegression

from reproduction.studies.simple_models import linear_model
from reproduction.studies.simple_models.linear_model import (
    LinearFit,
    fit_linear_model,
    noisy_clusters,
)


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


def test_shares_count_samples():
    """Twice the share is twice the sample; without shares all count the same."""
    x, labels = noisy_clusters(60, 3)
    twice = np.arange(60) < 20
    repeated = fit_linear_model(np.concatenate([x, x[twice]]), np.concatenate([labels, labels[twice]]), 2.0)
    shares = np.where(twice, 2.0, 1.0) / 80
    weighted = fit_linear_model(x, labels, 2.0, shares)
    np.testing.assert_allclose(weighted.weights, repeated.weights, rtol=1e-6)
    assert weighted.loss == pytest.approx(repeated.loss)
    even = fit_linear_model(x, labels, 2.0, np.full(60, 1 / 60))
    np.testing.assert_array_equal(even.weights, fit_linear_model(x, labels, 2.0).weights)
    with pytest.raises(ValueError, match="shares"):
        fit_linear_model(x, labels, 2.0, shares[:-1])


def test_the_gradient_that_is_left_is_told():
    assert 0 <= fit_linear_model(*noisy_clusters(300, 1), 1.0).gradient < 1e-7
    assert np.isnan(LinearFit(np.zeros(2), 0.0).gradient)


def test_clusters_flip_a_tenth():
    x, labels = noisy_clusters(20_000, 2, spread=0.05)
    assert np.mean((x[:, 0] > 0) != (labels == 1)) == pytest.approx(0.1, abs=0.01)


def test_clusters_of_app_g_are_the_default():
    for found, expected in zip(
        noisy_clusters(50, 4), noisy_clusters(50, 4, flip=0.1, separation=1.0, spread=0.5), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_clusters_lie_at_the_corners():
    x, _ = noisy_clusters(4000, 5, separation=3.0, spread=0.2)
    corners = np.sign(x)
    assert len(np.unique(corners, axis=0)) == 4
    np.testing.assert_allclose(np.abs(x).mean(0), 3.0, atol=0.02)
    np.testing.assert_allclose((x - 3 * corners).std(0), 0.2, rtol=0.05)


def test_probabilities_are_those_of_the_logit():
    fit = LinearFit(np.array([2.0, -1.0]), 0.0)
    np.testing.assert_allclose(fit.probs(np.array([[0.0, 0.0], [1.0, 0.5]])), [0.5, 1 / (1 + np.exp(-1.5))], rtol=1e-14)


def test_a_fit_without_a_minimum_is_refused():
    """Cross-entropy of separable classes falls for ever; the optimiser overflows or stops far from 0."""
    x = np.array([[1e308, 0.0], [-1e308, 0.0]])
    with np.errstate(all="ignore"), pytest.raises(RuntimeError, match="did not converge"):
        fit_linear_model(x, np.array([1, 0]), 0.0)


def test_bad_input():
    with pytest.raises(ValueError, match="shapes"):
        fit_linear_model(np.zeros((3, 2)), np.zeros(4), 1.0)
    with pytest.raises(ValueError, match="gamma"):
        fit_linear_model(np.zeros((3, 2)), np.zeros(3), -1.0)


def test_clusters_by_default_flip_a_tenth_exactly_as_said():
    for found, expected in zip(noisy_clusters(50_000, 4), noisy_clusters(50_000, 4, flip=0.1), strict=True):
        np.testing.assert_array_equal(found, expected)
    x, _ = noisy_clusters(100, 0, separation=3.0, spread=0.0)
    assert set(np.unique(x)) == {-3.0, 3.0}


def test_shapes_that_do_not_fit_are_refused():
    for x, labels in ((np.zeros(4), np.zeros(4)), (np.zeros((4, 2)), np.zeros(3))):
        with pytest.raises(ValueError, match="must have shapes"):
            fit_linear_model(x, labels, 1.0)


@pytest.mark.parametrize(("gradient", "refused"), [(1e-8, False), (1e-3, True)])
def test_what_ends_for_rounding_alone_is_a_fit(monkeypatch, gradient, refused):
    ended = OptimizeResult(
        success=False, jac=np.array([gradient, 0.0]), x=np.ones(2), fun=0.5, message="precision loss"
    )
    monkeypatch.setattr(linear_model, "minimize", lambda *_, **__: ended)
    if refused:
        with pytest.raises(RuntimeError, match="did not converge: precision loss"):
            fit_linear_model(*noisy_clusters(10, 0), 1.0)
    else:
        fit = fit_linear_model(*noisy_clusters(10, 0), 1.0)
        assert (fit.loss, fit.gradient) == (0.5, gradient)
