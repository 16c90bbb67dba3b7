"""Bounds of a sum of absolute gaps: Poisson's deviation, ends that hold the truth, higher levels that are wider."""

import numpy as np
import pytest
from scipy import stats

from focal_lib.metrics.gap_bounds import bound_sum, mean_absolute_poisson


@pytest.mark.parametrize("mean", [1e-9, 0.03, 0.5, 1.0, 2.7, 40.0])
def test_mean_absolute_deviation_of_poisson(mean):
    k = np.arange(400)
    expected = (np.abs(k - mean) * stats.poisson.pmf(k, mean)).sum()
    assert mean_absolute_poisson(np.array([mean]))[0] == pytest.approx(expected, rel=1e-9)


def test_no_variance_has_no_deviation():
    assert mean_absolute_poisson(np.zeros(2)).max() < 1e-200


@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0, "one"])
@pytest.mark.parametrize("variance", [0.3, 3.0, 50.0])
def test_bounds_hold_the_truth(shift, variance):
    """Poisson counts; all gaps alike, which is the worst case of the high end, or one cell with all of it."""
    rng, cells = np.random.default_rng(0), 60
    means = np.zeros(cells) if shift == "one" else np.full(cells, shift * np.sqrt(variance))
    if shift == "one":
        means[0] = 30 * np.sqrt(variance)
    hits = 0
    for _ in range(200):
        sums = rng.poisson(variance, cells) - variance + means
        low, high, debiased = bound_sum(sums, np.full(cells, variance), 0.95)
        assert low <= debiased <= high
        hits += low <= np.abs(means).sum() <= high
    assert hits >= 0.93 * 200


def test_far_from_0_the_ends_are_near():
    sums = np.full(50, 200.0)
    low, high, debiased = bound_sum(sums, np.full(50, 100.0), 0.95)
    assert sums.sum() * 0.95 < low < debiased == pytest.approx(sums.sum(), rel=1e-6)
    assert debiased < high < sums.sum() * 1.05


@pytest.mark.parametrize("seed", range(10, 28))
def test_gaps_far_beyond_their_noise_stay_as_they_are(seed):
    """There the noise adds less than rounding does, to either side."""
    rng = np.random.default_rng(seed)
    sums = rng.integers(900, 1500, 7) / 7
    low, high, debiased = bound_sum(sums, rng.uniform(40, 250, 7), 0.95)
    assert low < debiased == pytest.approx(sums.sum(), rel=1e-9)
    assert debiased < high


def test_a_higher_level_is_wider():
    sums, variances = np.linspace(-20, 30, 40), np.full(40, 9.0)
    near, far = bound_sum(sums, variances, 0.5), bound_sum(sums, variances, 0.99)
    assert far[0] < near[0] < near[1] < far[1]
    assert far[2] == near[2]
