"""The map of focal loss with the absolute distance undoes its minimum, found independently."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from focal_lib.losses.focal import FocalCalibrationLoss
from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.shared.moon_networks import absolute_calibration_log_probs


def found_by_search(p, gamma, lam):
    """Log of what minimises the expected loss, as the loss itself gives it."""
    loss = FocalCalibrationLoss(gamma, lam, reduction="none", norm="l1")

    def risk(z):
        logits = torch.tensor(z, requires_grad=True)
        value = torch.tensor(p) @ loss(logits.expand(len(p), -1), torch.arange(len(p)))
        value.backward()
        return float(value.detach()), logits.grad.numpy()

    return log_softmax(minimize(risk, np.zeros(len(p)), jac=True, options={"gtol": 1e-10}).x, -1)


@pytest.mark.parametrize(("gamma", "lam"), [(0.0, 0.5), (1.0, 0.0), (2.0, 0.5), (3.0, 0.2), (3.0, 1.0)])
@pytest.mark.parametrize("p", [(0.5, 0.3, 0.2), (0.55, 0.45), (0.4, 0.3, 0.2, 0.1)])
def test_undoes_the_minimum(p, gamma, lam):
    p = np.array(p)
    found = absolute_calibration_log_probs(found_by_search(p, gamma, lam), gamma, lam)
    np.testing.assert_allclose(np.exp(found), p, atol=2e-5)


@given(st.integers(0, 100), st.floats(0, 7))
def test_without_the_distance_it_is_the_focal_map(seed, gamma):
    z = np.random.default_rng(seed).normal(size=(3, 4)) * 5
    found = absolute_calibration_log_probs(log_softmax(z, -1), gamma, 0.0)
    np.testing.assert_allclose(found, focal_log_probs(z, gamma), rtol=1e-9, atol=1e-9)


def test_cross_entropy_with_the_distance_is_flattened():
    q = softmax(np.array([2.0, 0.0, -1.0]))
    v = q / (1 + 2 * 1.5 * q)
    np.testing.assert_allclose(np.exp(absolute_calibration_log_probs(np.log(q), 0.0, 1.5)), v / v.sum(), rtol=1e-12)


def test_extremes_stay_finite():
    log_q = np.array([[0.0, -800.0], [-1e-18, -41.0], [-0.7, -0.7]])
    log_q[2] = np.log(0.5)
    for gamma in (0.0, 3.0):
        found = absolute_calibration_log_probs(log_q, gamma, 0.5)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(np.exp(found).sum(-1), 1, rtol=1e-12)


@pytest.mark.parametrize(("gamma", "lam", "said"), [(-1.0, 1.0, "gamma"), (1.0, -1.0, "lam")])
def test_bad_input(gamma, lam, said):
    with pytest.raises(ValueError, match=said):
        absolute_calibration_log_probs(np.log([0.5, 0.5]), gamma, lam)
