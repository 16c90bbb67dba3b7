"""Losses against cross-entropy, on one data set and on another."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from focal_lib.metrics.intervals import Interval, t_interval
from reproduction.studies.shared.written_contrasts import compare_data_sets, subtract_means

FIRST = {"cross-entropy": [2.6, 2.5, 2.9, 2.7], "focal 3": [7.9, 7.1, 7.4, 7.0], "focal 1": [1.9, 2.2, 2.0, 2.1]}
SECOND = {"focal 3": [2.7, 2.5], "cross-entropy": [6.7, 7.7]}


def _table(values, dataset):
    rows = [
        {
            "dataset": dataset,
            "model": "mlp",
            "loss": loss,
            "gamma": 0.0,
            "seed": seed,
            "method": "none",
            "objective": "",
        }
        | {"temperature": np.nan, "calibration_gamma": np.nan, "metric": "ece", "value": value}
        for loss, own in values.items()
        for seed, value in enumerate(own)
    ]
    return pd.DataFrame(rows)


def test_each_data_set_has_its_t_interval_and_the_change_has_welchs():
    found = compare_data_sets({"ten": _table(FIRST, "cifar10"), "hundred": _table(SECOND, "cifar100")})
    assert list(found.index) == [("focal 3", "ten"), ("focal 3", "hundred")]  # focal 1 is on one of them
    one, two = (np.subtract(values["focal 3"], values["cross-entropy"]) for values in (FIRST, SECOND))
    for title, values in (("ten", one), ("hundred", two)):
        row, wanted = found.loc["focal 3", title], stats.ttest_1samp(values, 0).confidence_interval()
        assert row["difference"] == pytest.approx(values.mean())
        assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high))
        assert row["seeds"] == len(values)
    row, wanted = found.loc["focal 3", "hundred"], stats.ttest_ind(two, one, equal_var=False).confidence_interval()
    assert row["change"] == pytest.approx(two.mean() - one.mean())
    assert (row["change_low"], row["change_high"]) == pytest.approx((wanted.low, wanted.high))
    assert tuple(found.loc["focal 3", "ten"][["change", "change_low", "change_high"]]) == (0, 0, 0)


def test_of_one_seed_there_is_no_interval():
    second = {loss: values[:1] for loss, values in SECOND.items()}
    row = compare_data_sets({"ten": _table(FIRST, "cifar10"), "hundred": _table(second, "cifar100")}).loc[
        "focal 3", "hundred"
    ]
    assert row["change"] == pytest.approx(2.7 - 6.7 - np.mean(np.subtract(FIRST["focal 3"], FIRST["cross-entropy"])))
    assert np.isnan([row["low"], row["high"], row["change_low"], row["change_high"]]).all()


def test_means_without_spread_differ_by_what_they_are_apart():
    assert subtract_means(t_interval([1.5, 1.5]), t_interval([1.0, 1.0])) == Interval(0.5, 0.5, 0.5, "t")


def test_no_loss_in_common_is_refused():
    tables = {"ten": _table(FIRST, "cifar10"), "hundred": _table({"cross-entropy": [1, 2], "mmce": [1, 2]}, "cifar100")}
    with pytest.raises(ValueError, match=r"a loss beside cross-entropy in common\. Got none in ten, hundred"):
        compare_data_sets(tables)
