"""Closest temperatures, against values computed on other grids, in 50 digits and by direct search."""

import importlib
import itertools

import mpmath as mp
import numpy as np
import pytest

from focal_lib.theory.closest_temperature import (
    PAPER_CUBE,
    SIMPLEX,
    closest_temperature,
    deviation_from_map,
    fit_line,
)
from focal_lib.theory.gain import elasticity_minimum


def _deviation(beta, gamma, classes, spread):
    """In 50 digits: scaled minus mapped probability of one class, `spread` above classes - 1 tied ones in logits."""
    weight = [1 / (1 + (classes - 1) * mp.exp(-spread)), 0]
    weight[1] = (1 - weight[0]) / (classes - 1)
    mapped = [q / ((1 - q) ** gamma * (1 - gamma * q * mp.log(q) / (1 - q))) for q in weight]
    return 1 / (1 + (classes - 1) * mp.exp(-beta * spread)) - mapped[0] / (mapped[0] + (classes - 1) * mapped[1])


# where the deviation is largest: (classes that count, logit of the one above the tied others) for either sign
@pytest.mark.parametrize(
    ("gamma", "n", "tied_above", "tied_below"),
    [
        (0.5, 2, (2, 3.5), (2, 1.2)),
        (3.0, 2, (2, 1.6), (2, 0.4)),
        (3.0, 3, (3, 0.57), (2, 0.48)),
        (1.0, 4, (4, 1.07), (2, 0.98)),
        (5.0, 10, (10, 1.18), (2, 0.42)),
        (3.0, 100, (100, 3.6), (3, 1.1)),
    ],
)
def test_the_optimum_in_fifty_digits(gamma, n, tied_above, tied_below):
    found = closest_temperature(gamma, n)
    with mp.workdps(50):
        exact_gamma = mp.mpf(gamma)

        def conditions(beta, above, below):
            over = [_deviation(beta, exact_gamma, tied_above[0], above + h) for h in (0, 1e-20, -1e-20)]
            under = [_deviation(beta, exact_gamma, tied_below[0], below + h) for h in (0, 1e-20, -1e-20)]
            slopes = ((side[1] - side[2]) / mp.mpf("2e-20") for side in (over, under))
            return [over[0] + under[0], *slopes]

        beta, above, _ = mp.findroot(conditions, (found.inverse_temperature, tied_above[1], tied_below[1]), tol=1e-25)
        error = _deviation(beta, exact_gamma, tied_above[0], above)
    assert found.inverse_temperature == pytest.approx(float(beta), abs=3e-9)
    assert found.error == pytest.approx(abs(float(error)), abs=2e-10)
    assert found.least_error == pytest.approx(abs(float(error)), abs=2e-10)


def _sorted_logits(n, reach, points):
    """Every multiset of a grid of logits with the largest 0, denser near ties: (m, n)."""
    steps = np.linspace(0, 1, points) ** 1.5 * reach
    rest = -np.array(list(itertools.combinations_with_replacement(steps, n - 1)))
    return np.hstack([np.zeros((len(rest), 1)), rest])


@pytest.mark.parametrize(("n", "points"), [(3, 160), (4, 40)])
@pytest.mark.parametrize("gamma", [0.4, 3.0, 9.0])
@pytest.mark.parametrize("reach", [PAPER_CUBE, SIMPLEX])
def test_a_grid_of_the_whole_simplex_finds_no_other(n, points, gamma, reach):
    found = closest_temperature(gamma, n, reach)
    grid = _sorted_logits(n, reach, points)
    errors = {
        factor: np.abs(deviation_from_map(gamma, factor * found.inverse_temperature, grid)).max()
        for factor in (0.93, 1.0, 1.07)
    }
    assert found.error * 0.97 < errors[1.0] <= found.error + 1e-12
    assert min(errors, key=errors.get) == 1.0


@pytest.mark.parametrize("gamma", [0.01, 0.4, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_bounds_meet_and_the_best_lies_where_it_is_looked_for(gamma, n):
    found = closest_temperature(gamma, n)
    assert 0 <= found.error - found.least_error <= 1e-8 * found.error + 1e-13
    # outside [smallest elasticity, gamma + 1] the error of the top probability grows, and at the ends it is larger
    grid = _sorted_logits(2, 20.0, 400)
    tied = np.hstack([grid, np.repeat(grid[:, 1:], n - 2, axis=1)])
    for end in (elasticity_minimum(gamma)[1], gamma + 1):
        assert np.abs(deviation_from_map(gamma, end, tied))[:, 0].max() > found.error


def test_gamma_zero_is_no_temperature():
    fit = closest_temperature(0.0, 3)
    assert (fit.temperature, fit.error, fit.least_error) == (1, 0, 0)


def test_bounds_that_do_not_meet_are_told(monkeypatch):
    monkeypatch.setattr(importlib.import_module("focal_lib.theory.closest_temperature"), "_ROUNDS", 1)
    with pytest.raises(RuntimeError, match="must meet within 1 rounds"):
        closest_temperature(3.0, 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-0.5, 3), "gamma must be a finite number >= 0"),
        ((1.0, 1), "n must be a whole number of classes, at least 2. Got 1"),
        ((1.0, 2.5), "n must be a whole number"),
        ((1.0, 3, 0.0), "reach must be a finite number > 0"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        closest_temperature(*arguments)


def test_line():
    assert fit_line([0, 1, 2], [0.9, 1.5, 2.1]) == pytest.approx((0.6, 0.9))
