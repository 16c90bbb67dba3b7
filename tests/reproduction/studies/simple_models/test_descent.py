"""Gradient descent and its flow: they agree, end at the minimum, and grow as they should where there is none."""

import numpy as np
import pytest

from reproduction.studies.simple_models.descent import gradient_descent, gradient_flow
from reproduction.studies.simple_models.linear_fits import separable_growth
from reproduction.studies.simple_models.linear_model import fit_linear_model, noisy_clusters

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


def test_growth_needs_separable_classes():
    with pytest.raises(ValueError, match="separable"):
        separable_growth((0.0,), np.array([1.0]), 0, spread=1.0)


@pytest.mark.parametrize("times", [[], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0], [[1.0]]])
def test_times_increase(times):
    with pytest.raises(ValueError, match="times"):
        gradient_flow(X, LABELS, 0.0, np.array(times))


def test_bad_input():
    with pytest.raises(ValueError, match="shapes"):
        gradient_flow(X, LABELS[:-1], 0.0, np.array([1.0]))
    with pytest.raises(ValueError, match="gamma"):
        gradient_flow(X, LABELS, -1.0, np.array([1.0]))
    with pytest.raises(ValueError, match="rate"):
        gradient_descent(X, LABELS, 0.0, rate=0.0, iterations=1)
    with pytest.raises(ValueError, match="iterations"):
        gradient_descent(X, LABELS, 0.0, rate=0.1, iterations=0)
