"""ECEs that chance makes, against labels drawn from the probabilities themselves."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics import calibration_p_value
from focal_lib.metrics.bins import adaptive_ece_of, ece_of
from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.shared.if_calibrated import (
    calibration_p_values,
    eces_if_calibrated,
    format_beside_calibrated,
)
from reproduction.studies.shared.over_seeds import measure

SCALINGS = [("none", ""), ("temperature", "ece"), ("focal-temperature", "adaptive-ece")]


@pytest.fixture(scope="module")
def table(made_results):
    return measure(made_results[:2], SCALINGS)


def test_values_are_those_of_labels_drawn_from_the_confidences(made_results, table):
    found = eces_if_calibrated(made_results[:2], table)
    assert set(found["metric"]) == {"ece", "adaptive-ece"}
    columns = ["loss", "seed", "method", "objective", "metric"]
    kept = table[table["metric"].isin(["ece", "adaptive-ece"])]
    pd.testing.assert_frame_equal(found[columns], kept[columns])
    rng, run = np.random.default_rng(1), made_results[0]
    for (method, metric), of in {
        ("none", "ece"): ece_of,
        ("focal-temperature", "adaptive-ece"): adaptive_ece_of,
    }.items():
        of_run = found[found["seed"] == run.spec.seed].set_index(["method", "metric"])
        row = of_run.loc[[(method, metric)]].iloc[0]
        logits = run.test.logits.astype(float) / row["temperature"]
        top = np.exp(focal_log_probs(logits, row["calibration_gamma"])).max(1)
        drawn = [of(top, rng.random(len(top)) < top) for _ in range(300)]
        assert row["value"] == pytest.approx(100 * np.mean(drawn), rel=0.1)


def test_p_values_are_those_of_the_test_of_calibration(made_results, table):
    found = calibration_p_values(made_results[:2], table)
    assert set(found["metric"]) == {"adaptive-ece"}
    for _, row in found.iterrows():
        run = next(run for run in made_results if (run.spec.label, run.spec.seed) == (row["loss"], row["seed"]))
        logits = run.test.logits.astype(float) / row["temperature"]
        probs = np.exp(focal_log_probs(logits, row["calibration_gamma"]))
        assert row["value"] == calibration_p_value(probs, run.test.labels, seed=run.spec.seed)


def test_a_run_that_is_not_given_is_missed(made_results, table):
    with pytest.raises(KeyError):
        eces_if_calibrated(made_results[:1], table)


def test_beside_what_was_found(made_results, table):
    found = format_beside_calibrated(table, eces_if_calibrated(made_results[:2], table), "focal-temperature")
    assert found.columns.tolist() == [
        (f"{name} (%)", whose) for name in ("ECE", "adaptive ECE") for whose in ("here", "if calibrated")
    ]
    here = table.query("metric == objective == 'adaptive-ece' and method == 'focal-temperature'")["value"]
    assert found["adaptive ECE (%)", "here"].iloc[0] == f"{here.mean():.2f} ± {here.std():.2f}"
