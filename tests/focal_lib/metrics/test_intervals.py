"""Intervals of means and of paired differences: coverage by simulation, and what they are by hand."""

import numpy as np
import pytest
from scipy import stats

from focal_lib.metrics.intervals import (
    Interval,
    bootstrap,
    bootstrap_draws,
    clipped,
    correlation_interval,
    exact_binomial_ends,
    mean_and_range,
    paired_t_interval,
    t_interval,
    t_interval_if_any,
    welch_interval,
)
from focal_lib.metrics.significance import t_p_value


def test_bootstrap_draws_entries_together():
    x = np.random.default_rng(0).normal(size=50)
    found = bootstrap(lambda a, b: float((a - b).mean()), x, x - 1, resamples=50)
    assert (found.estimate, found.low, found.high) == pytest.approx((1, 1, 1))
    assert (found.kind, found.level) == ("percentile bootstrap", 0.95)


@pytest.mark.parametrize("n", [40, 70_000])  # many draws at once, and one after another
def test_many_draws_at_once_are_the_same_draws(n):
    x = np.random.default_rng(0).normal(size=n)
    at_once = bootstrap_draws(lambda draws: x[draws].mean(-1), n, resamples=20, seed=5)
    assert at_once == bootstrap(lambda v: float(v.mean()), x, resamples=20, seed=5)
    drawn = stats.bootstrap(
        (x,), np.mean, vectorized=False, n_resamples=20, batch=1, method="percentile", rng=np.random.default_rng(5)
    )
    assert (at_once.low, at_once.high) == pytest.approx(tuple(drawn.confidence_interval))


def test_whole_numbers_that_are_all_the_same_have_an_interval_of_some_width():
    """Simulated: differences of epochs, each rounded up, whose true difference hardly spreads."""
    found = t_interval([1.0] * 5, step=1.0)
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 4) / np.sqrt(6 * 5))
    assert found.at(0.99).high > found.high
    wide = [0.0, 3.0, 1.0, 7.0]
    assert t_interval(wide, step=1.0) == t_interval(wide)
    one, two = np.random.default_rng(0).uniform(0, 40, (2, 2000, 5))
    two = one + 0.7 + np.random.default_rng(1).normal(0, 0.1, one.shape)
    rounded = np.ceil(two) - np.ceil(one)
    with_step, without = ([t_interval(row, step=step) for row in rounded] for step in (1.0, 0.0))
    assert np.mean([i.low <= 0.7 <= i.high for i in with_step]) > 0.95
    assert np.mean([i.low <= 0.7 <= i.high for i in without]) < 0.9
    with pytest.raises(ValueError, match=r"step must be at least 0\. Got -1"):
        t_interval([1.0, 2.0], step=-1)


def test_t_interval_at_another_level():
    values = [2.0, 3.0, 7.0, 4.0]
    found = t_interval(values)
    assert found == paired_t_interval(values, np.zeros(4))
    assert found.degrees == 3
    assert found.standard_error == pytest.approx(stats.sem(values))
    wide = t_interval(values, level=0.99)
    assert (found.at(0.99).low, found.at(0.99).high) == pytest.approx((wide.low, wide.high))
    assert found.at(0.99).level == 0.99
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\). Got 1"):
        found.at(1.0)
    with pytest.raises(ValueError, match="must be a t interval with its degrees of freedom"):
        _ = mean_and_range(values).standard_error


def test_what_is_a_confidence_interval():
    assert t_interval([1.0, 2.0]).is_confidence
    assert not mean_and_range([1.0, 2.0]).is_confidence
    assert not Interval(1, np.nan, np.nan).is_confidence


def test_mean_and_range():
    found = mean_and_range([2.0, 1.0, 6.0])
    assert (found.estimate, found.low, found.high, found.kind) == (3, 1, 6, "min to max")


def test_scaled_keeps_its_kind_and_level():
    assert Interval(0.1, -0.1, 0.2, "t", 0.9).scaled(100) == Interval(10, -10, 20, "t", 0.9)
    assert Interval(0.1, -0.1, 0.2).scaled(-10) == Interval(-1, -2, 1)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (bootstrap, (np.mean, np.ones(3), np.ones(2)), r"one common length of at least 2. Got \[2, 3\]"),
        (bootstrap, (np.mean, np.ones(1)), r"one common length of at least 2. Got \[1\]"),
        (bootstrap_draws, (np.mean, 1), "samples must be at least 2. Got 1"),
        (paired_t_interval, ([1.0], [2.0]), "pairs must be at least two"),
        (t_interval, ([1.0],), r"values must be at least two. Got shape \(1,\)"),
        (paired_t_interval, ([1.0, 2.0], [2.0]), r"Got shapes \(2,\) and \(1,\)"),
        (mean_and_range, ([],), "values must not be empty"),
    ],
)
def test_bad_input(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_one_value_has_no_interval():
    found = t_interval_if_any([3.0])
    assert (found.estimate, found.kind) == (3.0, "")
    assert np.isnan([found.low, found.high]).all()
    assert t_interval_if_any([1.0, 2.0, 4.0], level=0.9) == t_interval([1.0, 2.0, 4.0], level=0.9)
    with pytest.raises(ValueError, match="at least two"):
        t_interval_if_any([])


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (3, 10), (1, 1000), (999, 1000), (0, 1)])
@pytest.mark.parametrize("tail", [0.025, 0.2])
def test_exact_ends_are_scipys_for_whole_counts(count, n, tail):
    found = stats.binomtest(count, n).proportion_ci(1 - 2 * tail, "exact")
    np.testing.assert_allclose(exact_binomial_ends(count, n, tail), found, rtol=1e-9, atol=1e-12)


def test_exact_ends_are_where_the_tails_are_of_that_size():
    low, high = exact_binomial_ends(np.arange(1, 6), 6.0, 0.1)
    np.testing.assert_allclose(stats.binom.sf(np.arange(1, 6) - 1, 6, low), 0.1)
    np.testing.assert_allclose(stats.binom.cdf(np.arange(1, 6), 6, high), [0.1] * 5)
    np.testing.assert_array_equal(exact_binomial_ends(0, 0, 0.025), (0, 1))  # nothing was seen


def test_exact_ends_of_weighted_counts_lie_between_those_of_whole_ones():
    few, between, more = (np.array(exact_binomial_ends(count, 10, 0.025)) for count in (3, 3.5, 4))
    assert ((few < between) & (between < more)).all()


def test_a_cut_interval_keeps_its_error():
    whole, cut = t_interval([0.8, 1.0, 0.6]), correlation_interval([0.8, 1.0, 0.6])
    assert (cut.low, cut.high) == (whole.low, 1.0)
    assert whole.high > 1
    assert cut.standard_error == pytest.approx(whole.standard_error)
    wider, narrower = cut.at(0.99), cut.at(0.5)
    assert (wider.low, wider.high) == (pytest.approx(whole.at(0.99).low), 1.0)
    assert (narrower.low, narrower.high) == pytest.approx((whole.at(0.5).low, whole.at(0.5).high))
    scaled = cut.scaled(-100)
    assert (scaled.low, scaled.high) == (-100, pytest.approx(-100 * whole.low))
    assert scaled.at(0.99).low == -100
    assert scaled.standard_error == pytest.approx(100 * whole.standard_error)


def test_a_weighted_sum_of_means_by_welch():
    """Of two, the interval of scipy's test; of four, its degrees of freedom by Satterthwaite's formula."""
    for level in (0.95, 0.8):
        found = welch_interval((1, -1), (0.71, 1.03), (0.16, 0.34), 5, level=level)
        test = stats.ttest_ind_from_stats(0.71, 0.16, 5, 1.03, 0.34, 5, equal_var=False)
        assert t_p_value(found) == pytest.approx(test.pvalue)
        error = np.sqrt((0.16**2 + 0.34**2) / 5)
        assert found.high - found.estimate == pytest.approx(error * stats.t.ppf((1 + level) / 2, found.degrees))
    test = stats.ttest_ind_from_stats(0.71, 0.16, 3, 1.03, 0.34, 6, equal_var=False)
    assert t_p_value(welch_interval((1, -1), (0.71, 1.03), (0.16, 0.34), (3, 6))) == pytest.approx(test.pvalue)
    four = welch_interval([0.5, -0.5, 0.5, -0.5], [1.0, 2.0, 3.0, 5.0], [0.1, 0.2, 0.3, 0.4], 4)
    variances = 0.25 * np.array([0.01, 0.04, 0.09, 0.16]) / 4
    assert four.estimate == -1.5
    assert four.standard_error == pytest.approx(np.sqrt(variances.sum()))
    assert four.degrees == pytest.approx(3 * variances.sum() ** 2 / (variances**2).sum())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, -1], [1.0], [0.1, 0.1], 5), "must be as many"),
        (([1, -1], [1.0, 2.0], [0.1, 0.1], 1), "of two values or more"),
        (([1, -1], [1.0, 2.0], [0.1, 0.1], [3, 1]), "of two values or more"),
        (([1, -1], [1.0, 2.0], [0.1, -0.1], 5), "at least 0"),
        (([1, -1], [1.0, 2.0], [0.0, 0.0], 5), "one above it"),
    ],
)
def test_welch_needs_means_with_a_spread(given, message):
    with pytest.raises(ValueError, match=message):
        welch_interval(*given)


def test_what_has_no_interval_is_not_cut():
    found = correlation_interval([0.5])
    assert (found.estimate, found.kind) == (0.5, "")
    assert np.isnan(found.low)
    assert clipped(mean_and_range([-2.0, 0.0]), -1, 1).low == -1


def test_equal_correlations_say_no_more_than_their_steps():
    found = correlation_interval([1.0, 1.0, 1.0, 1.0], 0.2)
    assert found.low == pytest.approx(1 - 0.2 / np.sqrt(6) / 2 * stats.t.ppf(0.975, 3))
    assert found.high == 1
