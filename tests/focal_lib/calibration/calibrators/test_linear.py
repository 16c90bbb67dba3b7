"""Vector and matrix scaling against scikit-learn's logistic regression; their priors."""

import numpy as np
import pytest
import scipy
from scipy.special import expit, log_softmax
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.scores import nll


def test_vector_and_matrix_scaling(synthetic_logits):
    z, y = synthetic_logits(2000, 4)
    plain = nll(TemperatureScaling().fit(z, y).predict_proba(z), y)
    vector = nll(VectorScaling(0.0).fit(z, y).predict_proba(z), y)
    matrix = nll(MatrixScaling(0.0).fit(z, y).predict_proba(z), y)
    assert matrix <= vector + 1e-6 <= plain + 2e-6
    theirs = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8).fit(z, y)  # the same model
    np.testing.assert_allclose(MatrixScaling(0.0).fit(z, y).predict_proba(z), theirs.predict_proba(z), atol=2e-3)


def test_vector_scaling_is_matrix_scaling_with_a_diagonal(synthetic_logits):
    """Its gradient is the diagonal of the other's, by differences too."""
    z, y = synthetic_logits(500, 4)
    fit = VectorScaling(0.0).fit(z, y)
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
    fit = VectorScaling().fit(z, y)
    assert fit.weight_.shape == fit.bias_.shape == (5000,)
    assert nll(fit.predict_proba(z), y) < nll(np.exp(z) / np.exp(z).sum(1, keepdims=True), y)


def test_matrix_scaling_of_many_classes_is_refused():
    with pytest.raises(ValueError, match="matrix scaling must have at most 4,000 classes"):
        MatrixScaling().fit(np.zeros((2, 4001)), [0, 1])


def rare_events(n, prevalence=0.0058, seed=0):
    """Scores of a positive class whose weight in training was 170, and labels."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=n) * 1.2 + np.log(prevalence) - 0.72
    return true + np.log(170), (rng.random(n) < expit(true)).astype(int)


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling()], ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("n", [2_000, 100_000])
def test_rare_events_keep_their_share(method, n):
    """A ridge of 1e-3 on the mean NLL gave 1.25 of the share, at any n."""
    score, y = rare_events(n)
    for z in (score, np.stack([np.log(expit(-score)), np.log(expit(score))], 1)):
        share = method.fit(z, y).predict_proba(z)[:, 1].mean() / y.mean()
        bias = np.abs(method.bias_[1] - method.bias_[0]) / 2
        assert abs(share - 1) <= 0.1 * (bias + 10) / y.sum()
        assert abs(share - 1) < 1e-3 or n < 100_000


def test_the_penalty_is_that_of_the_priors(synthetic_logits):
    """By another optimiser, from the formula, in logits that are centred and scaled by hand."""
    z, y = synthetic_logits(150, 3)
    u = z - z.mean(0)
    rest = z - z.mean(1, keepdims=True)
    u = u / np.sqrt(rest.var(0).mean())

    def value(theta):
        weight, bias = theta[:9].reshape(3, 3), theta[9:]
        slope, off = np.trace(weight) / 3, weight - np.diag(np.diag(weight))
        # the bias is of the centred logits with their common slope, which adds the same to every class or to none
        fit = -log_softmax(u @ weight.T + bias + slope * z.mean(0) / np.sqrt(rest.var(0).mean()), 1)
        prior = 16 * ((np.diag(weight) - slope) ** 2).sum() + 48 * (off**2).sum() + bias @ bias / 10 + slope**2 / 100
        return fit[np.arange(len(y)), y].mean() + prior / (2 * len(y))

    theirs = scipy.optimize.minimize(value, np.r_[np.eye(3).ravel(), np.zeros(3)], method="BFGS", tol=1e-9).x
    weight = theirs[:9].reshape(3, 3) / np.sqrt(rest.var(0).mean())
    np.testing.assert_allclose(MatrixScaling().fit(z, y).weight_, weight, atol=1e-4)


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling()], ids=lambda method: type(method).__name__)
def test_what_does_not_change_the_fit(synthetic_logits, method):
    z, y = synthetic_logits(400, 4)
    p = method.fit(z, y).predict_proba(z)
    for other in (1000 * z, z / 1000, z + 50):
        np.testing.assert_allclose(method.fit(other, y).predict_proba(other), p, atol=1e-6)
    np.testing.assert_allclose(method.fit(z[:, ::-1], 3 - y).predict_proba(z[:, ::-1])[:, ::-1], p, atol=1e-6)
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(method.fit(z[order], y[order]).predict_proba(z), p, atol=1e-6)
    twice = method.fit(np.r_[z, z], np.r_[y, y]).predict_proba(z)
    np.testing.assert_allclose(method.fit(z, y, np.full(400, 2.0)).predict_proba(z), twice, atol=1e-6)


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling()], ids=lambda method: type(method).__name__)
def test_fits_that_only_the_priors_keep_finite(method):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 3))
    for y in (z.argmax(1), z[:, :2].argmax(1)):  # separated; a class without a label
        fit = method.fit(z, y)
        assert np.abs(fit.weight_).max() < 100
        assert np.abs(fit.bias_).max() < 20
        assert np.isfinite(fit.predict_log_proba(z)).all()
