"""Metrics against slow definitions, and torchmetrics as a second opinion."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.classification import multiclass_calibration_error

from focal_lib.metrics.bins import (
    adaptive_ece,
    adaptive_ece_of,
    bin_of,
    classwise_ece,
    ece,
    ece_of,
    mce,
    reliability_bins,
)
from focal_lib.metrics.intervals import bootstrap
from focal_lib.metrics.scores import accuracy, brier, nll, sample_scores, top_label
from focal_lib.metrics.smooth import smooth_ece


def sample(n=400, k=5, seed=0, scale=2.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, k)) * scale
    p = np.exp(z - z.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return p, rng.integers(0, k, n)


def slow_ece(confidence, correct, n_bins):
    """Bins (lo, hi] of equal width, one sample at a time; 0 in the first."""
    total = 0.0
    for b in range(n_bins):
        lo, hi = b / n_bins, (b + 1) / n_bins
        inside = [i for i, c in enumerate(confidence) if lo < c <= hi or (b == 0 and c == 0)]
        total += abs(sum(confidence[i] - correct[i] for i in inside))
    return total / len(confidence)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(2, 60))
def test_ece_of_equal_width(seed, n_bins, n):
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
    assert ece_of(confidence, correct, n_bins) == pytest.approx(slow_ece(confidence, correct, n_bins))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(2, 60))
def test_ece_of_equal_mass(seed, n_bins, n):
    rng = np.random.default_rng(seed)
    confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
    order = np.argsort(confidence)
    parts = np.array_split((confidence - correct)[order], n_bins)  # an independent definition of the bins
    expected = sum(abs(part.sum()) for part in parts) / n
    assert adaptive_ece_of(confidence, correct, n_bins) == pytest.approx(expected)


def test_edges_zero_and_one():
    # 0.5 ends the first of two bins; 0 belongs to it, 1 to the last
    confidence, correct = np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.0, 0.0])
    assert ece_of(confidence, correct, 2) == pytest.approx((abs(-1 + 0.5) + 1) / 3)


def test_torchmetrics_agrees():
    p, y = sample()
    theirs = multiclass_calibration_error(torch.from_numpy(p), torch.from_numpy(y), 5, n_bins=15, norm="l1")
    assert ece(p, y) == pytest.approx(float(theirs), abs=1e-6)  # it works in float32
    theirs = multiclass_calibration_error(torch.from_numpy(p), torch.from_numpy(y), 5, n_bins=15, norm="max")
    assert mce(p, y) == pytest.approx(float(theirs), abs=1e-6)


def test_no_sample_is_dropped_by_equal_mass():
    p, y = sample(n=101)
    assert reliability_bins(p, y, 15, "mass").count.sum() == 101


def test_ties_at_one():
    p = np.repeat([[1.0, 0.0]], 50, axis=0)
    y = np.r_[np.zeros(40, int), np.ones(10, int)]
    assert ece(p, y) == pytest.approx(0.2)
    assert smooth_ece(p, y) == pytest.approx(0.2, abs=1e-3)  # true where mass sits at 1
    assert adaptive_ece(p, y, 7) >= 0.2


def slow_smooth_ece(confidence, correct):
    """The reflected kernel written out, on a grid, and bisection for sigma."""
    t = (np.arange(400) + 0.5) / 400

    def smoothed(sigma):
        total = np.zeros_like(t)
        for shift in range(-6, 7):
            for mirror in (1, -1):
                d = t[:, None] - (mirror * confidence[None] + 2 * shift)
                total += (np.exp(-(d**2) / (2 * sigma**2)) * (confidence - correct)).sum(1)
        return np.abs(total).mean() / (np.sqrt(2 * np.pi) * sigma * len(confidence))

    low, high = 0.02, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed(middle) > middle else (low, middle)
    return low


def test_smooth_ece():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 500)
    correct = (rng.random(500) < confidence - 0.15).astype(float)
    p = np.column_stack([confidence, 1 - confidence])
    y = np.where(correct == 1, 0, 1)
    assert smooth_ece(p, y) == pytest.approx(slow_smooth_ece(confidence, correct), rel=2e-3)


def test_scores():
    p, y = sample()
    picked = p[np.arange(len(y)), y]
    assert nll(p, y) == pytest.approx(float(-np.log(picked).mean()))
    assert brier(p, y) == pytest.approx(float(((p - np.eye(5)[y]) ** 2).sum(1).mean()))
    assert accuracy(p, y) == pytest.approx(float((p.argmax(1) == y).mean()))
    by_class = [slow_ece(p[:, k], (y == k).astype(float), 15) for k in range(5)]
    assert classwise_ece(p, y) == pytest.approx(np.mean(by_class))
    assert ece(torch.from_numpy(p), torch.from_numpy(y)) == ece(p, y)


def test_bootstrap_covers():
    """Coverage of the mean's interval, by simulation: near 95 %."""
    hits = 0
    for seed in range(200):
        x = np.random.default_rng(seed).exponential(size=80)
        interval = bootstrap(lambda v: float(v.mean()), x, resamples=200, seed=seed)
        hits += interval.low <= 1 <= interval.high
    assert 0.88 <= hits / 200 <= 0.98


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([[0.5, 0.6]], [0], "must sum to 1"),
        ([[1.5, -0.5]], [0], r"must lie in \[0, 1\]"),
        ([[0.5, 0.5]], [2], r"labels must lie in 0 ... 1. Got values from 2 to 2"),
        ([[0.5, 0.5]], [0.0], "labels must be integers. Got dtype float64"),
        ([[0.5, 0.5]], [0, 1], r"labels must have shape \(n,\) = \(1,\). Got \(2,\)"),
        ([0.5, 0.5], [0], r"probs must have shape \(n, K\)"),
        (np.empty((0, 2)), np.empty(0, int), "must not be empty"),
        ([[np.nan, 0.5]], [0], "must be finite"),
    ],
)
def test_bad_input(p, y, message):
    with pytest.raises(ValueError, match=message):
        ece(np.array(p), np.array(y))


def test_bad_options():
    p, y = sample()
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        ece(p, y, 0)
    with pytest.raises(ValueError, match="binning must be"):
        mce(p, y, binning="equal")


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=60), st.integers(1, 12))
def test_ties_fill_the_bins_in_the_order_of_rows(values, n_bins):
    confidence = np.array(values)
    order = np.argsort(confidence, kind="stable")
    expected = np.empty(len(values), int)
    for b, part in enumerate(np.array_split(order, n_bins)):
        expected[part] = b
    np.testing.assert_array_equal(bin_of(confidence, n_bins, "mass"), expected)


def test_of_tied_classes_the_first_counts():
    p = np.array([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.1, 0.8, 0.1]])
    confidence, correct = top_label(p, np.array([0, 1, 1, 1]))
    assert confidence.tolist() == [0.4, 0.4, 0.4, 0.8]
    assert correct.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("k", range(16))
def test_a_confidence_on_an_edge_belongs_to_the_bin_below(k):
    assert bin_of(np.array([k / 15]), 15, "width")[0] == max(k - 1, 0)
    above = np.nextafter(k / 15, 2)
    assert bin_of(np.array([above]), 15, "width")[0] == min(k, 14)


def test_saturated_float32_rows():
    z = torch.tensor([[200.0, 0.0, -300.0], [90.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    p = torch.softmax(z, -1)  # exact 1 and 0 among them
    assert ece(p, torch.tensor([0, 0, 0])) == pytest.approx((1 - 1 / 3) / 3, abs=1e-6)
    assert nll(p, torch.tensor([2, 0, 0])) == np.inf
    assert brier(p, torch.tensor([2, 0, 0])) == pytest.approx((2 + 0 + 2 / 3) / 3, abs=1e-6)


def test_row_scores_are_the_metrics():
    p, y = sample()
    rows = sample_scores(p, y)
    assert rows.log_loss.mean() == pytest.approx(nll(p, y))
    assert rows.brier.mean() == pytest.approx(brier(p, y))
    assert ece_of(rows.confidence, rows.correct) == pytest.approx(ece(p, y))
    assert rows.correct.mean() == accuracy(p, y)


def test_netcal_agrees():
    from netcal import metrics as netcal  # slow to import

    p, y = sample()
    assert ece(p, y) == pytest.approx(netcal.ECE(15).measure(p, y), abs=1e-12)
    assert mce(p, y) == pytest.approx(netcal.MCE(15).measure(p, y), abs=1e-12)
