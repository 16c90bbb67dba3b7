"""Thresholds of Prop. 5, and the worst rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory.confidence import confidence_change
from focal_lib.theory.gain import confidence_threshold, critical_gamma, peak_probability

TAU = {0.1: 0.4813662349, 0.5: 0.4214574615, 2: 0.2976365550, 3: 0.2525839887, 10: 0.1307479022, 100: 0.0224983257}


def test_threshold_at_one_is_one_over_e():
    assert confidence_threshold(1.0) == pytest.approx(np.exp(-1), abs=1e-15)
    assert peak_probability(1.0) == pytest.approx(np.exp(-2), abs=1e-15)


@pytest.mark.parametrize(("gamma", "tau"), TAU.items())
def test_threshold_values(gamma, tau):
    assert confidence_threshold(gamma) == pytest.approx(tau, abs=1e-10)


def test_threshold_tends_to_one_half():
    assert confidence_threshold(1e-6) == pytest.approx(0.5, abs=1e-6)
    assert confidence_threshold(1e-12) == 0.5


@pytest.mark.parametrize("n", [4, 5, 10, 1000])
def test_critical_gamma_inverts_the_threshold(n):
    assert confidence_threshold(critical_gamma(n)) == pytest.approx(1 / (n - 1), rel=1e-10)


@settings(deadline=None)
@given(st.floats(0.05, 20), st.integers(2, 60), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_above_the_threshold_confidence_never_falls(gamma, n, share, seed):
    tau = max(confidence_threshold(gamma), 1 / n)
    top = tau + (0.999 - tau) * share
    rest = np.random.default_rng(seed).dirichlet(np.full(n - 1, 0.5)) * (1 - top) + 1e-12
    rest = np.minimum(rest, top)
    row = np.r_[1 - rest.sum(), rest]
    if row[0] >= max(tau, rest.max()):
        assert confidence_change(row, gamma) >= -1e-12


def test_bad_input():
    with pytest.raises(ValueError, match="gamma must be a finite number"):
        confidence_threshold(0.0)
    with pytest.raises(ValueError, match="must sum to 1"):
        confidence_change(np.array([0.5, 0.4]), 1.0)
    with pytest.raises(ValueError, match="n must be at least 2"):
        critical_gamma(1)
