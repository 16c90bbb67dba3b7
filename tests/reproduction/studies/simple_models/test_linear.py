"""The linear model on noisy clusters: fits, flows, and the truth in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import OptimizeResult
from sklearn.linear_model import LogisticRegression

from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.simple_models import linear
from reproduction.studies.simple_models.linear import (
    LinearFit,
    cluster_truth,
    fit_linear_model,
    fit_truth,
    gradient_descent,
    gradient_flow,
    linear_fits,
    mistakes_above,
    noisy_clusters,
    norm_ratios,
    separable_growth,
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


def test_clusters_of_app_g_are_the_default():
    given = {"flip": 0.1, "separation": 1.0, "spread": 0.5}
    for found, expected in zip(noisy_clusters(50, 4), noisy_clusters(50, 4, **given), strict=True):
        np.testing.assert_array_equal(found, expected)
    x, labels = noisy_clusters(20_000, 2, spread=0.05)
    assert np.mean((x[:, 0] > 0) != (labels == 1)) == pytest.approx(0.1, abs=0.01)
    assert set(np.unique(noisy_clusters(100, 0, separation=3.0, spread=0.0)[0])) == {-3.0, 3.0}


def test_clusters_lie_at_the_corners():
    x, _ = noisy_clusters(4000, 5, separation=3.0, spread=0.2)
    corners = np.sign(x)
    assert len(np.unique(corners, axis=0)) == 4
    np.testing.assert_allclose(np.abs(x).mean(0), 3.0, atol=0.02)
    np.testing.assert_allclose((x - 3 * corners).std(0), 0.2, rtol=0.05)


def test_a_fit_without_a_minimum_is_refused():
    """Cross-entropy of separable classes falls for ever; the optimiser overflows or stops far from 0."""
    x = np.array([[1e308, 0.0], [-1e308, 0.0]])
    with np.errstate(all="ignore"), pytest.raises(RuntimeError, match="did not converge"):
        fit_linear_model(x, np.array([1, 0]), 0.0)


@pytest.mark.parametrize(("gradient", "refused"), [(1e-8, False), (1e-3, True)])
def test_what_ends_for_rounding_alone_is_a_fit(monkeypatch, gradient, refused):
    ended = OptimizeResult(
        success=False, jac=np.array([gradient, 0.0]), x=np.ones(2), fun=0.5, message="precision loss"
    )
    monkeypatch.setattr(linear, "minimize", lambda *_, **__: ended)
    if refused:
        with pytest.raises(RuntimeError, match="did not converge: precision loss"):
            fit_linear_model(*noisy_clusters(10, 0), 1.0)
    else:
        fit = fit_linear_model(*noisy_clusters(10, 0), 1.0)
        assert (fit.loss, fit.gradient) == (0.5, gradient)


SETTINGS = [(0.1, 1.0, 0.5), (0.25, 2.0, 1.5), (0.0, 1.0, 1.0)]


@pytest.mark.parametrize(("flip", "separation", "spread"), SETTINGS)
def test_the_posterior_is_the_share_of_labels(flip, separation, spread):
    """Binned by the posterior, as many labels are 1 as it says."""
    x, labels = noisy_clusters(200_000, 0, flip=flip, separation=separation, spread=spread)
    clean = 1 / (1 + np.exp(-2 * separation * x[:, 0] / spread**2))
    said = flip + (1 - 2 * flip) * clean
    for low in np.arange(flip, 1 - flip, 0.1):
        inside = (said >= low) & (said < low + 0.1)
        if inside.sum() > 500:
            assert labels[inside].mean() == pytest.approx(said[inside].mean(), abs=4 * 0.5 / inside.sum() ** 0.5)


@pytest.mark.parametrize(("flip", "separation", "spread"), SETTINGS)
def test_expectations_are_those_of_a_sample(flip, separation, spread):
    truth = cluster_truth(flip=flip, separation=separation, spread=spread)
    x, labels = noisy_clusters(400_000, 1, flip=flip, separation=separation, spread=spread)
    weights = np.array([1.3, -0.4])
    found = against_truth(truth.points @ weights, truth)
    q = 1 / (1 + np.exp(-(x @ weights)))
    p = flip + (1 - 2 * flip) / (1 + np.exp(-2 * separation * x[:, 0] / spread**2))
    assert found.confidence == pytest.approx(np.maximum(q, 1 - q).mean(), abs=2e-3)
    assert found.distance == pytest.approx(np.sqrt(((q - p) ** 2).mean()), abs=2e-3)
    assert truth.shares @ truth.posterior == pytest.approx(labels.mean(), abs=3e-3)
    for level in (0.5, 0.7, 0.9):
        wrong = ((q > 0.5) != (labels == 1)) & (np.maximum(q, 1 - q) > level)
        exact = mistakes_above(weights, level, flip=flip, separation=separation, spread=spread)
        assert exact == pytest.approx(wrong.mean(), abs=3e-3)


@pytest.mark.parametrize("spread", [0.05, 0.25, 0.5, 1.0, 1.5])
def test_more_nodes_change_little(spread):
    few, many = (cluster_truth(spread=spread, nodes=n) for n in (66, 300))
    first, second = (against_truth(t.points @ np.array([2.0, 0.1]), t) for t in (few, many))
    assert first.distance == pytest.approx(second.distance, abs=1e-6)
    assert first.excess == pytest.approx(second.excess, abs=1e-6)
    assert first.confidence == pytest.approx(second.confidence, abs=1e-3)  # it has a kink


def test_mistakes_take_many_levels():
    levels = np.array([0.5, 0.9])
    found = mistakes_above(np.array([2.0, 0.0]), levels)
    assert found.tolist() == [mistakes_above(np.array([2.0, 0.0]), level) for level in levels]
    assert found[0] > found[1] > 0


X, LABELS = noisy_clusters(200, 0)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_small_steps_follow_the_flow(gamma):
    rate, iterations = 0.01, 1000
    path = gradient_descent(X, LABELS, gamma, rate=rate, iterations=iterations)
    flow = gradient_flow(X, LABELS, gamma, rate * np.arange(1, iterations + 1))
    np.testing.assert_allclose(path, flow, atol=2e-3)


def test_a_step_goes_down_the_loss():
    """Against the loss written out, by differences."""

    def loss(w):
        q = 1 / (1 + np.exp(-np.where(LABELS == 1, 1, -1) * (X @ w)))
        return (-((1 - q) ** 2) * np.log(q)).mean()

    first, second = gradient_descent(X, LABELS, 2.0, rate=0.3, iterations=2)
    slope = [(loss(first + e) - loss(first - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(second - first, -0.3 * np.array(slope), rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_the_flow_ends_at_the_minimum(gamma):
    end = gradient_flow(X, LABELS, gamma, np.array([1.0, 1e5]))[-1]
    np.testing.assert_allclose(end, fit_linear_model(X, LABELS, gamma).weights, rtol=1e-6)


def test_one_sample_grows_like_the_logarithm():
    """Cross-entropy of one sample at x = 1: dw/dt = 1/(1+e^w), so w + e^w = 1 + t."""
    times = np.array([0.5, 10.0, 1e6])
    w = gradient_flow(np.array([[1.0]]), np.array([1]), 0.0, times)[:, 0]
    np.testing.assert_allclose(w + np.exp(w), 1 + times, rtol=1e-6)


def test_separable_growth_slows_with_gamma():
    growth = separable_growth((0.0, 1.0), np.array([1e9, 1e10]), 0).diff().iloc[-1]
    assert growth[1.0] / growth[0.0] == pytest.approx(0.5, abs=0.02)


def test_without_flipped_labels_cross_entropy_finds_the_truth():
    """The true logit is 2 d x_1 / sigma^2: the model holds it."""
    weights = fit_truth(0.0, cluster_truth(flip=0.0, spread=1.0)).weights
    np.testing.assert_allclose(weights, [2.0, 0.0], atol=1e-6)


@pytest.mark.slow
def test_the_whole_distribution_is_the_limit_of_samples():
    x, labels = noisy_clusters(200_000, 0)
    sample = fit_linear_model(x, labels, 1.0).weights
    np.testing.assert_allclose(fit_truth(1.0, cluster_truth()).weights, sample, atol=0.02)


def test_columns_say_what_was_fitted():
    table = linear_fits((0.0, 1.0), 3, 300)
    assert len(table) == 6
    x, labels = noisy_clusters(300, 2)
    weights = [fit_linear_model(x, labels, gamma).weights for gamma in (0.0, 1.0)]
    row = table[(table["seed"] == 2) & (table["gamma"] == 1)].iloc[0]
    assert row["norm"] == pytest.approx(np.linalg.norm(weights[1]))
    assert row["logits"] == pytest.approx(np.sqrt(((x @ weights[1]) ** 2).mean()))
    angles = [np.degrees(np.arctan2(*w[::-1])) for w in weights]
    assert row["angle"] == pytest.approx(abs(angles[0] - angles[1]), abs=1e-4)
    assert 0 < row["high"] < 1
    assert 0.8 < row["accuracy"] < 0.9
    plain = table[table["gamma"] == 0]
    np.testing.assert_allclose(plain["mapped_distance"], plain["distance"])
    assert (table["gradient"] < 1e-6).all()


def test_the_map_undoes_the_shrinking():
    table = linear_fits((0.0, 3.0), 2, 500).pivot(index="seed", columns="gamma")
    assert (table["distance"][3.0] > table["distance"][0.0] + 0.1).all()
    np.testing.assert_allclose(table["mapped_distance"][3.0], table["distance"][0.0], atol=0.01)


def test_ratios_lie_near_the_temperature():
    table = norm_ratios([1.0], [0.5, 1.0], [0.1])
    assert list(table["spread"]) == [0.5, 1.0]
    np.testing.assert_allclose(table["ratio"] / table["temperature"], 1, atol=0.03)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fit_linear_model(np.zeros((3, 2)), np.zeros(4), 1.0), "must have shapes"),
        (lambda: fit_linear_model(np.zeros(4), np.zeros(4), 1.0), "must have shapes"),
        (lambda: fit_linear_model(np.zeros((3, 2)), np.zeros(3), -1.0), "gamma"),
        (lambda: linear_fits((1.0,), 2), "gammas must hold 0"),
        (lambda: linear_fits((0.0,), 0), "gammas must hold 0"),
        (lambda: cluster_truth(flip=0.5), "flip"),
        (lambda: cluster_truth(flip=-0.1), "flip"),
        (lambda: cluster_truth(separation=0.0), "separation"),
        (lambda: cluster_truth(spread=0.0), "spread"),
        (lambda: cluster_truth(nodes=1), "nodes"),
        (lambda: mistakes_above(np.ones(2), 0.4), "confidence"),
        (lambda: mistakes_above(np.ones(2), 1.0), "confidence"),
        (lambda: separable_growth((0.0,), np.array([1.0]), 0, spread=1.0), "separable"),
        (lambda: gradient_flow(X, LABELS[:-1], 0.0, np.array([1.0])), "shapes"),
        (lambda: gradient_flow(X, LABELS, -1.0, np.array([1.0])), "gamma"),
        *(
            (lambda times=times: gradient_flow(X, LABELS, 0.0, np.array(times)), "times")
            for times in ([], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0], [[1.0]])
        ),
        (lambda: gradient_descent(X, LABELS, 0.0, rate=0.0, iterations=1), "rate"),
        (lambda: gradient_descent(X, LABELS, 0.0, rate=0.1, iterations=0), "iterations"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(ValueError, match=said):
        call()
