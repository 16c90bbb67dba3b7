"""Calibrators against focal temperature scaling: by their definitions, on runs made up; the record."""

import numpy as np
import pandas as pd
import pytest

from focal_lib import metrics
from focal_lib.calibration.methods import METHODS, build
from reproduction.engine.grids import read_grid
from reproduction.studies import shared
from reproduction.studies.calibrators.calibrators_compared import (
    CALIBRATOR_CONTRASTS,
    FIRST_CONTRASTS,
    LEFT_OUT,
    LOSSES,
    OTHERS,
    compare_calibrators,
    count_clear,
)
from reproduction.studies.shared.recorded import load_recorded, read_small_comparison, read_table


@pytest.fixture(scope="module")
def compared(made_results):
    return compare_calibrators(made_results[:2], ("temperature", "vector"))


def test_scores_are_those_of_the_fitted_calibrator(compared, made_results):
    run = made_results[1]
    probs = (
        build("vector").fit(run.validation.logits, run.validation.labels).predict_proba(run.test.logits.astype(float))
    )
    own = compared[(compared["seed"] == 1) & (compared["method"] == "vector")].set_index("metric")["value"]
    assert own["nll"] == pytest.approx(metrics.nll(probs, run.test.labels))
    assert own["brier"] == pytest.approx(metrics.brier(probs, run.test.labels))
    assert own["error"] == pytest.approx((probs.argmax(-1) != run.test.labels).mean())


def test_differences_are_to_focal_temperature_scaling(compared):
    wide = compared.pivot(index=["seed", "metric"], columns="method", values=["value", "difference"])
    np.testing.assert_allclose(
        wide["difference", "vector"], wide["value", "vector"] - wide["value", "focal-temperature"], atol=1e-12
    )
    assert (wide["difference", "focal-temperature"] == 0).all()
    errors = compared[(compared["method"] == "temperature") & (compared["metric"] == "error")]
    assert errors["p"].isna().all()  # no temperature changes a class
    assert (compared.dropna(subset="p").eval("low < difference < high")).all()


def test_clearly_better_is_after_holm():
    base = {"dataset": "d", "metric": "nll", "seed": 0}
    rows = [
        {"method": "a", "difference": -0.1, "p": 0.001},
        {"method": "b", "difference": 0.1, "p": 0.02},
        {"method": "c", "difference": 0.1, "p": 0.04},
        {"method": "focal-temperature", "difference": 0.0, "p": np.nan},
    ]
    found = count_clear(pd.DataFrame([base | row for row in rows]), "nll").set_index("method")
    assert list(found["better"]) == [1, 0, 0]
    assert list(found["worse"]) == [0, 1, 1]  # 3 x .001, 2 x .02, .04
    rows[1]["p"] = 0.03
    found = count_clear(pd.DataFrame([base | row for row in rows]), "nll").set_index("method")
    assert list(found["worse"]) == [0, 0, 0]  # 2 x .03 is above, and all after it


def test_contrasts_cover_what_is_compared():
    assert set(LOSSES) == {spec.label for spec in read_grid("workflow/grids/cifar10-resnet18.yaml")}
    assert set(LOSSES) <= {spec.label for spec in read_grid("workflow/grids/cifar10-resnet8.yaml")}  # as first asked
    assert [c.primary for c in CALIBRATOR_CONTRASTS].count(True) == 1
    assert {c.theirs.method for c in CALIBRATOR_CONTRASTS} == set(OTHERS)
    assert set(LEFT_OUT) | set(OTHERS) | {"focal-temperature"} == set(METHODS) | {"splines"}


def test_what_was_asked_first_stays_on_record():
    """Of all the small networks, whose logits are not all kept: the table cannot be made again."""
    kept = read_small_comparison()
    planned = read_grid("workflow/grids/cifar10-resnet8.yaml")
    runs = kept[["loss", "seed"]].drop_duplicates().itertuples(index=False, name=None)
    assert set(runs) == {(spec.label, spec.seed) for spec in planned}
    assert len(kept) == len(planned) * (len(OTHERS) + 1) * 3
    assert not kept["commit"].str.endswith("-dirty").any()
    assert {c.ours.losses for c in FIRST_CONTRASTS} == {tuple(dict.fromkeys(spec.label for spec in planned))}
    ours, first = (shared.recorded.read_table("cifar10-resnet8"), kept)
    both = first[first["method"] == "temperature"].merge(ours, on=["loss", "seed", "method", "objective", "metric"])
    assert len(both) == 3 * len(planned)
    per_cent = np.where(both["metric"] == "error", 100, 1)
    np.testing.assert_allclose(both["value_x"] * per_cent, both["value_y"], rtol=1e-4)


def test_the_record_has_every_network_and_is_what_fits_give_today():
    kept = read_table("open-questions")
    recorded = (run for name in ("cifar10-record", "cifar100-record") for run in load_recorded(name))
    runs = [run for run in recorded if run.spec.label in LOSSES]
    assert len(kept) == len(runs) * (len(OTHERS) + 1) * 3
    assert np.isfinite(kept["value"]).all()
    assert not kept["commit"].str.endswith("-dirty").any()
    again = compare_calibrators(runs[1:2], ("vector",))
    keys = ["dataset", "loss", "seed", "method", "metric"]
    both = kept.merge(again, on=keys, suffixes=("", "_again"))
    assert len(both) == 6
    for column in ("value", "difference", "low", "high"):
        pd.testing.assert_series_equal(both[column], both[f"{column}_again"], rtol=1e-3, atol=1e-5, check_names=False)
