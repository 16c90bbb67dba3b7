"""Closest temperatures, against values computed on other grids."""

import numpy as np
import pytest

from focal_lib.theory.closest_temperature import closest_temperature, logit_points
from focal_lib.theory.second_derivative import convexity_limit, second_derivative


@pytest.mark.parametrize(("gamma", "inverse"), [(0.5, 1.36761653), (1, 1.78101976), (3, 3.62515520), (10, 10.51281998)])
def test_binary(gamma, inverse):
    assert closest_temperature(gamma, 2).inverse_temperature == pytest.approx(inverse, abs=2e-5)


def test_three_and_four_classes():
    assert closest_temperature(9.0, 3, 10.0).error == pytest.approx(0.0771, abs=2e-4)
    assert closest_temperature(1.0, 3, 10.0).temperature == pytest.approx(0.6578, abs=2e-4)
    assert closest_temperature(9.0, 4, 10.0).error == pytest.approx(0.125, abs=4e-3)


def test_gamma_zero_is_no_temperature():
    fit = closest_temperature(0.0, 3)
    assert fit.inverse_temperature == pytest.approx(1, abs=1e-5)
    assert fit.error < 1e-5


def test_rows_are_every_order_once():
    rows = logit_points(3, 10.0, 4)
    assert len(rows) == 10
    assert np.all(np.diff(rows, axis=1) <= 0)
    with pytest.raises(ValueError, match="n must be 2, 3 or 4"):
        logit_points(5)


def test_the_second_derivative_is_the_loss_curvature():
    q = np.linspace(0.05, 0.95, 19)
    for gamma in (-0.5, 0.5, 3.0):
        h = 1e-4
        loss = [-((1 - v) ** gamma) * np.log(v) for v in (q - h, q, q + h)]
        numeric = (loss[0] - 2 * loss[1] + loss[2]) / h**2
        np.testing.assert_allclose(second_derivative(q, gamma), numeric, rtol=1e-4, atol=1e-4)


def test_convexity_limits():
    assert convexity_limit(-0.25) == pytest.approx(0.821553068560, abs=1e-11)
    assert convexity_limit(-0.5) == pytest.approx(0.735720605001, abs=1e-11)
    with pytest.raises(ValueError, match=r"gamma must lie in \(-1, 0\)"):
        convexity_limit(0.5)
