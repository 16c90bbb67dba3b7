"""Binned errors against slow definitions; torchmetrics and netcal as second opinions."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from torchmetrics.functional.classification import multiclass_calibration_error

from focal_lib.metrics.bins import (
    _width_index,
    adaptive_ece,
    adaptive_ece_of,
    assign_bins,
    binned,
    classwise_ece,
    ece,
    ece_of,
    mce,
    reliability_bins,
    reliability_bins_of,
    sum_class_gaps,
)
from focal_lib.metrics.ece_interval import ece_interval
from focal_lib.metrics.scores import top_label


def slow_ece(confidence, correct, n_bins):
    """Bins (lo, hi] of equal width, one sample at a time; 0 in the first."""
    total = 0.0
    for b in range(n_bins):
        lo, hi = b / n_bins, (b + 1) / n_bins
        inside = [i for i, c in enumerate(confidence) if lo < c <= hi or (b == 0 and c == 0)]
        total += abs(sum(confidence[i] - correct[i] for i in inside))
    return total / len(confidence)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(2, 60))
def test_ece_of_equal_width(seed, n_bins, n):
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
    assert ece_of(confidence, correct, n_bins) == pytest.approx(slow_ece(confidence, correct, n_bins))


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(2, 60))
def test_ece_of_equal_mass(seed, n_bins, n):
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
    order = np.argsort(confidence)
    parts = np.array_split((confidence - correct)[order], n_bins)  # an independent definition of the bins
    expected = sum(abs(part.sum()) for part in parts) / n
    assert adaptive_ece_of(confidence, correct, n_bins) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 49, 100, 1000, 12345, 300_007])
def test_next_to_an_edge_too_the_bin_is_that_of_a_search(n_bins, kind):
    """Every edge, the three numbers on either side, and numbers between; next to 0 and 1 as well."""
    found = [np.arange(n_bins + 1).astype(kind) / kind(n_bins)]
    for _ in range(3):
        found = [np.nextafter(found[0], kind(0)), *found, np.nextafter(found[-1], kind(2))]
    values = np.concatenate([*found, np.random.default_rng(0).random(1000).astype(kind)])
    edges = np.arange(1, n_bins) / n_bins
    np.testing.assert_array_equal(_width_index(values, edges), np.searchsorted(edges, values.astype(np.float64)))
    np.testing.assert_array_equal(assign_bins(values, n_bins), np.searchsorted(edges, values))


def slow_sums(confidence, values, n_bins):
    """Sums over runs of the sorted confidences of values that are means over the samples that tie."""
    tied = np.array([values[confidence == c].mean() for c in confidence])
    return [tied[part].sum() for part in np.array_split(np.argsort(confidence), n_bins)]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 12),
)
def test_tied_samples_are_averaged_over_their_orders(samples, n_bins):
    confidence, correct = np.array(samples).T
    bins = binned(confidence, n_bins, "mass")
    np.testing.assert_allclose(bins.total(correct), slow_sums(confidence, correct, n_bins), atol=1e-12)
    assert bins.total().tolist() == pytest.approx([len(p) for p in np.array_split(confidence, n_bins)])
    expected = np.abs(slow_sums(confidence, confidence - correct, n_bins)).sum() / len(confidence)
    assert adaptive_ece_of(confidence, correct, n_bins) == pytest.approx(expected, abs=1e-15)
    weighted = adaptive_ece_of(confidence, correct, n_bins, np.ones(len(confidence)))
    assert weighted == pytest.approx(expected, abs=1e-15)


def test_the_mean_over_all_orders_of_rows():
    """Sums of bins in which the tied fill in the order of the rows, averaged over the 720 orders of six rows."""
    confidence, correct = np.array([0.6, 0.9, 0.6, 0.6, 0.9, 0.7]), np.array([1.0, 0, 0, 1, 1, 0])
    orders = [list(order) for order in itertools.permutations(range(6))]
    each = [
        [correct[order][part].sum() for part in np.array_split(np.argsort(confidence[order], kind="stable"), 4)]
        for order in orders
    ]
    np.testing.assert_allclose(binned(confidence, 4, "mass").total(correct), np.mean(each, axis=0), rtol=1e-12)


def test_of_a_tree_of_three_leaves_the_order_of_rows_does_not_matter():
    """It is calibrated. Filled in order of the rows, sorted by label, the bins would have an error of 28 per cent."""
    rng = np.random.default_rng(0)
    p = np.array([0.1, 0.3, 0.8])[rng.integers(0, 3, 6000)]
    y = (rng.random(6000) < p).astype(int)
    orders = np.arange(6000), np.argsort(y, kind="stable"), np.argsort(-y, kind="stable"), rng.permutation(6000)
    found = [adaptive_ece(p[order], y[order]) for order in orders]
    assert found == pytest.approx([found[0]] * 4, rel=1e-12)
    assert found[0] < 0.015
    confidence = np.full(1000, 0.7)
    assert adaptive_ece_of(confidence, (np.arange(1000) < 700).astype(float)) == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([1, 2, 15]))
def test_whole_weights_are_repetitions(seed, n_bins, digits):
    """A weight of 0 leaves the sample out; ties among the confidences and not."""
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(40).round(digits), rng.integers(0, 2, 40).astype(float)
    weights = np.r_[rng.integers(0, 5, 39), 1]
    many = np.repeat(confidence, weights), np.repeat(correct, weights)
    for of in (ece_of, adaptive_ece_of):
        assert of(confidence, correct, n_bins, weights) == pytest.approx(of(*many, n_bins), abs=1e-14)
    for binning in ("width", "mass"):
        one = reliability_bins_of(confidence, correct, n_bins, binning=binning, weights=weights)
        other = reliability_bins_of(*many, n_bins, binning=binning)
        assert one.count.tolist() == other.count.tolist()
        for name in ("confidence", "accuracy"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


def test_the_band_of_weighted_bins_is_that_of_the_effective_number():
    weights = np.repeat([1.0, 3.0], 50)
    bins = reliability_bins_of(np.full(100, 0.8), np.ones(100), 1, weights=weights)
    assert bins.count.tolist() == [200]
    assert bins.effective.tolist() == [pytest.approx(200**2 / (50 + 450))]  # 80
    assert [end.tolist() for end in bins.consistency()] == [[binom.ppf(q, 80, 0.8) / 80] for q in (0.025, 0.975)]


@pytest.mark.parametrize("n", [1, 14, 15, 3000, 50_000])
def test_equal_mass_wherever_the_values_crowd(n):
    """Next to 0 or 1, at one value, in a narrow strip; above 1 by rounding, below every cell."""
    rng = np.random.default_rng(n)
    u = rng.random(n)
    half = n // 2
    for values in (
        u,
        1 - 1e-9 * u,
        1e-9 * u,
        1e-300 * u,
        0.5 + 1e-9 * u,
        np.full(n, 0.5),
        np.r_[u[:half], np.ones(n - half)],
        np.r_[np.zeros(n - half), u[:half]],
        np.r_[u[:half], 1 + 1e-6 * u[half:]],
        np.round(u, 2),
    ):
        for n_bins in (1, 15, 400):
            correct = rng.integers(0, 2, n).astype(float)
            bins, runs = binned(values, n_bins, "mass"), np.array_split(np.sort(values), n_bins)
            np.testing.assert_allclose(bins.total(values), [run.sum() for run in runs], rtol=1e-11)
            np.testing.assert_allclose(bins.total(), [len(run) for run in runs], rtol=1e-12)
            weighted = binned(values, n_bins, "mass", np.ones(n))
            np.testing.assert_allclose(bins.total(correct), weighted.total(correct), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_classes_and_bins_of_many_classes(kind):
    """More cells than the shortest whole numbers count, and values on edges among them."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(3000, 0.01), 50).astype(kind)
    p[0] = 0
    p[0, [3, 2900]] = 0.2, 0.8  # 3 / 15 and 12 / 15
    y = rng.integers(0, 3000, 50)
    by_class = [slow_ece(p[:, k].astype(float), (y == k).astype(float), 15) for k in range(3000)]
    assert classwise_ece(p, y) == pytest.approx(np.mean(by_class), rel=1e-11)


def test_ties_at_one():
    p = np.repeat([[1.0, 0.0]], 50, axis=0)
    y = np.r_[np.zeros(40, int), np.ones(10, int)]
    assert ece(p, y) == pytest.approx(0.2)
    assert adaptive_ece(p, y, 7) == pytest.approx(0.2)


def test_class_gaps_of_parts_add_up(probs_and_labels):
    p, y = probs_and_labels()
    cuts = np.split(np.arange(len(y)), [150, 157])  # few rows are summed otherwise
    whole, parts = sum_class_gaps(p, y), [sum_class_gaps(p[some], y[some]) for some in cuts]
    assert whole.n == sum(part.n for part in parts) == len(y)
    for name in ("gap", "square", "variance"):
        np.testing.assert_allclose(getattr(whole, name), sum(getattr(part, name) for part in parts), atol=1e-12)
        assert getattr(whole, name).shape == (5, 15)


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_reliability_bins_make_the_errors(probs_and_labels, binning):
    p, y = probs_and_labels()
    bins = reliability_bins(p, y, 10, binning=binning)
    error = ece(p, y, 10) if binning == "width" else adaptive_ece(p, y, 10)
    assert (bins.count * np.abs(bins.gap)).sum() / len(y) == pytest.approx(error)
    assert np.abs(bins.gap).max() == pytest.approx(mce(p, y, 10, binning=binning))
    same = reliability_bins_of(p.max(1), (p.argmax(1) == y).astype(float), 10, binning=binning)
    np.testing.assert_array_equal(same.count, bins.count)
    np.testing.assert_allclose(same.accuracy, bins.accuracy)


def test_consistency_is_the_binomial_of_the_bin():
    bins = reliability_bins_of(np.full(40, 0.8), np.ones(40), 10)
    low, high = bins.consistency(level=0.9)
    assert (low[0], high[0]) == (binom.ppf(0.05, 40, 0.8) / 40, binom.ppf(0.95, 40, 0.8) / 40)


def test_all_bins_together_are_held_more_widely(probs_and_labels):
    bins = reliability_bins(*probs_and_labels(), 10)
    together = np.array(bins.consistency_together(level=0.9))
    np.testing.assert_array_equal(together, bins.consistency(level=1 - 0.1 / len(bins.count)))
    alone = np.array(bins.consistency(level=0.9))
    assert ((together[0] <= alone[0]) & (together[1] >= alone[1])).all()
    assert (together != alone).any()


def test_torchmetrics_and_netcal_agree(probs_and_labels):
    from netcal import metrics as netcal  # slow to import

    p, y = probs_and_labels()
    tensors = torch.from_numpy(p), torch.from_numpy(y)
    for metric, norm, other in ((ece, "l1", netcal.ECE), (mce, "max", netcal.MCE)):
        theirs = multiclass_calibration_error(*tensors, 5, n_bins=15, norm=norm)
        assert metric(*tensors) == metric(p, y) == pytest.approx(float(theirs), abs=1e-6)  # it works in float32
        assert metric(p, y) == pytest.approx(other(15).measure(p, y), abs=1e-12)


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([[0.5, 0.6]], [0], "must sum to 1"),
        ([[1.5, -0.5]], [0], r"must lie in \[0, 1\]"),
        ([[0.5, 0.5]], [2], r"labels must lie in 0 ... 1. Got values from 2 to 2"),
        ([[0.5, 0.5]], [0.0], "labels must be integers. Got dtype float64"),
        ([0.5, 0.5], [0], r"labels must have shape \(n,\) = \(2,\). Got \(1,\)"),
        ([0.5, 1.2], [0, 1], r"probs \(n,\) must be probabilities of class 1, in \[0, 1\]. Got values from 0.5 to 1.2"),
        ([0.5, np.nan], [0, 1], "Got values from nan to nan"),
        ([0.5, 0.5], [0, 2], r"labels must lie in 0 ... 1. Got values from 0 to 2"),
        ([[[0.5, 0.5]]], [0], r"probs must have shape \(n, K\), or \(n,\) for two classes. Got \(1, 1, 2\)"),
        ([[0.3, 0.3, 0.4]], [True], "labels must be integers. Got dtype bool"),
        ([[np.nan, 0.5]], [0], "must be finite"),
    ],
)
def test_bad_input(p, y, message):
    with pytest.raises(ValueError, match=message):
        ece(np.array(p), np.array(y))


def test_bad_options(probs_and_labels):
    p, y = probs_and_labels()
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        ece(p, y, 0)
    with pytest.raises(ValueError, match="binning must be"):
        mce(p, y, binning="equal")


@pytest.mark.parametrize(
    ("n", "k", "scale", "n_bins"), [(2, 3, 1.0, 1), (500, 40, 0.3, 15), (300, 4, 3.0, 15), (1, 2, 1.0, 2)]
)
def test_gaps_of_classes_are_those_of_single_samples(n, k, scale, n_bins):
    """Where no probability is above the lowest bin, too."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, k)) * scale
    p, y = np.exp(z) / np.exp(z).sum(1, keepdims=True), rng.integers(0, k, n)
    wanted = np.zeros((3, k, n_bins))
    for i in range(n):
        for c in range(k):
            b = next(b for b in range(n_bins) if p[i, c] <= (b + 1) / n_bins)
            gap = p[i, c] - (y[i] == c)
            wanted[:, c, b] += gap, gap**2, p[i, c] * (1 - p[i, c])
    found = sum_class_gaps(p, y, n_bins)
    np.testing.assert_allclose([found.gap, found.square, found.variance], wanted, rtol=1e-12, atol=1e-13)
    assert classwise_ece(p, y, n_bins) == pytest.approx(np.abs(wanted[0]).sum() / n / k)


def test_probabilities_that_rounding_puts_above_1_are_1():
    p = np.eye(3, dtype=np.float32)[[0, 1, 2, 0]] * np.float32(1 + 1e-6)
    found = sum_class_gaps(p, [0, 1, 2, 1])
    assert (found.variance >= 0).all()
    assert top_label(p, [0, 1, 2, 1])[0].max() == 1
    assert np.isfinite(ece_interval(p, [0, 1, 2, 1]).high)
    assert top_label(p[::-1][:1], [0])[0] == 1  # a row of a reversed array
