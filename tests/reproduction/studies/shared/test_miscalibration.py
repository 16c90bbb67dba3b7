"""Gaps and temperatures of runs, against metrics and calibrators; ECEs that chance makes, against drawn labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics import calibration_p_value
from focal_lib.metrics.bins import adaptive_ece, adaptive_ece_of, ece, ece_of
from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.shared import miscalibration
from reproduction.studies.shared.miscalibration import (
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


def test_gaps_before_and_after_the_map(made_results):
    frame = miscalibration.confidence_gaps(made_results)
    assert len(frame) == 2 * len(made_results)
    first = frame[(frame["split"] == "test") & (frame["gamma"] == 0) & (frame["seed"] == 0)].iloc[0]
    probs = softmax(made_results[0].test.logits.astype(float), -1)
    assert first["adaptive_ece"] == pytest.approx(adaptive_ece(probs, made_results[0].test.labels))
    assert first["gap"] == pytest.approx(first["confidence"] - first["accuracy"])
    assert first["mapped_gap"] == first["gap"]  # gamma 0: no map
    of_test = miscalibration.confidence_gaps(made_results, ["test"])
    pd.testing.assert_frame_equal(of_test, frame[frame["split"] == "test"].reset_index(drop=True))
    focal = frame[frame["gamma"] == 3]
    assert (focal["mapped_confidence"] > focal["confidence"]).all()


def test_reliability_takes_all_seeds_of_a_loss_together(made_results):
    label = made_results[0].spec.label
    runs = [run for run in made_results if run.spec.label == label]
    halved = {(label, run.spec.seed): 2.0 for run in runs}
    for temperatures, t in ((None, 1.0), (halved, 2.0)):
        bins = miscalibration.reliability_by_loss(made_results, [label], temperatures)[label]
        probs = np.concatenate([softmax(run.test.logits.astype(float) / t, -1) for run in runs])
        labels = np.concatenate([run.test.labels for run in runs])
        assert bins.count.sum() == len(labels)
        right = bins.accuracy @ bins.count / len(labels)
        assert right == pytest.approx((probs.argmax(-1) == labels).mean())
        gap = np.abs(bins.accuracy - bins.confidence) @ bins.count / len(labels)
        assert gap == pytest.approx(ece(probs, labels))
    with pytest.raises(ValueError, match=r"Got none of focal 99"):
        miscalibration.reliability_by_loss(made_results, ["focal 99"])


def test_only_focal_losses_of_one_gamma_have_the_map_of_training(make_result):
    others = {"flsd-53": {}, "fcl": {"gamma": 3, "lam": 0.5}, "dual-focal": {"gamma": 3}}
    runs = [make_result(loss, 0, **own) for loss, own in others.items()]
    for some in (runs, [make_result("focal", 0, gamma=3), *runs]):
        fits, gaps = miscalibration.validation_temperatures(some), miscalibration.confidence_gaps(some, ["test"])
        mapped = fits["mapped_temperature"].tolist(), gaps["mapped_gap"].tolist(), gaps["mapped_confidence"].tolist()
        for values in mapped:
            assert np.isnan(values).tolist() == [not run.startswith("focal ") for run in fits["loss"]]
        assert fits["temperature"].notna().all()
        assert gaps[["confidence", "gap", "adaptive_ece"]].notna().all(axis=None)


def test_validation_temperatures(made_results):
    frame = miscalibration.validation_temperatures(made_results[:2])
    mapped = focal_log_probs(made_results[1].validation.logits.astype(float), made_results[1].spec.gamma)
    fit = TemperatureScaling("nll").fit(mapped, made_results[1].validation.labels)
    assert frame["mapped_temperature"][1] == pytest.approx(fit.temperature_)
    run = made_results[1].validation
    assert frame["temperature"].iloc[1] == TemperatureScaling("nll").fit(run.logits, run.labels).temperature_
