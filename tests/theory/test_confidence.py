"""When the map raises the top probability, and when not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory.confidence import confidence_change, sample_simplex
from focal_lib.theory.gain import confidence_threshold, critical_gamma


@settings(deadline=None)
@given(st.floats(0.05, 20), st.integers(2, 60), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_above_the_threshold_confidence_never_falls(gamma, n, share, seed):
    tau = max(confidence_threshold(gamma), 1 / n)
    top = tau + (0.999 - tau) * share
    rest = np.random.default_rng(seed).dirichlet(np.full(n - 1, 0.5)) * (1 - top) + 1e-12
    rest = np.minimum(rest, top)
    point = np.r_[1 - rest.sum(), rest]
    if point[0] >= max(tau, rest.max()):
        assert confidence_change(point, gamma) >= -1e-12


@pytest.mark.parametrize("n", [4, 6, 20])
def test_the_critical_gamma_is_where_tied_classes_turn(n):
    tied = np.r_[np.full(n - 1, (1 - 1e-9) / (n - 1)), 1e-9]
    below, above = (confidence_change(tied, factor * critical_gamma(n)) for factor in (0.99, 1.01))
    assert below < 0 < above


@pytest.mark.parametrize("n", [2, 3, 7])
def test_sampled_points_are_sorted_distributions(n):
    points = sample_simplex(n, seed=1, count=40)
    assert points.shape == (80, n)
    np.testing.assert_allclose(points.sum(-1), 1)
    assert np.all(np.diff(points, axis=-1) <= 0)
    assert np.all(points > 0)
    np.testing.assert_array_equal(points, sample_simplex(n, seed=1, count=40))


def test_bad_input():
    with pytest.raises(ValueError, match="must sum to 1"):
        confidence_change(np.array([0.5, 0.4]), 1.0)
    with pytest.raises(ValueError, match="probs must be positive"):
        confidence_change(np.array([1.0, 0.0]), 1.0)
