"""What the page of open questions shows of searches, on tables made up; and which runs of the records were searched."""

import numpy as np
import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.studies.calibrators import valley
from reproduction.studies.calibrators.valley import (
    cheap_searches,
    count_searched,
    negative_by_loss,
    over_training_gamma,
    say_missing,
)
from reproduction.studies.shared.recorded import SEARCHED, read_searches


def made_table():
    keys = [("cifar10", "mlp", "cross-entropy", 0.0, s) for s in (0, 1)] + [
        ("cifar10", "mlp", "focal 3", 3.0, s) for s in (0, 1)
    ]
    full = [(-0.9, 1.0, 0.50, 0.52), (0.5, 1.2, 0.50, 0.50), (2.0, 1.0, 0.4, 0.4), (4.0, 1.2, 0.4, 0.4)]
    other = [(0.0, 1.3, 0.51, 0.51), (0.5, 1.2, 0.50, 0.50), (2.0, 1.0, 0.4, 0.4), (4.0, 1.2, 0.4, 0.4)]
    columns = [
        "dataset",
        "model",
        "loss",
        "gamma",
        "seed",
        "search",
        "calibration_gamma",
        "temperature",
        "value",
        "nll",
    ]
    rows = [(*k, n, *v) for n, vs in (("full", full), ("not negative", other)) for k, v in zip(keys, vs, strict=True)]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(seconds=np.where(table["search"] == "full", 6.0, 2.0))


def test_negative_gammas_are_counted_by_loss():
    found = negative_by_loss(made_table()).set_index("loss")
    assert list(found.loc["cross-entropy", ["networks", "negative", "at_end"]]) == [2, 1, 1]
    assert list(found.loc["focal 3", ["networks", "negative", "at_end"]]) == [2, 0, 0]
    assert found.loc["cross-entropy", "validation"] == pytest.approx(-0.005)
    assert found.loc["cross-entropy", "test"] == pytest.approx(0.005)  # worse on test


def test_what_a_cheap_search_gives_up():
    (found,) = cheap_searches(made_table(), ["not negative"]).itertuples()
    assert (found.runs, found.losses, found.seeds, found.faster) == (4, 2, 2, 3)
    assert found.validation == pytest.approx(0.0025)
    assert found.test == pytest.approx(-0.0025)
    assert found.worst == 0
    assert found.low < found.test < found.high


def test_calibration_gamma_over_that_of_training():
    extra = made_table().assign(loss=lambda t: t["loss"].replace("focal 3", "fcl 3 0.5"))
    assert list(over_training_gamma(extra)["gamma"]) == [0.0]  # no loss of another kind
    found = over_training_gamma(made_table()).set_index("gamma")
    assert found.loc[3.0, "mean"] == 3
    assert found.loc[3.0, "high"] == pytest.approx(3 + 12.706204736)  # t of one degree, standard error 1
    assert found.loc[3.0, "low"] == valley.GAMMAS[0]  # that of Student would be below it
    assert found.loc[3.0, "temperature"] == pytest.approx(1.1)
    assert list(found["seeds"]) == [2, 2]
    one = over_training_gamma(made_table().query("seed == 0"))
    assert one["low"].isna().all()


def test_networks_are_not_mixed():
    two = pd.concat([made_table(), made_table().assign(model="resnet8", nll=lambda t: t["nll"] + t["value"])])
    found = cheap_searches(two, ["not negative"]).set_index("model")
    assert list(found.index) == ["mlp", "resnet8"]
    assert found.loc["mlp", "test"] == pytest.approx(-0.0025)
    assert found.loc["resnet8", "test"] == pytest.approx(0)  # 0.0025 more of validation
    assert list(negative_by_loss(two)["networks"]) == [2, 2, 2, 2]


def test_where_runs_are_missing_seeds_have_the_losses_that_all_have():
    table = made_table()
    (found,) = cheap_searches(table[(table["seed"] == 0) | (table["gamma"] == 0)], ["not negative"]).itertuples()
    assert (found.runs, found.losses, found.seeds) == (3, 1, 2)
    assert found.test == pytest.approx(-0.005)
    other = table[(table["seed"] == 0) == (table["gamma"] == 0)]  # each seed a loss of its own
    (found,) = cheap_searches(other, ["not negative"]).itertuples()
    assert (found.losses, found.worst) == (0, 0)
    assert np.isnan([found.test, found.low, found.high]).all()


def test_runs_are_counted_by_record_and_network():
    specs = read_grid(ROOT / "workflow" / "grids" / "fashion-mnist-architectures.yaml")
    table = pd.DataFrame(
        {
            "record": "fashion-mnist-architectures",
            "run": [spec.digest for spec in specs[:2]],
            "loss": [spec.label for spec in specs[:2]],
            "seed": [spec.seed for spec in specs[:2]],
        }
    )
    counts = count_searched(table, ["fashion-mnist-architectures"])
    assert (counts[["losses", "seeds", "planned", "recorded"]] == [2, 4, 8, 8]).all().all()
    assert counts["searched"].sum() == 2
    assert say_missing(table, counts) == "fashion-mnist-architectures, 2 of 24: seed 0 cross-entropy"
    assert say_missing(table, counts.assign(searched=counts["planned"])) == "none"
    none = count_searched(table.iloc[:0], ["fashion-mnist-architectures"])
    assert say_missing(table.iloc[:0], none) == "fashion-mnist-architectures, 0 of 24"


def test_searched_are_recorded_runs_and_all_of_records_that_are_whole():
    found = read_searches()
    assert set(found["record"]) == set(SEARCHED)
    counts = count_searched(found, SEARCHED)
    assert counts["searched"].sum() == found["run"].nunique()
    assert (counts["searched"] <= counts["recorded"]).all()
    whole = counts[counts["recorded"] == counts["planned"]]
    assert (whole["searched"] == whole["planned"]).all()
    assert (counts["searched"] > 0).all()
