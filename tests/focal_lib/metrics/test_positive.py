"""The probability of an event: its calibration error and O/E, with intervals that cover where events are rare."""

import numpy as np
import pytest
import torch
from scipy import stats

from focal_lib.metrics.bins import adaptive_ece_of, ece, ece_of
from focal_lib.metrics.design import Design
from focal_lib.metrics.positive import (
    event_logits,
    observed_expected,
    observed_expected_of,
    positive_ece,
    positive_ece_interval,
    positive_ece_interval_of,
    positive_reliability_bins,
    shift_to,
)
from tests.quick import first_is_quick

PUBLIC = (positive_ece, positive_ece_interval, positive_reliability_bins, observed_expected)


def rare(prevalence, n, seed, factor=1.0):
    """Probabilities of an event, `factor` times too high, outcomes and true probabilities."""
    rng = np.random.default_rng(seed)
    true = 1 / (1 + np.exp(-(rng.normal(size=n) + np.log(prevalence) - 0.5)))  # mean about the prevalence
    return np.minimum(factor * true, 0.999), (rng.random(n) < true).astype(float), true


def test_a_rare_event_that_is_overstated_is_seen():
    """Twenty-five per mille promised where ten happen: the top label is right in 99 of 100 as ever."""
    p, y, _ = rare(0.01, 40_000, 0, 2.5)
    assert ece(np.stack([1 - p, p], 1), y.astype(int)) == pytest.approx(0.0155, abs=0.002)
    found = positive_ece_interval(p, y.astype(int))
    assert 0.012 < found.low < found.estimate < found.high < 0.02
    ratio = observed_expected(p, y.astype(int))
    assert 0.35 < ratio.low < ratio.high < 0.45


def test_a_model_of_reweighted_events_passes_as_top_label_only():
    """Odds times five: probabilities of the event are twenty points too high, those of top labels hardly."""
    rng = np.random.default_rng(0)
    true = rng.beta(0.6, 5.6, 8000)
    y, odds = (rng.random(8000) < true).astype(int), 5 * true / (1 - true)
    p = odds / (1 + odds)
    assert ece(np.stack([1 - p, p], 1), y) < 0.08
    assert positive_ece_interval(p, y).low > 0.15
    assert positive_ece(p, y) == pytest.approx(p.mean() - y.mean(), abs=1e-3)  # every bin's is too high
    assert observed_expected(p, y).high < 0.5


def test_by_hand_in_every_form():
    p, y = np.array([0.1, 0.1, 0.1, 0.7]), np.array([0, 0, 1, 1])
    for values in (p, p.tolist(), np.stack([1 - p, p], 1), torch.tensor(p), torch.tensor(np.stack([1 - p, p], 1))):
        for labels in (y, y.tolist(), y.astype(bool), y.astype(np.uint8), torch.tensor(y)):
            assert positive_ece(values, labels) == pytest.approx(0.25)
            assert observed_expected(values, labels).estimate == pytest.approx(2)
    single = p.astype(np.float32)
    assert positive_ece(single, y) == pytest.approx(0.25, abs=1e-6)
    bins = positive_reliability_bins(p, y, 2)
    assert bins.count.tolist() == [3, 1]
    assert bins.accuracy == pytest.approx([1 / 3, 1])
    assert bins.confidence == pytest.approx([0.1, 0.7])


@pytest.mark.parametrize("function", PUBLIC)
@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([[0.2, 0.3, 0.5]], [1], r"is of two classes; classwise_ece is of more. Got probs of shape \(1, 3\)"),
        ([[0.2], [0.3]], [1, 0], r"probs must have shape \(n,\) or \(n, 2\). Got \(2, 1\)"),
        (0.5, [1], r"probs must have shape \(n,\) or \(n, 2\). Got \(\)"),
        ([0.2, 1.3], [1, 0], r"must be probabilities of class 1, in \[0, 1\]. Got values from 0.2 to 1.3"),
        ([0.2, -0.1], [1, 0], r"must be probabilities of class 1, in \[0, 1\]. Got values from -0.1 to 0.2"),
        ([0.2, np.nan], [1, 0], "must be probabilities of class 1"),
        ([[0.2, 0.9]], [1], "probs must sum to 1"),
        ([0.2, 0.3], [1, 2], "labels must lie in 0 ... 1. Got values from 1 to 2"),
        ([0.2, 0.3], [-1, 1], "labels must lie in 0 ... 1. Got values from -1 to 1"),
        ([0.2, 0.3], [0.0, 1.0], "labels must be integers. Got dtype float64"),
        ([0.2, 0.3], ["0", "1"], r"integers\. Got dtype <U1: give their numbers, np\.unique\(labels, return_inverse"),
        ([0.2, 0.3], [1, 0, 1], r"labels must have shape \(n,\) = \(2,\)"),
        ([], [], "must not be empty"),
    ],
)
def test_bad_input_is_refused(function, p, y, message):
    with pytest.raises(ValueError, match=message):
        function(p, y)


def test_bad_options_are_refused():
    p, y = [0.2, 0.3], [0, 1]
    with pytest.raises(ValueError, match=r"binning must be 'width' or 'mass'. Got 'size'"):
        positive_ece(p, y, binning="size")
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        positive_ece(p, y, 0)
    with pytest.raises(ValueError, match=r"weights must have shape \(n,\) = \(2,\). Got \(3,\)"):
        positive_ece(p, y, weights=[1, 1, 1])
    with pytest.raises(ValueError, match=r"groups must have shape \(n,\) = \(2,\). Got \(1,\)"):
        observed_expected(p, y, groups=["a"])
    with pytest.raises(ValueError, match="level must lie in"):
        observed_expected(p, y, level=95)
    with pytest.raises(ValueError, match="probs must not all be 0"):
        observed_expected([0.0, 0.0], y)


@pytest.mark.parametrize("factor", [1.0, 0.4, 2.5])
@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("prevalence", first_is_quick([0.01, 0.001]))
def test_intervals_of_the_error_cover_rare_events(prevalence, binning, factor):
    """Where the model underrates the event, normal ends alone covered in 91 to 93 of 100."""
    value = {"width": ece_of, "mass": adaptive_ece_of}[binning]

    def holds(seed):
        p, y, true = rare(prevalence, 2000, seed, factor)
        found = positive_ece_interval_of(p, y, binning=binning)
        return found.low <= value(p, true) + 1e-12 and value(p, true) <= found.high

    assert np.mean([holds(seed) for seed in range(60)]) >= 0.92


def test_the_interval_of_observed_over_expected_covers_exactly():
    """Of equal probabilities it depends on the number of events alone, so its coverage is a sum."""
    n, p = 2000, np.full(2000, 0.001)
    counts = range(40)
    found = [observed_expected_of(p, (np.arange(n) < k).astype(float)) for k in counts]
    low, high = np.array([(f.low, f.high) for f in found]).T
    for rate in (1e-6, 1e-4, 5e-4, 0.001, 0.002, 0.003, 0.005):
        inside = (low <= rate / 0.001) & (rate / 0.001 <= high)
        assert stats.binom.pmf(counts, n, rate)[inside].sum() >= 0.95 - 1e-9


def test_without_an_event_the_upper_end_is_finite():
    found = observed_expected(np.full(10_000, 0.001), np.zeros(10_000, int))
    assert (found.estimate, found.low) == (0, 0)
    assert found.high == pytest.approx(-np.log(0.025) / 10, rel=1e-3)  # Poisson's
    weighted = observed_expected(np.full(10_000, 0.001), np.zeros(10_000, int), weights=np.tile([0.5, 1.5], 5000))
    assert weighted.high == pytest.approx(-np.log(0.025) / 10 * 1.25, rel=1e-3)  # the mean weight of an event
    copies = observed_expected(np.full(10_000, 0.001), np.zeros(10_000, int), groups=np.repeat(np.arange(1000), 10))
    assert copies.high == pytest.approx(-np.log(0.025), rel=1e-3)  # they might come by tens


def test_ends_of_a_rare_event_are_garwoods():
    p, y, _ = rare(0.001, 20_000, 1)
    found, events = observed_expected_of(p, y), y.sum()
    assert found.low * p.sum() == pytest.approx(stats.gamma.ppf(0.025, events), rel=0.01)
    assert found.high * p.sum() == pytest.approx(stats.gamma.isf(0.025, events + 1), rel=0.01)


@pytest.mark.parametrize("spread", [0.0, 2.0, 5.0])
def test_intervals_of_the_ratio_cover_where_events_are_frequent_and_are_narrow(spread):
    """As narrow as the variance of a sum of unequal Bernoulli variables allows, within a tenth."""
    rng = np.random.default_rng(0)
    true = 1 / (1 + np.exp(-spread * rng.normal(size=1500) + 0.5))
    p = np.clip(true**1.2, 1e-9, 1)
    ratio, sd = true.sum() / p.sum(), np.sqrt((true * (1 - true)).sum()) / p.sum()
    found = [observed_expected_of(p, (rng.random(1500) < true).astype(float)) for _ in range(300)]
    assert np.mean([f.low <= ratio <= f.high for f in found]) >= 0.92
    assert np.mean([f.high - f.low for f in found]) < 1.1 * 2 * 1.96 * sd


def test_sure_predictions_that_were_right_are_no_proof():
    """Events among samples of probability 0 that were not seen by chance."""
    p = np.r_[np.ones(100), np.zeros(1000)]
    assert observed_expected_of(p, p).high > 1.02
    assert observed_expected_of(p, p).low < 0.98


@pytest.mark.parametrize("p", [0.0, 1e-38])
def test_of_events_that_none_expects_the_ratio_is_infinite(p):
    """Also where 0 is read as the least number of single precision."""
    found = observed_expected_of(np.full(500, p), np.r_[np.ones(5), np.zeros(495)])
    assert (found.estimate, found.low, found.high) == (np.inf, np.inf, np.inf)
    none = observed_expected_of(np.full(500, p), np.zeros(500))
    assert np.isnan(none.estimate)
    assert (none.low, none.high) == (0.0, np.inf)


@pytest.mark.parametrize("kind", ["weights", "groups", "both"])
def test_intervals_with_weights_and_groups_cover(kind):
    def holds(seed):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(200), 10)
        effect = rng.normal(size=200)[groups] if kind != "weights" else rng.normal(size=2000)
        p = np.full(2000, 0.03)
        true = 1 / (1 + np.exp(-(0.8 * effect + np.log(0.02))))
        y = (rng.random(2000) < true).astype(float)
        weights = rng.choice([0.2, 1.0, 3.0], 2000)
        design = Design(weights if kind != "groups" else None, groups if kind != "weights" else None)
        found = observed_expected_of(p, y, design=design)
        assert found.kind == "gamma" + (", weighted" if kind == "weights" else " over groups") + (
            ", weighted" if kind == "both" else ""
        )
        return found.low <= mean / 0.03 <= found.high

    mean = (1 / (1 + np.exp(-(0.8 * np.random.default_rng(99).normal(size=10**6) + np.log(0.02))))).mean()
    assert np.mean([holds(seed) for seed in range(150)]) >= 0.92


def test_order_copies_and_weights():
    p, y, _ = rare(0.02, 1500, 3, 1.5)
    order, twice = np.random.default_rng(0).permutation(1500), np.tile(np.arange(1500), 2)
    weights = np.random.default_rng(1).integers(0, 4, 1500).astype(float)
    plain = observed_expected_of(p, y)
    assert observed_expected_of(p[order], y[order]).high == pytest.approx(plain.high, rel=1e-12)
    assert observed_expected_of(p[twice], y[twice]).estimate == pytest.approx(plain.estimate)
    assert observed_expected_of(p[twice], y[twice], design=Design(groups=twice)).high > 0.98 * plain.high
    drawn = np.repeat(np.arange(1500), weights.astype(int))
    of_weights = observed_expected_of(p, y, design=Design(weights))
    assert of_weights.estimate == pytest.approx(observed_expected_of(p[drawn], y[drawn]).estimate)
    used = weights > 0
    assert of_weights.high == pytest.approx(observed_expected_of(p[used], y[used], design=Design(weights[used])).high)
    labels = y.astype(int)
    assert positive_ece(p, labels, weights=weights) == pytest.approx(positive_ece(p[drawn], labels[drawn]))
    a, b = positive_ece_interval(p, labels), positive_ece_interval(p[order], labels[order])
    assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-9)
    one = observed_expected(p, labels, groups=np.zeros(1500, int))
    assert np.isnan([one.low, one.high]).all()


def test_a_shift_of_all_logits_expects_what_is_asked():
    logits = event_logits(np.array([0.0, 1e-12, 0.3, 0.999, 1.0]))
    weights = np.array([1.0, 2.0, 0.5, 1.0, 0.5])
    for total in (1e-9, 0.1, 2.5, 4.9, 5 - 1e-9):
        found = weights @ (1 / (1 + np.exp(-(logits + shift_to(logits, total, weights)))))
        assert found == pytest.approx(total, rel=1e-9)
    assert shift_to(logits, 0.0, weights) == -np.inf
    assert shift_to(logits, 5.0, weights) == np.inf
