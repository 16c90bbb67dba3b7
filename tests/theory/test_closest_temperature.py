"""Closest temperatures, against values computed on other grids."""

import numpy as np
import pytest

from focal_lib.theory.closest_temperature import closest_temperature, deviation_from_map, fit_line, logit_grid


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


def test_the_grid_has_every_order_once():
    grid = logit_grid(3, 10.0, 4)
    assert len(grid) == 10
    assert np.all(np.diff(grid, axis=1) <= 0)
    with pytest.raises(ValueError, match="n must be 2, 3 or 4"):
        logit_grid(5)


def test_the_error_is_the_largest_deviation():
    fit = closest_temperature(2.0, 3, 10.0)
    deviation = deviation_from_map(2.0, fit.inverse_temperature, logit_grid(3, 10.0))
    assert np.abs(deviation).max() == pytest.approx(fit.error, abs=1e-12)
    np.testing.assert_allclose(deviation.sum(-1), 0, atol=1e-12)


def test_line():
    assert fit_line([0, 1, 2], [0.9, 1.5, 2.1]) == pytest.approx((0.6, 0.9))
