"""Means, shares and ECEs of samples with weights or in groups: by their definitions, and their intervals cover."""

import numpy as np
import pytest
from scipy import stats

from focal_lib.metrics.bins import adaptive_ece_of, ece_of, sum_class_gaps
from focal_lib.metrics.calibration_test import p_value_over_groups
from focal_lib.metrics.design import PLAIN, Design
from focal_lib.metrics.ece_interval import adaptive_ece_interval_of, ece_interval_of, mce_interval_of
from focal_lib.metrics.intervals import t_interval
from reproduction.studies.advice.coverage import simulate_sample


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_of_plain_samples_it_is_the_t_interval(rng):
    x = rng.normal(size=50)
    ones = {"none": PLAIN, "equal": Design(np.full(50, 3.0)), "alone": Design(groups=np.arange(50)[::-1])}
    for design in ones.values():
        assert design.is_plain
        found, expected = design.mean_interval(x), t_interval(x)
        assert (found.low, found.high, found.degrees) == pytest.approx((expected.low, expected.high, 49))
    groups = np.repeat(np.arange(25), 2)
    found, expected = Design(groups=groups).mean_interval(x), t_interval(x.reshape(25, 2).mean(1))
    assert (found.low, found.high, found.degrees) == pytest.approx((expected.low, expected.high, 24))


def test_by_leaving_out_one_group_at_a_time(rng):
    x, weights, groups = rng.normal(size=60), rng.uniform(1, 3, 60), rng.integers(0, 7, 60)
    found = Design(weights, groups).mean_interval(x, level=0.9)
    left = [np.average(x[groups != g], weights=weights[groups != g]) for g in range(7)]
    error = np.sqrt(6 / 7 * ((np.array(left) - np.average(x, weights=weights)) ** 2).sum())
    assert found.estimate == pytest.approx(np.average(x, weights=weights))
    assert (found.high - found.estimate) / stats.t.ppf(0.95, found.degrees) == pytest.approx(error)
    assert 1 <= found.degrees < 6


def test_a_sample_of_weight_0_does_not_count(rng):
    x, weights = np.r_[rng.normal(size=20), np.inf], np.r_[rng.uniform(1, 2, 20), 0]
    found, without = Design(weights).mean_interval(x), Design(weights[:20]).mean_interval(x[:20])
    assert (found.low, found.high) == pytest.approx((without.low, without.high))
    assert Design(weights).independent(21) == 20
    assert np.isnan(Design(np.r_[1, np.ones(20) / 2]).mean_interval(np.r_[np.inf, x[:20]]).low)
    assert np.isnan(Design(groups=np.zeros(21)).mean_interval(np.arange(21.0)).low)


def test_repeating_a_sample_or_weighing_it(rng):
    c, y, _ = simulate_sample(300, 0.1, 0)
    times = rng.integers(1, 4, 300)
    design, again = Design(times), np.repeat(np.arange(300), times)
    assert ece_interval_of(c, y, design=design).estimate == pytest.approx(ece_of(c[again], y[again]))
    assert ece_of(c, design.weighted_correct(c, y)) == pytest.approx(ece_of(c[again], y[again]))
    c, y = c[: 300 - 300 % 15], y[: 300 - 300 % 15]
    twice = Design(np.where(np.arange(300) < 150, 2, 1))
    both = np.r_[np.arange(150), np.arange(300)]
    both = both[np.argsort(c[both], kind="stable")]
    assert adaptive_ece_interval_of(c, y, design=twice).estimate == pytest.approx(adaptive_ece_of(c[both], y[both]))


def test_class_gaps_of_equal_weights_are_the_plain_ones(rng):
    p, y = rng.dirichlet(np.ones(4), 200), rng.integers(0, 4, 200)
    found = sum_class_gaps(p, y, weights=np.ones(200))
    for one, other in zip(found, sum_class_gaps(p, y), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": np.array([1.0, -1])}, "none below 0"),
        ({"weights": np.array([1.0, np.nan])}, "weights must be finite"),
        ({"weights": np.zeros(3)}, "not all 0"),
        ({"weights": np.ones(3), "groups": np.arange(4)}, "one shape"),
        ({"groups": np.zeros((3, 1))}, "one shape"),
    ],
)
def test_bad_designs(given, message):
    with pytest.raises(ValueError, match=message):
        Design(**given)


# --- intervals cover, by simulation -----------------------------------------------------------


def clustered(groups, size, common, gap, seed):
    """Confidences, correctness and groups: luck with that share in common, the same truth for every confidence."""
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(groups), rng.geometric(1 / size, groups))
    own, shared = rng.normal(size=(2, len(which))), rng.normal(size=(2, groups))[:, which]
    confidence = np.maximum(stats.beta(5, 1.2).ppf(stats.norm.cdf(0.5 * shared[0] + np.sqrt(0.75) * own[0])), 0.1)
    truth = np.clip(confidence - gap * np.sin(np.pi * confidence), 0, 1)
    luck = stats.norm.cdf(np.sqrt(common) * shared[1] + np.sqrt(1 - common) * own[1])
    return confidence, (luck < truth).astype(float), which


def covered(interval, truth, runs):
    found = [interval(seed) for seed in range(runs)]
    return np.mean([f.low <= truth <= f.high for f in found])


def test_intervals_of_means_and_shares_over_groups_cover():
    def gap(seed, plain=False):
        c, y, g = clustered(40, 10, 0.3, 0.0, seed)
        return (PLAIN if plain else Design(groups=g)).mean_interval(c - y)

    assert covered(gap, 0, 200) >= 0.9
    assert covered(lambda seed: gap(seed, plain=True), 0, 200) < 0.85  # taken as independent they do not

    def error(seed):
        rng = np.random.default_rng(seed)
        return Design(rng.lognormal(0, 1, 200)).share_interval((rng.random(200) < 0.1).astype(float))

    assert 0.9 <= covered(error, 0.1, 200) <= 0.99
    none = Design(np.arange(1.0, 41)).share_interval(np.zeros(40))
    assert none.low == 0
    assert 0.05 < none.high < 0.2


@pytest.mark.parametrize("common", [0.0, 0.3])
@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_ece_intervals_over_groups_cover(gap, common):
    c, _, truth = simulate_sample(1_000_000, gap, 10**6)
    true_ece = ece_of(c, truth)

    def interval(seed):
        c, y, g = clustered(30, 15, common, gap, seed)
        return ece_interval_of(c, y, design=Design(groups=g))

    assert covered(interval, true_ece, 60) >= 0.88


def test_of_groups_that_are_worth_few_an_ece_has_no_interval():
    """Nine small groups and one with nearly all samples."""
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 2000)
    correct = (rng.random(2000) < confidence).astype(float)
    unequal, equal = (
        Design(groups=np.digitize(np.arange(2000), ends)) for ends in (np.arange(1, 10), np.arange(200, 2000, 200))
    )
    assert (unequal.independent(2000), equal.independent(2000)) == (10, 10)
    assert unequal.effective(2000) == pytest.approx(1, abs=0.02)
    assert equal.effective(2000) == pytest.approx(10)
    found = ece_interval_of(confidence, correct, design=unequal)
    assert np.isnan([found.low, found.high, mce_interval_of(confidence, correct, design=unequal).low]).all()
    assert found.estimate == pytest.approx(ece_of(confidence, correct))
    assert np.isnan(p_value_over_groups(confidence, correct, unequal))
    assert np.isfinite(ece_interval_of(confidence, correct, design=equal).high)
    assert np.isfinite(p_value_over_groups(confidence, correct, equal))


def test_what_shows_an_ece_shows_an_mce():
    for seed in range(20):
        c, y, _ = simulate_sample(400, (0.0, 0.02, 0.1)[seed % 3], seed)
        ece, mce = ece_interval_of(c, y), mce_interval_of(c, y)
        assert (mce.low >= ece.low, mce.debiased >= ece.debiased, mce.high >= ece.high) == (True, True, True)


# --- how far samples of a group move together -----------------------------------------------


def written_out(x, groups, level, w):
    """The bound, pair by pair; group by group left out."""
    pairs, most = [], []
    for name in np.unique(groups):
        own = [(i, j) for i in range(len(x)) for j in range(len(x)) if i != j and groups[i] == groups[j] == name]
        pairs.append(sum(w[i] * w[j] * x[i] * x[j] for i, j in own))
        most.append(sum(w[i] * w[j] * (x[i] ** 2 + x[j] ** 2) / 2 for i, j in own))
    pairs, most = np.array(pairs), np.array(most)
    pairs, most = pairs[most > 0], most[most > 0]
    rho = pairs.sum() / most.sum()
    left = [np.delete(pairs, g).sum() / np.delete(most, g).sum() for g in range(len(most))]
    error = np.sqrt((len(most) - 1) / len(most) * ((np.array(left) - rho) ** 2).sum())
    degrees = max(1.0, (most**2).sum() ** 2 / (most**4).sum() - 1)
    high = np.clip(rho + error * stats.t.ppf(level, degrees), 0, 1)
    square = (w * x)[np.array([np.count_nonzero(groups == g) > 1 for g in groups])] ** 2
    return high + (1 - high) * (1 - (1 - level) ** ((square**2).sum() / square.sum() ** 2))


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_largest_correlation_in_groups_pair_by_pair(rng, level):
    groups = np.r_[rng.integers(0, 12, 70), 20, 21]  # two are alone
    x = rng.normal(size=72) + 0.7 * rng.normal(size=22)[groups]
    found = Design(groups=groups).correlation_at_most(x, level=level)
    assert found == pytest.approx(written_out(x, groups, level, np.ones(72)))
    assert 0.1 < found < 1
    weights = rng.uniform(0.5, 2, 72)
    weights /= weights.mean()
    weighted = Design(weights, groups).correlation_at_most(x, level=level)
    assert weighted == pytest.approx(written_out(x, groups, level, weights))
    nothing = Design(np.r_[weights, 0, 0], np.r_[groups, groups[0], 20]).correlation_at_most(
        np.r_[x, 5, 5], level=level
    )
    assert nothing == pytest.approx(weighted)


def test_correlations_that_are_open():
    """Without an error, with all in one group, and of five in groups of their own: by the rule of three."""
    groups = np.repeat(np.arange(40), 10)
    x = np.zeros(400)
    assert Design(groups=groups).correlation_at_most(x) == 1
    x[3] = 1
    assert Design(groups=groups).correlation_at_most(x) == 1
    x[[14, 27, 38, 49]] = 1
    assert Design(groups=groups).correlation_at_most(x) == pytest.approx(1 - 0.05 ** (1 / 5))
    x[15:20] = 1
    assert Design(groups=groups).correlation_at_most(x) > 0.8


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("share", [0.02, 0.2])
def test_the_largest_correlation_covers(rho, share):
    """Errors of which two in a group come from one draw with probability rho: below it 1 time of 20 at most."""
    rng, groups, found = np.random.default_rng(5), np.repeat(np.arange(150), 10), []
    for _ in range(200):
        u = np.where(rng.random(1500) < np.sqrt(rho), rng.random(150)[groups], rng.random(1500))
        x = (u < share).astype(float)
        found.append(Design(groups=groups).correlation_at_most(x - x.mean()))
    assert np.mean(np.array(found) < rho) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
    if share == 0.2:
        assert np.median(found) < rho + 0.1
