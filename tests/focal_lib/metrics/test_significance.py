"""p values and detectable effects against their definitions, Holm against all orders and closed testing."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from focal_lib.metrics.intervals import Interval, mean_and_range, t_interval
from focal_lib.metrics.significance import holm, smallest_effect, t_p_value, values_needed

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def test_p_value_is_scipys():
    values = np.array([1.0, 2.5, 0.5, 3.0])
    assert t_p_value(t_interval(values)) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-12)
    assert t_p_value(t_interval(values, level=0.8)) == pytest.approx(t_p_value(t_interval(values)), rel=1e-12)
    assert t_p_value(t_interval([1.0, 1.0])) == 0
    assert t_p_value(t_interval([0.0, 0.0])) == 1
    assert t_p_value(t_interval([-1.0, 1.0])) == 1


def test_an_interval_ends_at_0_at_the_level_of_its_p_value():
    interval = t_interval([1.0, 2.5, 0.5, 3.0])
    assert interval.at(1 - t_p_value(interval)).low == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 20])
def test_smallest_effect_is_shown_with_that_probability(n, power):
    """P((Z + d) / (S / sqrt(f)) > t), Z normal, S chi with f = n - 1 degrees, by quadrature."""
    interval = t_interval(np.arange(n))
    error, f = np.std(np.arange(n), ddof=1) / np.sqrt(n), n - 1
    d, t = smallest_effect(interval, power) / error, stats.t.ppf(0.975, f)
    found, _ = integrate.quad(lambda s: stats.norm.sf(t * s / np.sqrt(f) - d) * stats.chi.pdf(s, f), 0, np.inf)
    assert found == pytest.approx(power, abs=1e-8)


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_so_many_values_are_needed_as_show_the_effect_and_one_fewer_does_not(n):
    interval = t_interval(np.arange(n))
    assert values_needed(interval, smallest_effect(interval)) == n
    scatter = np.std(np.arange(n), ddof=1)
    needed = values_needed(interval, -0.3 * scatter)  # of either sign
    for count, shows in ((needed, True), (needed - 1, False)):
        half = stats.t.ppf(0.975, count - 1) * scatter / np.sqrt(count)
        assert (smallest_effect(Interval(0, -half, half, "t", 0.95, count - 1)) <= 0.3 * scatter) == shows
    assert values_needed(interval, 0.0) is None
    assert values_needed(interval, 1e-3 * scatter, most=100) is None
    with pytest.raises(ValueError, match="must be a t interval"):
        values_needed(mean_and_range([1.0, 2.0]), 1.0)


def test_only_a_t_interval_has_these():
    for function in (t_p_value, smallest_effect):
        with pytest.raises(ValueError, match="must be a t interval with its degrees of freedom"):
            function(mean_and_range([1.0, 2.0]))
    for power in (0.02, 1.0):
        with pytest.raises(ValueError, match=r"power must be in \(0.025, 1\)"):
            smallest_effect(t_interval([1.0, 2.0]), power)


def test_holm_by_hand():
    """The example of Holm's paper in form: 4 p values, the smallest times 4, the next times 3, never falling."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02], rtol=1e-15)
    np.testing.assert_array_equal(holm([0.5, 0.5]), [1, 1])
    np.testing.assert_array_equal(holm([0.5]), [0.5])
    assert holm([]).size == 0


def closed_testing(p):
    """A hypothesis' adjusted p value is the largest Bonferroni p value of the sets that hold it."""
    sets = [s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    return [max(min(1, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))]


@given(PROBABILITIES)
def test_holm_is_the_closed_test_of_bonferroni(p):
    np.testing.assert_allclose(holm(p), closed_testing(p), rtol=1e-12)


@pytest.mark.parametrize("p", [[-0.1], [1.1], [float("nan")], [[0.1]], 0.1])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(ValueError, match=r"must be a list of numbers in \[0, 1\]"):
        holm(p)
