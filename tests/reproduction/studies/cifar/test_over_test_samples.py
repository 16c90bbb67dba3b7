"""Test samples drawn anew, the same for all runs: of one run against the fast way, of several by hand."""

from dataclasses import replace

import numpy as np
import pytest

from reproduction.studies.cifar.over_test_samples import gains_over_test_samples, resample_mean_gain
from reproduction.studies.shared import over_seeds
from reproduction.studies.shared.by_run import resample_gain

PAIRS = ((1.0, 0.8), (0.0, 1.3))


def test_of_one_run_it_is_the_gain_within_that_run(made_results):
    run = made_results[1]
    found = resample_mean_gain([(run, *PAIRS)], resamples=50, seed=run.spec.seed)
    wanted = resample_gain(run, *PAIRS, resamples=50)
    assert (found.estimate, found.low, found.high) == pytest.approx((wanted.estimate, wanted.low, wanted.high))
    assert found.kind == "percentile bootstrap"


def test_runs_share_each_draw(made_results):
    """Twice the same run is no more than once; a run whose gain is the opposite leaves nothing in any draw."""
    run, one, other = made_results[1], *PAIRS
    alone, twice = (resample_mean_gain([(run, one, other)] * n, resamples=50) for n in (1, 2))
    assert (alone.low, alone.high) == pytest.approx((twice.low, twice.high))
    assert alone.low < alone.high
    nothing = resample_mean_gain([(run, one, other), (run, other, one)], resamples=50)
    assert (nothing.estimate, nothing.low, nothing.high) == (0, 0, 0)


def test_runs_of_other_samples_are_refused(made_results):
    run = made_results[0]
    other = replace(run, test=replace(run.test, labels=run.test.labels[::-1].copy()))
    with pytest.raises(ValueError, match=r"one or more, tested on the same samples\. Got 2 runs, 1 of them on others"):
        resample_mean_gain([(run, *PAIRS), (other, *PAIRS)])
    with pytest.raises(ValueError, match="Got 0 runs"):
        resample_mean_gain([])


def test_a_row_a_loss_is_the_mean_over_its_seeds(made_results):
    runs = [made_results[k] for k in (0, 1, 4, 5)]
    same = [replace(run, test=replace(run.test, labels=runs[0].test.labels)) for run in runs]
    table = over_seeds.measure(same)
    found = gains_over_test_samples(same, table, resamples=20)
    assert found.index.tolist() == ["cross-entropy", "focal 3"]
    gains = over_seeds.contrast(table, "method", "temperature").query("metric == objective == 'adaptive-ece'")
    np.testing.assert_allclose(found["difference"], gains.set_index("loss")["difference"].loc[found.index])
    assert (found["low"] < found["high"]).all()
    assert found["runs"].tolist() == [2, 2]
