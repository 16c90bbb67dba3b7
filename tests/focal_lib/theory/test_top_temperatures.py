"""Temperature bounds on the top probability: small gamma, and the tie that makes T_high, to ten digits."""

import numpy as np
import pytest

from focal_lib.theory.temperature_bounds import beta_of_tied_classes, top_temperature_bounds


def test_a_small_gamma_is_bounded_too():
    assert top_temperature_bounds(0.005, 3) == (1 / 1.005, 1.0)


@pytest.mark.parametrize(("gamma", "n"), [(0.05, 20), (0.3, 20)])
def test_the_smallest_of_all_ties_is_found_to_ten_digits(gamma, n):
    """The worst number of classes ties all of them: the end of the search, next to which no other value may count."""
    lowest = 1.0
    for k in range(4, n + 1):
        low, high = -np.log(k) - 10, -np.log(k)
        for _ in range(8):  # ever finer grids around the smallest
            at = np.linspace(low, high, 41)
            values = [beta_of_tied_classes(k, float(np.exp(x)), gamma) for x in at]
            best = int(np.argmin(values))
            low, high = at[max(best - 2, 0)], at[min(best + 2, 40)]
        lowest = min(lowest, min(values))
    assert top_temperature_bounds(gamma, n)[1] == pytest.approx(1 / lowest, rel=1e-10)
