"""Searches over the grid and along the line, by an ECE and by the NLL."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.metrics.bins import adaptive_ece, adaptive_ece_of
from focal_lib.theory.maps import focal_log_probs


def plain_loop(z, y, gammas, temperatures):
    """Every pair by torch operations: the reference for argmin and for speed."""
    best = (np.inf, None, None)
    for gamma in gammas:
        for t in temperatures:
            probs = np.exp(focal_log_probs(z / t, gamma))
            correct = (z.argmax(1) == y).astype(float)
            value = adaptive_ece_of(probs.max(1), correct)
            if value < best[0] - 1e-13:
                best = (value, gamma, t)
    return best


@settings(deadline=None, max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 10, 40]),
    st.sampled_from([0.5, 1.0, 2.5]),
    st.sampled_from([-0.5, 0.0, 2.0]),
)
@pytest.mark.slow
def test_grid_search_finds_the_plain_loops_optimum(synthetic_logits, seed, classes, temperature, gamma):
    z, y = synthetic_logits(120, classes, seed, temperature, gamma)
    gammas, temperatures = (-0.9, -0.5, 0.0, 0.25, 1.0, 5.0), np.arange(0.1, 5, 0.1)
    if len(np.unique(y)) < 2:
        return
    found = FocalTemperatureScaling("adaptive-ece", gammas=gammas, temperatures=temperatures).fit(z, y)
    value, _, _ = plain_loop(z, y, gammas, temperatures)
    assert found.objective_ == pytest.approx(value, abs=1e-12)
    probs = found.predict_proba(z)
    assert adaptive_ece(probs, y) == pytest.approx(value, abs=1e-12)


def test_line_search_is_near_the_grid(synthetic_logits):
    z, y = synthetic_logits(2000, 4, gamma=1.0)  # the best gamma is none of the line's ends
    grid = FocalTemperatureScaling("adaptive-ece", "grid").fit(z, y)
    line = FocalTemperatureScaling("adaptive-ece", "line").fit(z, y)
    assert line.objective_ <= grid.objective_ + 5e-4


def test_newton_is_at_least_as_good_as_the_grid(synthetic_logits):
    z, y = synthetic_logits(1500, 6, gamma=0.5)
    newton = FocalTemperatureScaling("nll", "newton").fit(z, y)
    grid = FocalTemperatureScaling("nll", "grid").fit(z, y)
    line = FocalTemperatureScaling("nll", "line").fit(z, y)
    assert newton.objective_ <= grid.objective_ + 1e-9
    assert grid.objective_ <= line.objective_ + 1e-9
