"""Measurements over gamma, on made-up tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics import paired_t_interval, t_interval
from reproduction.studies.landscape.contrasts import (
    evaluate_by_network,
    factors_at,
    means_over_gamma,
    ratios_over_gamma,
    share_within,
    values_over_gamma,
)
from reproduction.studies.landscape.measures import add_logs
from reproduction.studies.landscape.plan import eigenvalue_contrasts
from tests.reproduction.studies.landscape.test_measures import rows

FIRST = [[1.0, 2.0], [2.0, 8.0], [4.0, 4.0]]


def table(**metrics):
    return add_logs(pd.concat([rows(name, values) for name, values in metrics.items()]).assign(error=0.0))


def test_ratios_are_paired_over_seeds():
    gammas, means, half = ratios_over_gamma(table(trace=FIRST), "mlp", "trace")
    assert gammas.tolist() == [0, 1, 2]
    np.testing.assert_allclose(means, [0, np.log(2 * 4) / 2, np.log(4 * 2) / 2])
    interval = paired_t_interval(np.log([2, 8]), np.log([1, 2]))
    assert half[1] == pytest.approx((interval.high - interval.low) / 2)
    alone = table(trace=[row[:1] for row in FIRST])
    assert ratios_over_gamma(alone, "mlp", "trace")[2] is None
    with pytest.raises(ValueError, match=r"gammas must hold 0, cross-entropy. Got 1, 2"):
        ratios_over_gamma(alone.query("gamma > 0"), "mlp", "trace")
    with pytest.raises(ValueError, match=r"rows must be of mlp and log top. Got none"):
        ratios_over_gamma(alone, "mlp", "top")


def test_means_go_through_the_gammas_in_order():
    x, y, error = means_over_gamma(table(trace=FIRST, ece=FIRST[::-1])[::-1], "mlp", "trace", "ece")
    np.testing.assert_allclose(x, [1.5, 5.0, 4.0])
    np.testing.assert_allclose(y, [4.0, 5.0, 1.5])
    interval = t_interval([1.0, 2.0])
    assert error[2] == pytest.approx((interval.high - interval.low) / 2)
    alone = table(trace=FIRST, ece=[row[:1] for row in FIRST])
    assert means_over_gamma(alone, "mlp", "trace", "ece")[2] is None


def test_values_over_gamma_have_an_interval_each():
    gammas, means, half = values_over_gamma(table(ece=FIRST)[::-1], "mlp", "ece")
    assert gammas.tolist() == [0, 1, 2]
    np.testing.assert_allclose(means, np.mean(FIRST, axis=1))
    assert half[1] == pytest.approx((t_interval(FIRST[1]).high - t_interval(FIRST[1]).low) / 2)


def test_contrasts_of_each_network():
    falling = [[8.0, 8.1, 8.2], [4.0, 4.1, 4.15], [4.1, 4.0, 4.2]]
    found = table(**{"top own validation": falling})
    found["dataset"], found["method"], found["objective"] = "made up", "none", ""
    found["loss"] = ["focal " + f"{g:g}" if g else "cross-entropy" for g in found["gamma"]]
    both = pd.concat([found, found.assign(model="small-cnn", value=-found["value"])])
    steps = eigenvalue_contrasts((0.0, 1.0, 2.0))
    evaluated = evaluate_by_network(both, {"mlp": steps, "small-cnn": steps})
    assert evaluated["network"].tolist() == ["mlp"] * 3 + ["small-cnn"] * 3
    assert evaluated["name"].iloc[0] == "mlp: log top own validation: focal 2 - cross-entropy"
    assert evaluated["significant"].tolist() == [True, True, False] * 2


def test_factors_at_one_gamma_multiply_to_the_trace():
    factors = {"loss factor": FIRST, "spread": FIRST[::-1], "sensitivity": [[3.0, 1.0], [1.0, 2.0], [5.0, 2.0]]}
    given = {f"{name} train": values for name, values in factors.items()}
    given["exact own train"] = np.prod(list(factors.values()), axis=0).tolist()
    found = factors_at(table(**given, **{"weight norm": FIRST}), 1.0, ["train"]).loc[("mlp", "train")]
    assert found["trace"] == pytest.approx(found["loss"] * found["spread"] * found["sensitivity"])
    assert found["loss"] == pytest.approx(np.sqrt(2 * 4))
    assert found["weights"] == pytest.approx(found["loss"])
    with pytest.raises(ValueError, match=r"gamma must be one of 0, 1, 2. Got 3"):
        factors_at(table(**given), 3.0, ["train"])


def test_how_many_estimates_are_near():
    parts = [rows("exact own train", [[10.0, 10.0]]), rows("trace own train", [[10.9, 11.1]])]
    both = pd.concat(parts).assign(error=0.5, loss="cross-entropy")
    assert share_within(both) == (1, 2)
    assert share_within(both, 3.0) == (2, 2)
