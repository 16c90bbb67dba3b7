"""Copies of samples are one group; samples that tie, such as those of trees, are neither copies nor a leak."""

import numpy as np
import pytest
from scipy import special

from focal_lib.calibration import LogitSet, calibrate
from focal_lib.tool.evaluation.repeats import group_copies, in_common
from focal_lib.tool.gate import Outcome, check


def calibrated(n, seed, values=None, classes=4):
    """Calibrated by construction; `values` are the few probabilities of class 1 of a binary model."""
    rng = np.random.default_rng(seed)
    if values is None:
        z = 1.5 * rng.normal(size=(n, classes))
    else:
        p = rng.choice(values, n)
        z = np.log(np.stack([1 - p, p], 1))
    p = special.softmax(z, 1)
    return z, (p.cumsum(1) > rng.random((n, 1))).argmax(1)


TREES = {
    "neighbours": np.arange(6) / 5 * 0.98 + 0.01,
    "rounded": np.round(np.arange(1, 100) * 0.01, 2),
    "leaves": np.array([0.05, 0.2, 0.6, 0.9]),
}


@pytest.mark.parametrize("times", [2, 10])
def test_copies_are_one_group_in_any_order(times):
    z, y = calibrated(400, 0)
    order = np.random.default_rng(1).permutation(400 * times)
    found = group_copies(LogitSet(np.tile(z, (times, 1))[order], np.tile(y, times)[order]))
    of_sample = np.tile(np.arange(400), times)[order]
    assert len(np.unique(found.groups)) == 400
    assert len(set(zip(found.groups.tolist(), of_sample.tolist(), strict=True))) == 400
    assert f"The {400 * times:,} rows are 400 different ones" in found.notes[-1]


@pytest.mark.parametrize("values", TREES.values(), ids=TREES)
def test_ties_are_neither_copies_nor_a_leak(values):
    z, y = calibrated(4000, 0, values)
    assert group_copies(LogitSet(z, y)).groups is None
    assert in_common(LogitSet(z[:2500], y[:2500]), LogitSet(z[2500:], y[2500:])) == ""


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_copies_may_differ_by_a_constant(kind):
    """Softmax does not see it; adding it rounds the logits anew."""
    z, y = calibrated(400, 0)
    constants = np.random.default_rng(1).normal(size=(1200, 1)) * 5
    found = group_copies(LogitSet((np.tile(z, (3, 1)) + constants).astype(kind), np.tile(y, 3)))
    assert 400 <= len(np.unique(found.groups)) < 440
    moved = LogitSet((z[:200] + constants[:200]).astype(kind), y[:200])
    assert "200 of 200 test samples stand among" in in_common(LogitSet(z, y), moved) or kind is np.float32


@pytest.mark.parametrize("right", [True, False])
def test_copies_of_samples_that_are_all_right_or_all_wrong_are_seen(right):
    z, _ = calibrated(60, 0)
    y = z.argmax(1) if right else z.argmin(1)
    assert len(np.unique(group_copies(LogitSet(np.tile(z, (5, 1)), np.tile(y, 5))).groups)) == 60


def test_few_copies_and_groups_that_are_given_stay():
    z, y = calibrated(1000, 0)
    few = LogitSet(np.r_[z, z[:4]], np.r_[y, y[:4]])
    assert group_copies(few) is few
    grouped = LogitSet(np.tile(z, (2, 1)), np.tile(y, 2), groups=np.arange(2000) % 50)
    assert group_copies(grouped) is grouped


@pytest.mark.parametrize("leaked", [50, 500])
def test_a_leak_is_seen_among_scores_that_tie(leaked):
    """Rounded so that one sample in ten ties with another by chance."""
    z, y = calibrated(4000, 0, classes=3)
    z = np.round(z, 1)
    fitted_on, test = LogitSet(z[:2000], y[:2000]), LogitSet(z[2000:], y[2000:])
    assert in_common(fitted_on, test) == ""
    with_leak = LogitSet(np.r_[test.logits, z[:leaked]], np.r_[test.labels, y[:leaked]])
    assert "stand among" in in_common(fitted_on, with_leak)


def test_a_leak_is_seen_where_most_scores_tie():
    """Of 3,000 scores of a forest; how many of the samples that tie stand in both sets is not known, and not said."""
    rng = np.random.default_rng(0)
    p = np.clip(np.round(special.expit(2 * rng.normal(size=8000)) * 3000), 1, 2999) / 3000
    z, y = np.log(np.stack([1 - p, p], 1)), (rng.random(8000) < p).astype(int)
    fitted_on, test = LogitSet(z[:4000], y[:4000]), LogitSet(z[4000:], y[4000:])
    assert in_common(fitted_on, test) == ""
    with_leak = LogitSet(np.r_[test.logits, z[:600]], np.r_[test.labels, y[:600]])
    assert "test samples stand among those to fit on, too: 2," in in_common(fitted_on, with_leak)


def test_a_check_is_not_misled_by_copies():
    """A calibrated model fails with 150 samples ten times over no more often than with them once."""
    failed = {1: 0, 10: 0}
    for seed in range(12):
        z, y = calibrated(150, seed)
        for times in failed:
            failed[times] += check((np.tile(z, (times, 1)), np.tile(y, times)), 0.05).outcome == Outcome.FAIL
    assert failed == {1: 0, 10: 0}


def test_a_report_says_that_there_are_copies():
    z, y = calibrated(300, 0)
    report = calibrate((np.tile(z, (5, 1)), np.tile(y, 5)), "temperature", resamples=20)
    assert any("300 different ones" in note for note in report.notes)
    assert report.evaluation.units[1] == "groups"
