"""Minimisers and the proper part, against direct minimisation."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory import proper
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import (
    brier_values,
    conditional_risk,
    focal_calibration_minimiser,
    focal_loss_values,
    focal_minimiser,
    proper_focal_loss,
)

MINIMISERS = {0.5: 0.7345747634, 1: 0.6858314454, 2: 0.6266148273, 3: 0.5944783237, 10: 0.5329188047, 100: 0.5034501339}


@pytest.mark.parametrize(("gamma", "q"), MINIMISERS.items())
def test_known_minimisers(gamma, q):
    assert proper.focal_minimiser([0.8, 0.2], gamma)[0] == pytest.approx(q, abs=1e-10)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 8), st.floats(0, 10), st.integers(0, 2**32 - 1))
def test_the_proper_part_is_proper(n, gamma, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n)) * 0.98 + 0.02 / n
    others = rng.dirichlet(np.ones(n), 50) * 0.98 + 0.02 / n
    own = proper.conditional_risk(proper.proper_focal_loss(p, gamma), p)
    assert np.all(own <= proper.conditional_risk(proper.proper_focal_loss(others, gamma), p) + 1e-9)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(st.integers(2, 6), st.floats(0, 12), st.floats(0, 50), st.integers(0, 2**32 - 1))
def test_the_map_of_fcl_is_the_inverse_of_its_minimiser(n, gamma, lam, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(n), 10) * 0.98 + 0.02 / n
    q = focal_calibration_minimiser(p, gamma, lam)
    found = np.exp(proper.focal_calibration_log_probs(np.log(q), gamma, lam))
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-12)
    np.testing.assert_allclose(found, p, atol=1e-7)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.floats(0, 12), st.integers(0, 2**32 - 1))
def test_the_map_of_fcl_without_a_square_is_the_focal_map(n, gamma, seed):
    log_q = np.log(np.random.default_rng(seed).dirichlet(np.ones(n)) * 0.98 + 0.02 / n)
    found = proper.focal_calibration_log_probs(log_q, gamma, 0.0)
    np.testing.assert_allclose(found, focal_log_probs(log_q, gamma), atol=1e-10)
    np.testing.assert_allclose(proper.focal_calibration_log_probs(log_q, 0.0, 3.0), log_q, atol=1e-12)


def test_the_map_of_fcl_far_out_and_in_batches():
    s = np.array([[300.0], [-40.0], [0.0]])
    log_q = np.concatenate([-np.logaddexp(0, s), -np.logaddexp(0, -s)], axis=1)
    found = proper.focal_calibration_log_probs(log_q, 2.0, 1.5)
    np.testing.assert_allclose(np.logaddexp(*found.T), 0, atol=1e-12)
    assert found[0, 0] < log_q[0, 0] + 1  # the square holds the map near the identity where g is 0
    np.testing.assert_allclose(found[2], np.log([0.5, 0.5]))
    np.testing.assert_array_equal(found[1], proper.focal_calibration_log_probs(log_q[1], 2.0, 1.5))


@pytest.mark.parametrize(("gamma", "lam", "said"), [(-0.5, 1.0, "gamma"), (1.0, -1.0, "lam")])
def test_the_map_of_fcl_refuses(gamma, lam, said):
    with pytest.raises(ValueError, match=said):
        proper.focal_calibration_log_probs(np.log([0.5, 0.5]), gamma, lam)
    with pytest.raises(ValueError, match="log-probabilities"):
        proper.focal_calibration_log_probs(np.array([0.5, 0.5]), 1.0, 1.0)


def test_faces_in_a_batch_of_any_shape():
    faces = np.array([[[0.8, 0.2, 0.0], [0.0, 0.995, 0.005]], [[1.0, 0.0, 0.0], [0.2, 0.5, 0.3]]])
    q = proper.focal_minimiser(faces, 2.0)
    assert isinstance(proper.focal_minimiser(torch.tensor(faces), 2.0), torch.Tensor)
    np.testing.assert_array_equal(q[1, 0], [1, 0, 0])
    for point, found in zip(faces[0], q[0], strict=True):
        np.testing.assert_allclose(found[point > 0], proper.focal_minimiser(point[point > 0], 2.0), rtol=1e-14)
    np.testing.assert_array_equal(q[faces == 0], 0)


def test_sums_that_rounding_moved_are_made_1():
    p = np.array([0.8, 0.2])
    np.testing.assert_allclose(proper.focal_minimiser(p * (1 + 9e-7), 2.0), proper.focal_minimiser(p, 2.0), rtol=1e-14)


def test_bad_input():
    with pytest.raises(ValueError, match="must sum to 1"):
        proper.focal_minimiser([0.8, 0.3], 2.0)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        proper.focal_minimiser([1.2, -0.2], 2.0)
    with pytest.raises(ValueError, match="gamma"):
        proper.focal_minimiser([0.5, 0.3, 0.2], -0.5)


@pytest.mark.parametrize(
    ("gamma", "lam", "expected"),
    [
        (2.0, 0.0, 0.6266148273),
        (2.0, 1.0, 0.7010787082),
        (2.0, 100.0, 0.7974432641),
        (1.0, 0.5, 0.7155669713),
        (3.0, 10.0, 0.7769416205),
    ],
)
def test_focal_calibration_minimiser_of_two_classes(gamma, lam, expected):
    """The root of .8 L'(q) - .2 L'(1-q) + 4 lam (q - .8), in 30 digits."""
    with mpmath.workdps(30):

        def slope(q):
            return gamma * (1 - q) ** (gamma - 1) * mpmath.log(q) - (1 - q) ** gamma / q

        p = mpmath.mpf("0.8")
        root = mpmath.findroot(
            lambda q: p * slope(q) - (1 - p) * slope(1 - q) + 4 * lam * (q - p), (0.51, 0.79999), solver="illinois"
        )
    found = focal_calibration_minimiser([0.8, 0.2], gamma, lam)[0]
    assert found == pytest.approx(float(root), abs=1e-13)
    assert found == pytest.approx(expected, abs=1e-9)


def test_focal_calibration_minimiser_without_square_is_the_focal_minimiser():
    p = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    np.testing.assert_allclose(focal_calibration_minimiser(p, 3.0, 0.0), focal_minimiser(p, 3.0), atol=1e-12)


@pytest.mark.slow
def test_several_lams_at_once_give_what_each_gives():
    p, lams = np.array([[0.5, 0.3, 0.2], [0.8, 0.15, 0.05]]), np.array([0.0, 0.5, 40.0])
    found = focal_calibration_minimiser(p[:, None], 2.0, lams)
    assert found.shape == (2, 3, 3)
    for i, distribution in enumerate(p):
        for j, lam in enumerate(lams):
            alone = focal_calibration_minimiser(distribution, 2.0, lam)
            np.testing.assert_allclose(found[i, j], alone, atol=1e-15)
    with pytest.raises(ValueError, match="lam must be a finite number >= 0"):
        focal_calibration_minimiser(p[0], 2.0, [1.0, -1.0])


def test_focal_calibration_minimiser_bad_input():
    with pytest.raises(ValueError, match="lam must be"):
        focal_calibration_minimiser([0.5, 0.5], 1.0, -1.0)
    with pytest.raises(ValueError, match="positive"):
        focal_calibration_minimiser([1.0, 0.0], 1.0, 1.0)


# --- values written out -------------------------------------------------------------------


def test_focal_loss_at_certainty_is_0():
    for gamma in (-0.5, 0.0, 2.0):
        assert focal_loss_values([1.0, 1.0 + 1e-16], gamma).tolist() == [0, 0]
        assert focal_loss_values(0.25, gamma) == pytest.approx(0.75**gamma * np.log(4), rel=1e-14)


@pytest.mark.parametrize("gamma", [0.5, 3.0])
def test_the_proper_loss_of_the_map_is_the_focal_loss(gamma):
    q = np.array([[0.6, 0.3, 0.1], [0.05, 0.9, 0.05]])
    p = np.exp(focal_log_probs(np.log(q), gamma))
    np.testing.assert_allclose(proper_focal_loss(p, gamma), -((1 - q) ** gamma) * np.log(q), rtol=1e-10)


def test_brier_values_are_squared_distances():
    probs = np.random.default_rng(0).dirichlet([1, 1, 1, 1], (3, 2))
    wanted = ((probs[..., None, :] - np.eye(4)) ** 2).sum(-1)
    np.testing.assert_allclose(brier_values(probs), wanted, rtol=1e-13)


def test_the_risk_is_the_mean_and_impossible_classes_do_not_count():
    assert conditional_risk([3.0, 5.0], [0.005, 0.995]) == pytest.approx(4.99, rel=1e-14)
    assert conditional_risk([np.inf, 2.0, np.nan], [0.0, 1.0, 0.0]) == 2
    found = conditional_risk([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(found, [1.5, 3.75], rtol=1e-14)


def test_a_minimiser_whose_multiplier_is_below_minus_two():
    """Of many classes and a large gamma, g(q) is above 2; equal classes stay equal."""
    found = focal_calibration_minimiser(np.full(400, 1 / 400), 200.0, 0.1)
    np.testing.assert_allclose(found, 1 / 400, rtol=1e-12)
