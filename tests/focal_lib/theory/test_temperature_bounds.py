"""Sharp temperature bounds: 40-digit references, the brute force, random distributions."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory import maps
from focal_lib.theory.confidence import sample_simplex
from focal_lib.theory.gain import elasticity_minimum
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.temperature_bounds import (
    beta,
    beta_at_zero,
    beta_minimum,
    beta_of_two_levels,
    largest_monotone_gamma,
    printed_temperature_bounds,
    temperature_bounds,
    temperature_bounds_by_search,
    top_temperature_bounds,
)


def beta_reference(s, gamma):
    """R(s)/s to 40 digits."""
    with mp.workdps(40):
        s, g = mp.mpf(s), mp.mpf(gamma)

        def u(v):
            return mp.exp(v) * mp.log1p(mp.exp(-v))

        return g + 1 - mp.log((1 + g * u(s)) / (1 + g * u(-s))) / s


def lowest_reference(gamma):
    """inf of beta by a scan and a 40-digit ternary search around its minimum."""
    with mp.workdps(40):
        grid = [mp.mpf(k) / 50 for k in range(1, 600)]
        values = [beta_reference(s, gamma) for s in grid]
        at = values.index(min(values))
        zero = gamma + 1 - gamma * (2 * mp.log(2) - 1) / (1 + gamma * mp.log(2))
        if at == 0:
            return min(zero, values[0])
        left, right = grid[at - 1], grid[at + 1]
        for _ in range(100):  # ternary search: no derivative to trust
            a, b = left + (right - left) / 3, right - (right - left) / 3
            left, right = (a, right) if beta_reference(a, gamma) > beta_reference(b, gamma) else (left, b)
        return min(zero, beta_reference(left, gamma))


@pytest.mark.parametrize("gamma", [0.001, 0.5, 1, 3, 5.6, 5.7, 6, 7, 10, 100, 1000])
def test_sharp_bounds_to_1e_10(gamma):
    low, high = temperature_bounds(gamma)
    assert low == pytest.approx(1 / (gamma + 1), abs=1e-15)
    assert high == pytest.approx(float(1 / lowest_reference(gamma)), abs=1e-10)


@given(st.floats(1e-3, 1000), st.floats(1e-3, 50))
def test_every_logit_is_between_its_bounds(gamma, s):
    low, high = temperature_bounds(gamma)
    mapped = maps.focal_logit(np.float64(s), gamma)
    assert s / high <= mapped * (1 + 1e-12)
    assert mapped <= s / low * (1 + 1e-12)


@given(st.floats(0.01, 100), st.floats(0.01, 40), st.floats(0, 1))
def test_radius_is_honoured(gamma, radius, share):
    low, high = temperature_bounds(gamma, radius)
    value = beta(share * radius, gamma)
    assert 1 / high - 1e-12 <= value <= 1 / low + 1e-12 * gamma


@given(st.floats(0.01, 300), st.floats(-300, 300).filter(lambda s: abs(s) > 1e-3))
def test_beta_is_the_map(gamma, s):
    assert beta(s, gamma) * s == pytest.approx(maps.focal_logit(np.float64(s), gamma), rel=1e-11)


@pytest.mark.parametrize("gamma", [0.5, 5.0, 100.0])
@pytest.mark.parametrize("s", [1.1e-5, 1e-4, 0.01, 0.99, 1.01, 5.0, 40.0])
def test_beta_cancels_nowhere(s, gamma):
    assert beta(s, gamma) == pytest.approx(float(beta_reference(s, gamma)), rel=2e-15)


def test_where_monotonicity_ends():
    g = largest_monotone_gamma()
    assert g == pytest.approx(5.63537995094647, abs=1e-12)
    with mp.workdps(40):  # an even function's quartic term is the sign of beta'' next to 0
        for gamma, sign in ((g - 1e-3, 1), (g + 1e-3, -1)):
            assert sign * (beta_reference(mp.mpf("0.01"), gamma) - beta_reference(mp.mpf("0.001"), gamma)) > 0


def search_reference(gamma, radius, logit_step, temperature_step):
    """KK24 section 3.2 point by point: temperatures up to 2, logits inside (-radius, radius) but 0."""
    steps = math.ceil(radius / logit_step) - 1
    logits = [k * logit_step for k in range(-steps, steps + 1) if k]
    mapped = [float(maps.focal_logit(np.float64(s), gamma)) for s in logits]
    lower, upper = 0.0, math.inf
    for k in range(1, round(2 / temperature_step) + 1):
        t = k * temperature_step
        sharper = [abs(s) / t - abs(m) for s, m in zip(logits, mapped, strict=True)]
        if min(sharper) >= -1e-12:
            lower = t
        if max(sharper) <= 1e-12:
            upper = min(upper, t)
    return lower, upper


@pytest.mark.parametrize("gamma", [0.0, 0.005, 1.0, 4.0])
@pytest.mark.parametrize(("radius", "logit_step"), [(0.005, 0.004), (1.0, 0.5), (1.5, 0.5), (6.0, 0.25)])
@pytest.mark.parametrize("temperature_step", [0.005, 0.2, 0.5])
def test_search_is_the_search_of_the_paper(gamma, radius, logit_step, temperature_step):
    steps = {"logit_step": logit_step, "temperature_step": temperature_step}
    expected = search_reference(gamma, radius, **steps)
    assert temperature_bounds_by_search(gamma, radius, **steps) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["radius", "logit_step", "temperature_step"])
@pytest.mark.parametrize("value", [0.0, -0.1])
def test_search_wants_positive_steps(name, value):
    with pytest.raises(ValueError, match="radius and steps must be > 0"):
        temperature_bounds_by_search(1.0, **{"radius": 1.0, "logit_step": 0.5, "temperature_step": 0.5, name: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0,), "gamma must be > -1"),
        ((math.nan,), "gamma must be a finite number"),
        ((1.0, 0.0), "radius must be > 0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        temperature_bounds(*arguments)


@pytest.mark.parametrize(("gamma", "n"), [(0.005, 3), (1.0, 3), (10.0, 3), (1.5, 4), (3.1, 5)])
def test_top_temperature_is_one_where_confidence_never_falls(gamma, n):
    assert top_temperature_bounds(gamma, n) == (1 / (gamma + 1), 1.0)
    assert beta_of_two_levels(1 / (n - 1), 1e-300, gamma) == pytest.approx(1, abs=2e-2)  # the limit is slow: 1 / log


@pytest.mark.parametrize(("gamma", "n"), [(0.25, 4), (1.0, 4), (1.0, 10), (2.0, 30), (5.0, 1000)])
def test_top_temperature_above_one_below_the_critical_gamma(gamma, n):
    low, high = top_temperature_bounds(gamma, n)
    assert low == 1 / (gamma + 1)
    assert 1 < high <= 1 / elasticity_minimum(gamma)[1] + 1e-9


def two_levels_reference(top, last, gamma):
    """1 + (log g(last) - log g(top)) / log(top / last), with g written out (M20 Prop. 1)."""
    log_g = [gamma * np.log1p(-q) + np.log1p(-gamma * q * np.log(q) / (1 - q)) for q in (last, top)]
    return 1 + (log_g[0] - log_g[1]) / np.log(top / last)


@pytest.mark.parametrize(
    ("gamma", "n", "room"),
    [
        *(
            (gamma, n, 1e-7)
            for gamma, n in ((0.25, 4), (0.9, 4), (0.02, 5), (1.0, 10), (0.05, 13), (2.0, 20), (4.0, 40))
        ),
        *((gamma, n, 5e-6) for gamma, n in ((0.05, 20), (0.3, 20), (0.94, 21), (2.0, 30), (4.0, 400), (0.5, 1000))),
    ],
)
def test_top_temperature_is_that_of_the_worst_tied_classes(gamma, n, room):
    """Any number of them with one below, or one above; up to 1/q_e classes sharply, of more just above it."""
    lowest = 1.0
    for k in range(3, n + 1):
        below = np.exp(-math.log(k) - np.geomspace(1e-3, 40, 4000))
        above = np.exp(-math.log(k) + np.linspace(1e-3, math.log(k) - 1e-3, 4000))
        for top, last in (((1 - below) / (k - 1), below), (above, (1 - above) / (k - 1))):
            lowest = min(lowest, two_levels_reference(top, last, gamma).min())
    assert -1e-9 < lowest - 1 / top_temperature_bounds(gamma, n)[1] < room


@pytest.mark.parametrize(("gamma", "n"), [(0.3, 4), (0.5, 6), (3.0, 9), (1.0, 13), (0.1, 13)])
def test_no_distribution_asks_for_more_than_tied_classes_and_one_below(gamma, n):
    """Random directions from near the tied ones: with a temperature a millionth smaller the tied ones fall below."""
    rng, temperature = np.random.default_rng(n), top_temperature_bounds(gamma, n)[1]
    last = np.geomspace(1e-12, 1 / n, 3000)[:-1]
    tied = np.column_stack([*[(1 - last) / (n - 1)] * (n - 1), last])
    points = np.concatenate([tied, rng.dirichlet(np.ones(n), 3000)])
    for scale in (1e-3, 0.03, 0.3):
        moved = tied * np.exp(scale * rng.normal(size=tied.shape))
        points = np.concatenate([points, moved / moved.sum(1, keepdims=True)])

    def room(temperature):
        scaled = points ** (1 / temperature)
        weights = points / ((1 - points) ** gamma * (1 - gamma * points * np.log(points) / (1 - points)))
        return ((weights / weights.sum(1, keepdims=True)).max(1) - (scaled / scaled.sum(1, keepdims=True)).max(1)).min()

    assert room(temperature) > -1e-14
    assert room(temperature * (1 - 1e-5)) < -1e-12


@pytest.mark.parametrize(
    ("gamma", "n", "top", "inverse"), [(0.94, 21, 0.049, 0.9566724349), (5.0, 49, 0.0206, 0.8838173515)]
)
def test_one_class_above_tied_ones_can_be_the_worst(gamma, n, top, inverse):
    """Of 40 digits; tied classes above one ask for .956675678 and .88381835 at most."""
    assert beta_of_two_levels(top, (1 - top) / (n - 1), gamma) == pytest.approx(inverse, abs=2e-10)
    assert inverse - 5e-6 < 1 / top_temperature_bounds(gamma, n)[1] <= inverse


@pytest.mark.parametrize("gamma", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("k", [3, 4, 20])
def test_inverse_temperature_between_tied_classes_is_the_maps(gamma, k):
    for last in (1e-12, 1e-3, 0.5 / k):
        probs = np.array([last, *[(1 - last) / (k - 1)] * (k - 1)])
        mapped = focal_log_probs(np.log(probs)[None], gamma)[0]
        expected = (mapped[1] - mapped[0]) / (np.log(probs[1]) - np.log(probs[0]))
        assert beta_of_two_levels(probs[1], last, gamma) == pytest.approx(expected, rel=1e-9)
    close = beta_of_two_levels(1 / k, 1 / k - 1e-5 / k, gamma)
    assert beta_of_two_levels(1 / k, 1 / k, gamma) == pytest.approx(close, abs=1e-4)


def test_no_dip_just_above_the_largest_monotone_gamma():
    """There the dip ends before the search for it begins, and is shallower than rounding."""
    gamma = largest_monotone_gamma() * (1 + 1e-9)
    assert beta_minimum(gamma) == (0.0, beta_at_zero(gamma))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 60), gamma=st.floats(0.05, 8))
def test_top_temperatures_bound_random_distributions(seed, n, gamma):
    points = sample_simplex(n, seed, count=100)
    top = focal_log_probs(np.log(points), gamma)[:, 0]
    for temperature, sign in zip(top_temperature_bounds(gamma, n), (1, -1), strict=True):
        scaled = np.log(points) / temperature
        assert (sign * (scaled[:, 0] - np.logaddexp.reduce(scaled, axis=1) - top)).min() > -1e-9


def test_top_temperature_of_two_classes_is_the_binary_bound():
    assert top_temperature_bounds(4.0, 2) == temperature_bounds(4.0)
    with pytest.raises(ValueError, match="n must be"):
        top_temperature_bounds(4.0, 1)


@pytest.mark.parametrize("gamma", [0.0, 0.005, 2.0, 50.0])
def test_bounds_as_the_paper_prints_them(gamma):
    """KK24 Prop. 3: 1/(gamma + 1) < T < 1/(gamma + 1 - log(gamma + 1)/2)."""
    expected = 1 / (gamma + 1), 1 / (gamma + 1 - math.log(gamma + 1) / 2)
    assert printed_temperature_bounds(gamma) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("gamma", [-0.7, -0.2])
@pytest.mark.parametrize("radius", [0.5, 3.0, 20.0])
def test_negative_gamma_turns_the_ends_round(gamma, radius):
    zero = gamma + 1 - gamma * (2 * math.log(2) - 1) / (1 + gamma * math.log(2))
    expected = 1 / zero, 1 / float(beta_reference(radius, gamma))
    assert temperature_bounds(gamma, radius) == pytest.approx(expected, rel=1e-12)
