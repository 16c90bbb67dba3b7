"""The averaged two-bin error is truthful, what binned errors are not, and its interval covers."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.metrics.bins import adaptive_ece_of, ece_of
from focal_lib.metrics.design import Design
from focal_lib.metrics.scores import top_label
from focal_lib.metrics.truthful import (
    averaged_two_bin_error,
    averaged_two_bin_error_interval,
    averaged_two_bin_error_interval_of,
    averaged_two_bin_error_of,
)


def by_thresholds(p, y):
    """The integral as the paper writes it, over the thresholds between neighbouring values, in fractions."""
    p, total = [Fraction(v) for v in p], Fraction(0)
    ends = sorted({Fraction(0), Fraction(1), *p})
    for low, high in itertools.pairwise(ends):
        q = (low + high) / 2
        below = sum(((r - t) for r, t in zip(p, y, strict=True) if r < q), Fraction(0))
        above = sum(((r - t) for r, t in zip(p, y, strict=True) if r >= q), Fraction(0))
        total += (high - low) * (below**2 + above**2)
    return float(total / len(p) ** 2)


def expected(error, report, true):
    """Mean of an error over all outcomes of independent events."""
    mean = 0.0
    for y in itertools.product((0.0, 1.0), repeat=len(true)):
        chance = np.prod([t if v else 1 - t for t, v in zip(true, y, strict=True)])
        mean += chance * error(report, np.array(y))
    return mean


samples = st.lists(st.tuples(st.integers(0, 8).map(lambda k: k / 8), st.integers(0, 1)), min_size=1, max_size=12)


@given(samples)
def test_it_is_the_integral_over_all_thresholds(rows):
    p, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    assert averaged_two_bin_error(p, y.astype(int)) == pytest.approx(by_thresholds(p, y.astype(int)), abs=1e-14)


@given(samples, st.randoms(use_true_random=False))
def test_order_copies_weights_and_the_other_outcome(rows, random):
    p, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value = averaged_two_bin_error_of(p, y)
    mixed = random.sample(range(len(p)), len(p))
    assert averaged_two_bin_error_of(p[mixed], y[mixed]) == pytest.approx(value, abs=1e-14)
    assert averaged_two_bin_error_of(1 - p, 1 - y) == pytest.approx(value, abs=1e-14)
    assert averaged_two_bin_error_of(np.tile(p, 3), np.tile(y, 3)) == pytest.approx(value, abs=1e-14)
    weights = np.arange(1, len(p) + 1)
    repeated = averaged_two_bin_error_of(np.repeat(p, weights), np.repeat(y, weights))
    assert averaged_two_bin_error_of(p, y, weights.astype(float)) == pytest.approx(repeated, abs=1e-14)


@pytest.mark.parametrize("true", [(0.3,), (0.1, 0.7), (0.2, 0.2, 0.9), (0.05, 0.5, 0.5, 0.6)])
def test_no_forecast_has_a_smaller_expected_error_than_the_truth(true):
    true, rng = np.array(true), np.random.default_rng(0)
    least = expected(averaged_two_bin_error_of, true, true)
    assert least == pytest.approx((true * (1 - true)).sum() / len(true) ** 2)  # the variance of the outcomes
    for scale in (0.01, 0.1, 1.0):
        for _ in range(10):
            report = np.clip(true + scale * rng.normal(size=len(true)), 0, 1)
            found = expected(averaged_two_bin_error_of, report, true)
            assert found > least
            assert found == pytest.approx(least + averaged_two_bin_error_of(report, true))


@pytest.mark.parametrize("error", [ece_of, adaptive_ece_of])
def test_binned_errors_reward_a_lie(error):
    true, lie = np.array([0.3, 0.3, 0.6]), np.array([0.0, 0.0, 1.0])
    assert expected(error, lie, true) < expected(error, true, true)


def test_the_u_statistic_is_unbiased():
    """Where its interval does not clip it: of pairs of different samples alone."""
    report, true = np.array([0.9, 0.9, 0.8, 0.7, 0.9, 0.8]), np.full(6, 0.1)
    found = averaged_two_bin_error_interval_of(report, np.array([0, 0, 0, 0, 0, 1.0]))
    assert found.low < found.debiased < found.high

    def pairs(p, y):
        return (36 * averaged_two_bin_error_of(p, y) - ((p - y) ** 2).sum()) / 30

    assert found.debiased == pytest.approx(pairs(report, np.array([0, 0, 0, 0, 0, 1.0])))
    assert expected(pairs, report, true) == pytest.approx(pairs(report, true))


def test_it_is_the_square_of_a_gap_and_takes_the_top_label():
    assert averaged_two_bin_error([0.4] * 4, [0, 0, 0, 1]) == pytest.approx(0.15**2)
    probs = np.array([[0.7, 0.2, 0.1]] * 4)
    assert averaged_two_bin_error_of(*top_label(probs, [0, 0, 1, 2])) == pytest.approx(0.2**2)
    with pytest.raises(ValueError, match="averaged_two_bin_error is of two classes"):
        averaged_two_bin_error(probs, [0, 0, 1, 2])


def draw(seed, n=400, sharpness=1.0, centre=-1.0):
    rng = np.random.default_rng(seed)
    x = 1.5 * rng.normal(size=n)
    true = 1 / (1 + np.exp(-(x + centre)))
    return 1 / (1 + np.exp(-(sharpness * x + centre))), (rng.random(n) < true).astype(float), true


@pytest.mark.parametrize(("sharpness", "centre"), [(1.0, -1.0), (2.0, -1.0), (0.4, -1.0), (1.0, -5.0), (1.5, -5.0)])
def test_intervals_cover(sharpness, centre):
    p, _, true = draw(10**6, 300_000, sharpness, centre)
    value = averaged_two_bin_error_of(p, true)
    found = [averaged_two_bin_error_interval_of(*draw(seed, 800, sharpness, centre)[:2]) for seed in range(1000, 1060)]
    assert np.mean([f.low <= value + 1e-15 and value <= f.high for f in found]) >= 0.88
    assert all(f.low <= f.debiased <= f.high for f in found)


def test_intervals_cover_a_slight_error_of_weighted_rare_events():
    """The observed curve is mostly noise: a high end from its direction alone missed in one of seven."""
    p, _, true = draw(10**6, 300_000, 1.0, -5.0)
    value, hits = averaged_two_bin_error_of(1.3 * p.clip(max=0.7), true), []
    for seed in range(60):
        p, y, _ = draw(seed, 2000, 1.0, -5.0)
        weights = np.random.default_rng(seed).choice([0.2, 1.0, 3.0], 2000)
        found = averaged_two_bin_error_interval_of(1.3 * p.clip(max=0.7), y, design=Design(weights))
        hits.append(found.low <= value <= found.high)
    assert np.mean(hits) >= 0.92


def test_intervals_cover_over_groups_where_plain_ones_do_not():
    hits = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        groups, p = np.repeat(np.arange(60), 20), np.full(1200, 0.2) + 0.2 * rng.random(1200)
        shift = np.repeat(rng.choice([-0.15, 0.15], 60), 20)
        y = (rng.random(1200) < p + shift).astype(float)
        designs = Design(groups=groups), Design()
        hits.append([averaged_two_bin_error_interval_of(p, y, design=design).low == 0 for design in designs])
    clustered, plain = np.mean(hits, 0)
    assert clustered >= 0.9
    assert plain < 0.8


def test_interval_options_and_extremes():
    p, y, _ = draw(0)
    labels, order = y.astype(int), np.random.default_rng(0).permutation(400)
    found, mixed = averaged_two_bin_error_interval(p, labels), averaged_two_bin_error_interval(p[order], labels[order])
    assert (mixed.low, mixed.high) == pytest.approx((found.low, found.high), rel=1e-6)
    assert found.estimate == averaged_two_bin_error(p, labels)
    wider = averaged_two_bin_error_interval(p, labels, level=0.999)
    assert wider.low <= found.low < found.high < wider.high
    weights = np.r_[np.ones(200), np.zeros(200)]
    half = averaged_two_bin_error_interval(p[:200], labels[:200])
    assert averaged_two_bin_error_interval(p, labels, weights=weights) == half
    few = averaged_two_bin_error_interval(p, labels, groups=np.arange(400) % 5)
    assert np.isnan([few.low, few.high]).all()
    sure = averaged_two_bin_error_interval(np.repeat([0.0, 1.0], 50), np.repeat([0, 1], 50))
    assert (sure.estimate, sure.low) == (0, 0)
    assert 0 < sure.high < 0.01
    with pytest.raises(ValueError, match="level must lie in"):
        averaged_two_bin_error_interval(p, labels, level=2.0)
