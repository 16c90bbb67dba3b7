"""Intervals of binned errors cover, by simulation, and their estimates are the metrics."""

import inspect
import itertools
from functools import partial

import numpy as np
import pytest
from scipy import stats

from focal_lib.metrics.bins import adaptive_ece, adaptive_ece_of, classwise_ece, ece, ece_of, mce, sum_class_gaps
from focal_lib.metrics.design import Design
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval,
    adaptive_ece_interval_of,
    classwise_ece_interval,
    classwise_ece_interval_of,
    ece_interval,
    ece_interval_of,
    mce_interval,
    mce_interval_of,
    noise_draws,
)
from reproduction.studies.advice.coverage import cover_classwise, simulate_sample
from tests.quick import first_is_quick


@pytest.fixture
def fewer_draws(monkeypatch):
    """500 of the noise, several times faster; a share of 2.5 % of them is known to 0.7 %."""
    noise_draws.cache_clear()
    monkeypatch.setattr(inspect.getmodule(ece_interval), "_DRAWS", 500)
    monkeypatch.setattr(inspect.getmodule(ece_interval), "_BEYOND", 12)
    yield
    noise_draws.cache_clear()


def share_that_holds(interval, truth, runs=100):
    found = [interval(seed) for seed in range(runs)]
    return np.mean([f.low <= truth <= f.high for f in found])


@pytest.mark.parametrize(
    ("value", "interval"), [(ece_of, ece_interval_of), (adaptive_ece_of, adaptive_ece_interval_of)]
)
@pytest.mark.parametrize("gap", first_is_quick([0.0, 0.01, 0.1]))
@pytest.mark.usefixtures("fewer_draws")
def test_ece_intervals_cover(gap, value, interval):
    c, _, truth = simulate_sample(1_000_000, gap, 10**6)
    true_ece = value(c, truth)
    covered = share_that_holds(lambda seed: interval(*simulate_sample(2000, gap, seed)[:2]), true_ece)
    assert 0.9 <= covered <= 1


@pytest.mark.parametrize("gap", first_is_quick([0.0, 0.03, 0.1]))
@pytest.mark.usefixtures("fewer_draws")
def test_the_debiased_estimate_is_nearer_to_the_truth_and_in_the_interval(gap):
    c, _, truth = simulate_sample(1_000_000, gap, 10**6)
    true_ece = ece_of(c, truth)
    found = [ece_interval_of(*simulate_sample(1000, gap, seed)[:2]) for seed in range(200)]
    assert all(f.low <= f.debiased <= f.high for f in found)
    assert all(f.debiased <= f.estimate for f in found)
    plain, debiased = (np.array([getattr(f, name) for f in found]) for name in ("estimate", "debiased"))
    assert abs(debiased.mean() - true_ece) < abs(plain.mean() - true_ece)


@pytest.mark.parametrize(("low", "n"), [(0.95, 200), (0.98, 500), (0.999, 2000)])
@pytest.mark.usefixtures("fewer_draws")
def test_intervals_cover_where_errors_are_few(low, n):
    """A calibrated model so sure that most bins have no error: none is no proof of certainty."""

    def sample(seed):
        rng = np.random.default_rng(seed)
        confidence = rng.uniform(low, 1, n)
        return confidence, (rng.random(n) < confidence).astype(float)

    for interval in (adaptive_ece_interval_of, partial(mce_interval_of, binning="mass")):
        assert share_that_holds(lambda seed, f=interval: f(*sample(seed)), 0.0, 60) >= 0.9


@pytest.mark.slow
def test_mce_intervals_cover():
    c, _, truth = simulate_sample(1_000_000, 0.1, 10**6)
    used = c > 0.4  # bins below have few samples: their largest gap is no question of 2,000 samples
    confidence, expected = c[used], truth[used]
    index = np.ceil(confidence * 15).astype(int)
    true_mce = max(abs((confidence - expected)[index == b].mean()) for b in np.unique(index))

    def interval(seed):
        a, b, _ = simulate_sample(4000, 0.1, seed)
        return mce_interval_of(a[a > 0.4], b[a > 0.4])

    assert share_that_holds(interval, true_mce) >= 0.9


@pytest.mark.parametrize(
    ("classes", "temperature", "n"), [(2, 1.1, 1000), (10, 1.1, 5000), (10, 1 / 1.5, 500), (100, 1.5, 500)]
)
def test_classwise_intervals_cover(classes, temperature, n):
    """Few counts and many classes, where independent normal gaps covered in 0 to 85 of 100."""
    for row in cover_classwise(classes, temperature, n, 1000 // max(25, classes)):
        assert row["hits"] >= 0.9 * row["runs"]
        assert row["kind"] == ("inverted test" if classes == 2 else "bounds")
        assert row["low"] <= row["debiased"] <= row["high"]
        assert abs(row["debiased"] - row["true"]) < abs(row["estimate"] - row["true"])


def test_the_estimate_is_the_metric(probs_and_labels):
    p, y = probs_and_labels()
    for binning in ("width", "mass"):
        assert mce_interval(p, y, 10, binning=binning).estimate == pytest.approx(mce(p, y, 10, binning=binning))
    for interval, metric in (
        (ece_interval, ece),
        (adaptive_ece_interval, adaptive_ece),
        (classwise_ece_interval, classwise_ece),
    ):
        found = interval(p, y, 10, level=0.9)
        assert found.estimate == pytest.approx(metric(p, y, 10))
        assert found.low < found.high
        assert (found.kind, found.level) == ("bounds" if metric is classwise_ece else "inverted test", 0.9)


def test_of_confidences_it_is_the_same(probs_and_labels):
    p, y = probs_and_labels()
    top = p.max(-1), (p.argmax(-1) == y).astype(float)
    assert ece_interval_of(*top) == ece_interval(p, y)
    assert adaptive_ece_interval_of(*top) == adaptive_ece_interval(p, y)
    assert mce_interval_of(*top) == mce_interval(p, y)
    assert classwise_ece_interval_of(sum_class_gaps(p, y)) == classwise_ece_interval(p, y)


def test_one_sided_gaps_are_as_wide_as_the_normal_interval():
    """With one bin, far from 0, the ECE is a mean."""
    c, y, _ = simulate_sample(5000, 0.3, 0)
    found, half = ece_interval_of(c, y, 1), 1.96 * (c - y).std() / np.sqrt(5000)
    assert found.high - found.estimate == pytest.approx(half, rel=0.1)
    assert found.estimate - found.low == pytest.approx(half, rel=0.1)


def test_no_noise_and_bad_input():
    found = ece_interval_of(np.ones(10), np.ones(10))
    assert (found.estimate, found.low, found.kind) == (0, 0, "inverted test")
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 10))  # ten of ten right
    found = classwise_ece_interval(np.eye(3)[[0, 1, 2, 0]], np.array([0, 1, 2, 0]))
    assert (found.estimate, found.low) == (0, 0)
    assert found.high == pytest.approx(-2 * np.log(0.025) / 4 / 3)  # errors that 4 samples need not show, of 3 classes
    few = ece_interval_of(np.array([0.97, 0.6, 0.99]), np.zeros(3))
    assert 0 <= few.low <= few.high <= 1
    one = ece_interval_of(np.array([0.9]), np.array([1.0]))
    assert one.low == 0  # one sample, and right: nothing is known
    with pytest.raises(ValueError, match="at least one sample"):
        ece_interval_of(np.empty(0), np.empty(0))
    with pytest.raises(ValueError, match="level must lie in"):
        ece_interval_of(np.ones(3), np.ones(3), level=95)
    with pytest.raises(ValueError, match=r"probs must have shape \(n, K\), or \(n,\) for two classes. Got \(\)"):
        ece_interval(np.ones(()), np.ones(3, int))


@pytest.mark.usefixtures("fewer_draws")
def test_luck_shows_no_more_than_the_samples_can():
    """Of a calibrated model some samples have hardly any error: their interval is not 0 alone."""
    found = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        c = rng.uniform(0.6, 1, 400)
        found.append(ece_interval_of(c, (rng.random(400) < c).astype(float)))
    luckiest = min(found, key=lambda f: f.estimate)
    assert luckiest.low == 0 < luckiest.high
    assert min(f.high for f in found) > 0.2 * np.median([f.high for f in found])


def test_far_tails_are_read_from_more_draws():
    c, y, _ = simulate_sample(2000, 0.1, 0)
    wide = [ece_interval_of(c, y, level=level) for level in (0.95, 0.99, 0.999)]
    assert all(a.low > b.low and a.high < b.high for a, b in itertools.pairwise(wide))
    half = 3.29 * (c - y).std() / np.sqrt(2000)
    one_bin = ece_interval_of(c, y, 1, level=0.999)
    assert one_bin.high - one_bin.estimate == pytest.approx(half, rel=0.1)


@pytest.mark.parametrize(("n", "least"), [(1, 0.97), (20, 0.168), (300, 0.0122)])
def test_no_errors_are_no_proof_at_confidence_one(n, least):
    """Of n right answers of n an accuracy as low as Clopper and Pearson's end would do."""
    for interval in (ece_interval_of, adaptive_ece_interval_of, mce_interval_of):
        found = interval(np.ones(n), np.ones(n))
        assert found.low == 0
        assert found.high == pytest.approx(1 - stats.beta.ppf(0.025, n, 1), rel=1e-6)
        assert found.high > least
        if n > 1:
            again = interval(np.ones(n), np.ones(n), design=Design(groups=np.arange(n) // 2))
            assert not again.high < found.high


def test_a_sure_model_that_errs_seldom_is_covered():
    rng, truth, hits = np.random.default_rng(0), 0.0149, 0
    for _ in range(100):
        found = ece_interval_of(np.full(200, 0.9999), (rng.random(200) < 0.985).astype(float))
        hits += found.low <= truth <= found.high
    assert hits >= 92


@pytest.mark.parametrize("sure", [1.0, 1 - 1e-9])
@pytest.mark.parametrize("classes", [2, 3, 15])
def test_of_few_samples_that_are_certain_ends_are_in_order(classes, sure):
    rng = np.random.default_rng(0)
    for _ in range(30):
        y, top = rng.integers(0, classes, (2, 2))
        p = np.full((2, classes), (1 - sure) / (classes - 1))
        p[[0, 1], top] = sure
        for found in (classwise_ece_interval(p, y), ece_interval(p, y)):
            assert 0 <= found.low <= found.high <= 1
            assert found.low <= found.estimate + 1e-12


@pytest.mark.parametrize("gap", [0.0, 0.1])
@pytest.mark.parametrize("groups", [False, True])
def test_where_confidences_tie_bins_are_no_independent_numbers(gap, groups):
    """All bins of a constant classifier have one gap, so the interval is that of one bin, and covers as it does."""
    rng, held = np.random.default_rng(0), []
    confidence = np.full(600, 0.7)
    for _ in range(30):
        correct = (rng.random(600) < 0.7 - gap).astype(float)
        design = Design(groups=np.arange(600) // 3) if groups else Design()
        found = adaptive_ece_interval_of(confidence, correct, design=design)
        of_one = adaptive_ece_interval_of(confidence, correct, 1, design=design)
        assert found.estimate == pytest.approx(abs(0.7 - correct.mean()), abs=1e-12)
        ends = of_one.low, of_one.high
        assert (found.low, found.high) == pytest.approx(ends, abs=0.006)  # other draws
        held.append(found.low <= gap <= found.high)
    assert np.mean(held) >= 0.9


def test_samples_of_weight_zero_change_nothing():
    confidence, correct = np.r_[np.full(3, 0.3), np.full(100, 0.9)], np.r_[np.ones(3), np.arange(100) % 10 > 0]
    weighted = ece_interval_of(confidence, correct, design=Design(np.r_[np.zeros(3), np.ones(100)]))
    alone = ece_interval_of(confidence[3:], correct[3:], design=Design(np.ones(100)))
    assert (weighted.estimate, weighted.low, weighted.high) == pytest.approx((alone.estimate, alone.low, alone.high))
