"""Intervals over seeds and test images: variances by hand, coverage where the truth is known."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from focal_lib.metrics.intervals import t_interval
from focal_lib.metrics.significance import t_p_value
from reproduction.studies.shared.over_seeds import say_over
from reproduction.studies.shared.two_way import (
    GROUPS,
    IMAGES,
    LEFT_OUT,
    BySeed,
    changes_in,
    interval_over,
    kept_images,
    mean_of,
    unpaired_interval,
)


def on_parts(each):
    """Means over images (S, n), as `interval_over` takes them."""
    return np.stack([each[:, kept].mean(axis=1) for kept in kept_images(each.shape[1])], axis=1)


def test_half_width_by_hand():
    """Of means over images C is the covariance of two seeds over groups, and each variance has its own quantile."""
    rng = np.random.default_rng(0)
    each = rng.normal(size=(3, 400)) + rng.normal(size=400) + np.array([[0.1], [-0.1], [0.2]])
    found = interval_over(on_parts(each))
    groups = np.stack([each[:, k::GROUPS].mean(axis=1) for k in range(GROUPS)], axis=1)
    pairs = [np.cov(groups[s], groups[t])[0, 1] / GROUPS for s, t in itertools.combinations(range(3), 2)]
    of_seeds = each.mean(axis=1).var(ddof=1) / 3
    quantiles = stats.t.ppf(0.975, [2, GROUPS - 1])
    half = np.sqrt(quantiles[0] ** 2 * of_seeds + quantiles[1] ** 2 * np.mean(pairs))
    assert found.estimate == pytest.approx(each.mean())
    assert found.high - found.estimate == pytest.approx(half)
    assert found.standard_error == pytest.approx(np.sqrt(of_seeds + np.mean(pairs)))
    assert 2 < found.degrees < GROUPS - 1
    assert found.at(0.95).low == pytest.approx(found.low)


def test_what_images_give_alone_and_seeds_alone():
    """Equal seeds leave the interval over images; images that every seed takes in its own way that over seeds."""
    each = np.random.default_rng(1).normal(size=400)
    alike = interval_over(on_parts(np.stack([each] * 4)))
    groups = each.reshape(-1, GROUPS).mean(axis=0)
    assert alike.low == pytest.approx(t_interval(groups).low)
    assert alike.degrees == pytest.approx(GROUPS - 1)
    apart = np.stack([each, -each])  # no image moves the mean
    found, alone = interval_over(on_parts(apart + 1)), t_interval(apart.mean(axis=1) + 1)
    assert (found.low, found.degrees) == (pytest.approx(alone.low), 1)
    assert np.isnan(interval_over(on_parts(each[None])).low)


@pytest.mark.parametrize("seeds", [2, 3, 4, 30])
def test_never_narrower_than_over_seeds_alone(seeds):
    rng = np.random.default_rng(seeds)
    for _ in range(20):
        values = on_parts(rng.normal(size=(seeds, 60)) + rng.normal(size=60))
        found, alone = interval_over(values), t_interval(values[:, 0])
        assert found.high - found.low >= (alone.high - alone.low) * (1 - 1e-12)
        assert (t_p_value(found) < 0.05) == (found.low > 0 or found.high < 0)


def test_resolution_counts_among_the_seeds():
    values = np.zeros((2, 1 + GROUPS))
    assert interval_over(values, step=0.01) == t_interval([0, 0], step=0.01)


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"values must be \(seeds, 21\)\. Got shape \(3, 20\)"):
        interval_over(np.zeros((3, 20)))


def test_groups_take_every_image_once():
    whole, *others = kept_images(97)
    assert whole.all()
    assert (sum(~kept for kept in others) == 1).all()
    assert {int((~kept).sum()) for kept in others} == {4, 5}


def rows(seeds, apart=0.0, images=1000):
    """Of a table of runs: values 10 + seed, changes of a hundredth of the group's number."""
    values = [[10 + seed + 0.01 * k + apart for k in (0, *range(GROUPS))] for seed in seeds]
    frame = pd.DataFrame([{"value": v[0], IMAGES: images} | changes_in(v) for v in values])
    return frame.assign(seed=list(seeds))


def test_numbers_of_a_table_are_paired_by_seed_and_group():
    one, two = BySeed.of_rows(rows([2, 0, 1], apart=1.5)), BySeed.of_rows(rows([1, 2, 3]))
    found = one - two
    assert (one.seeds, found.seeds, found.images) == ((0, 1, 2), (1, 2), 1000)
    np.testing.assert_allclose(found.values, 1.5, atol=1e-3)
    np.testing.assert_allclose(one.of_all, [11.5, 12.5, 13.5])
    np.testing.assert_allclose((one / one).values, 1)
    np.testing.assert_allclose(mean_of([one, one.map(lambda v: v + 2)]).values, one.values + 1)
    assert say_over(found) == say_over(found, "ece") == "2 seeds and 1,000 test images"


def test_without_groups_on_record_it_is_over_seeds_alone():
    known, other = BySeed.of_rows(rows([0, 1])), BySeed.of_rows(rows([0, 1], images=500))
    lacking = BySeed.of_rows(rows([0, 1])[["seed", "value"]])
    part = rows([0, 1]).assign(**dict.fromkeys(LEFT_OUT, np.nan))
    for found in (known - lacking, lacking - known, known - other, BySeed.of_rows(part)):
        assert (found.values.shape, found.images) == ((2,), 0)
        assert found.interval() == t_interval(found.values)
    assert say_over(lacking, "nll") == say_over(lacking) == "2 seeds alone, one test set"
    assert say_over(lacking, "trace own train") == "2 seeds"
    assert say_over(known, "ece", 4) == "2 of 4 planned seeds"


def differences(rng, n, seeds, of_seeds):
    """ECE and error of one made-up network minus another's, of each seed, without each group: (2, seeds, 1 + GROUPS).

    Logits of ten classes are common to all networks but for noise and how far the true one stands out; a network's
    sharpness is random by seed.
    """
    common, labels, easy = rng.normal(size=(n, 10)), rng.integers(0, 10, n), rng.normal(size=n)
    group, size = np.arange(n) % GROUPS, n // GROUPS

    def network(sharpness, signal):
        z = common + 0.1 * rng.normal(size=(n, 10))
        z[np.arange(n), labels] += np.maximum(signal + 0.8 * easy, 0)
        z *= sharpness * np.exp(of_seeds * rng.normal())
        top, right = 1 / np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1), z.argmax(axis=1) == labels
        where = group * 15 + np.minimum((15 * top).astype(int), 14)
        gap = np.bincount(where, right - top, GROUPS * 15).reshape(GROUPS, 15)
        wrong = np.bincount(group, ~right, GROUPS)
        eces = [np.abs(gap.sum(axis=0)).sum() / n, *np.abs(gap.sum(axis=0) - gap).sum(axis=1) / (n - size)]
        return np.array([eces, [wrong.sum() / n, *(wrong.sum() - wrong) / (n - size)]])

    return np.stack([network(2.2, 3.0) - network(1.6, 2.6) for _ in range(seeds)], axis=1)


@pytest.mark.parametrize("of_seeds", [0.0, 0.05])
def test_coverage_where_the_truth_is_known(of_seeds):
    """With four seeds, 2,000 images, about 95 % of intervals hold the mean difference, of ECE and of error.

    Of 80 draws; over seeds alone it is far fewer for the ECE where most of the variance is of the images.
    """
    rng = np.random.default_rng(3)
    draws = np.array([differences(rng, 2000, 4, of_seeds) for _ in range(80)])
    for k in range(2):
        truth = draws[:, k, :, 0].mean()
        found = [interval_over(values) for values in draws[:, k]]
        alone = [t_interval(values[:, 0]) for values in draws[:, k]]
        held, held_alone = (np.mean([i.low <= truth <= i.high for i in every]) for every in (found, alone))
        assert 0.90 <= held <= 1
        if k == 0 and of_seeds == 0:
            assert held_alone < held - 0.05
        ideal = 2 * stats.t.ppf(0.975, 3) * draws[:, k, :, 0].mean(axis=1).std()
        assert (
            np.mean([i.high - i.low for i in found]) < 1.2 * ideal
        )  # against the interval of the true variance with three degrees of freedom


def test_seeds_that_are_no_pairs_have_welchs_interval():
    rng = np.random.default_rng(0)
    one, two = BySeed((0, 1, 2), rng.normal(size=3)), BySeed((5, 6, 7, 8), 3 * rng.normal(size=4))
    found = unpaired_interval(one, two)
    test = stats.ttest_ind(one.values, two.values, equal_var=False)
    assert (found.low, found.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert t_p_value(found) == pytest.approx(test.pvalue)
    assert unpaired_interval(one, BySeed((5, 6), np.full(2, 0.5))).low < found.estimate
    with pytest.raises(ValueError, match="values must be at least two"):
        unpaired_interval(one, BySeed((5,), np.zeros(1)))


def test_images_of_seeds_that_are_no_pairs_by_hand():
    """What every seed of both sides has of an image drops out; what one side alone has of it stays."""
    rng = np.random.default_rng(1)
    common, of_one = 10 * rng.normal(size=400), rng.normal(size=400)
    sides = [
        BySeed(tuple(range(seeds)), on_parts(common + own + 0.3 * np.arange(seeds)[:, None]), 400)
        for own, seeds in ((of_one, 3), (0.0, 4))
    ]
    found, alone = unpaired_interval(*sides), unpaired_interval(*(BySeed(s.seeds, s.of_all.to_numpy()) for s in sides))
    groups = np.stack([of_one[k::GROUPS].mean() for k in range(GROUPS)])
    assert found.standard_error**2 - alone.standard_error**2 == pytest.approx(groups.var(ddof=1) / GROUPS)
    other = BySeed(sides[1].seeds, sides[1].values, 200)
    assert unpaired_interval(sides[0], other) == alone


def test_its_interval_holds_the_difference_19_times_in_20():
    """Of two sides that take images, seeds and both in their own ways."""
    rng, inside = np.random.default_rng(2), 0
    for _ in range(400):
        images = rng.normal(size=200)
        each = [
            0.5 * images + rng.normal(size=200) + 0.05 * rng.normal(size=(n, 1)) + rng.normal(size=(n, 200))
            for n in (3, 4)
        ]
        one, two = (BySeed(tuple(range(len(own))), on_parts(own), 200) for own in each)
        found = unpaired_interval(one, two)
        inside += found.low <= 0 <= found.high
    assert 0.93 <= inside / 400 <= 0.995
