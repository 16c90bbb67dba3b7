"""The bootstrap that sorts once against the one that sorts each resample, ties among the confidences and not."""

import numpy as np
import pytest

from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece
from focal_lib.metrics.intervals import bootstrap
from reproduction.studies.advice.coverage import simulate_sample


def ends(interval):
    return [interval.estimate, interval.low, interval.high]


@pytest.mark.parametrize("digits", [1, 15], ids=["ties", "no ties"])
@pytest.mark.parametrize("n", [2, 7, 33, 500])
def test_as_the_ece_of_each_resample(n, digits):
    confidence, correct, _ = simulate_sample(n, 0.1, 0)
    confidence = confidence.round(digits)
    found = bootstrap_adaptive_ece(confidence, correct, resamples=40, seed=3)
    order = np.lexsort((correct, confidence))
    one_by_one = bootstrap(adaptive_ece_of, confidence[order], correct[order], resamples=40, seed=3)
    assert ends(found) == pytest.approx(ends(one_by_one), abs=1e-12)
    assert found.kind == one_by_one.kind == "percentile bootstrap"


def test_bad_input():
    with pytest.raises(ValueError, match=r"samples must be at least 2\. Got 1"):
        bootstrap_adaptive_ece(np.ones(1), np.ones(1))
