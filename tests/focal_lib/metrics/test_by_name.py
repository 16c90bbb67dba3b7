"""Metrics by name: the functions they are, and the unit they are shown in."""

import numpy as np
import pytest

from focal_lib.metrics import bins, scores, smooth
from focal_lib.metrics.by_name import METRICS

FUNCTIONS = {
    "nll": scores.nll,
    "brier": scores.brier,
    "ece": bins.ece,
    "adaptive-ece": bins.adaptive_ece,
    "classwise-ece": bins.classwise_ece,
    "smooth-ece": smooth.smooth_ece,
    "mce": bins.mce,
}


def test_each_name_is_its_function(probs_and_labels):
    probs, labels = probs_and_labels()
    assert list(METRICS) == ["error", *FUNCTIONS]
    for name, function in FUNCTIONS.items():
        assert METRICS[name].function(probs, labels) == function(probs, labels)
    assert METRICS["error"].function(probs, labels) == pytest.approx((probs.argmax(1) != labels).mean(), abs=1e-12)


def test_all_but_nll_and_brier_are_shown_in_per_cent(probs_and_labels):
    probs, labels = probs_and_labels()
    for name, metric in METRICS.items():
        factor = 1 if name in ("nll", "brier") else 100
        assert metric.shown(probs, labels) == pytest.approx(factor * metric.function(probs, labels))


def test_bins_are_those_that_the_name_says(probs_and_labels):
    """Confidences of which all but one lie in one bin of equal width."""
    assert {name: metric.bins for name, metric in METRICS.items() if metric.bins} == {
        "ece": "equal width",
        "adaptive-ece": "equal mass",
        "classwise-ece": "equal width",
        "mce": "equal width",
    }
    top = np.r_[np.linspace(0.61, 0.66, 299), 0.99]
    probs, labels = np.stack([top, 1 - top], -1), (np.arange(300) >= 150).astype(int)
    one_bin = abs((top[:-1] - (labels[:-1] == 0)).sum()) / 300 + 0.99 / 300
    assert METRICS["ece"].function(probs, labels) == pytest.approx(one_bin)
    assert METRICS["adaptive-ece"].function(probs, labels) > one_bin + 0.1
