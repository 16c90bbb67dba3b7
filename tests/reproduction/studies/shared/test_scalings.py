"""Scalings of runs, against the calibrators and metrics they are made of."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.metrics.bins import adaptive_ece
from focal_lib.metrics.scores import nll
from reproduction.studies.shared import scalings
from reproduction.studies.shared.miscalibration import validation_temperatures
from reproduction.studies.shared.recorded import BOOK, load_recorded, read_scalings


@pytest.fixture(scope="module")
def compared(made_results):
    return scalings.compare_scaling(made_results[3:5])  # cross-entropy and gamma 3


def test_scalings_in_long_form(made_results, compared):
    assert compared[["method", "objective", "search"]].drop_duplicates().to_numpy().tolist() == [
        ["none", "", ""],
        ["temperature", "nll", "newton"],
        ["focal-temperature", "nll", "newton"],
        ["temperature", "adaptive-ece", "grid"],
        ["focal-temperature", "adaptive-ece", "grid"],
        ["focal-temperature", "adaptive-ece", "line"],
    ]
    run = made_results[4]
    row = compared.query("gamma == 3 and search == 'line'").iloc[0]
    fit = FocalTemperatureScaling("adaptive-ece", "line").fit(run.validation.logits, run.validation.labels)
    probs = fit.predict_proba(run.test.logits.astype(float))
    assert (row["temperature"], row["calibration_gamma"], row["value"]) == (
        fit.temperature_,
        fit.gamma_,
        fit.objective_,
    )
    assert row["adaptive_ece"] == pytest.approx(adaptive_ece(probs, run.test.labels))
    assert row["nll"] == pytest.approx(nll(probs, run.test.labels))
    by_grid = compared.query("gamma == 3 and search == 'grid' and method == 'focal-temperature'").iloc[0]
    assert by_grid["value"] <= row["value"]  # the grid holds the line


def test_the_table_on_record_is_what_the_runs_give():
    """Of the first run and the last: every column but the seconds."""
    runs, kept = load_recorded(BOOK), read_scalings()
    key = ["loss", "gamma", "seed", "method", "objective", "search"]
    assert len(kept) == len(runs) * len(scalings.FITS)
    assert not kept.duplicated(key).any()
    again = scalings.compare_scaling([runs[0], runs[-1]]).set_index(key).drop(columns="seconds")
    pd.testing.assert_frame_equal(kept.set_index(key).loc[again.index, again.columns], again, rtol=1e-6)


def test_only_the_fits_that_are_asked_for_are_made(make_result, monkeypatch):
    run, made = make_result("focal", 7, gamma=1), []
    build = scalings.build
    monkeypatch.setattr(scalings, "build", lambda *given, **options: made.append(given) or build(*given, **options))
    by_ece = [scaling for scaling in scalings.FITS if scaling[:2] == ("temperature", "adaptive-ece")]
    frame = scalings.compare_scaling([run], by_ece)
    assert made == [("temperature", "adaptive-ece")]
    again = scalings.compare_scaling([run], scalings.FITS[:4])
    assert made[1:] == [("temperature", "nll"), ("focal-temperature", "nll")]
    assert frame.iloc[0].equals(again.iloc[3].rename(0))


def test_temperature_by_nll_for_a_gamma(made_results):
    result = made_results[0]
    found = validation_temperatures([result])["temperature"][0]
    assert scalings.nll_temperature(result, 0.0) == pytest.approx(found, rel=2e-4)
    grid = FocalTemperatureScaling("nll", gammas=(1.0,), temperatures=np.arange(0.1, 10, 0.01))
    fit = grid.fit(result.validation.logits, result.validation.labels)
    assert scalings.nll_temperature(result, 1.0) == pytest.approx(fit.temperature_, abs=0.0051)


def test_temperature_for_each_gamma_rises(made_results):
    found = scalings.temperature_by_gamma(made_results[0], [0.0, 0.5, 1.0])
    assert np.all(np.diff(found) > 0)  # the map raises confidence


def test_temperature_lines_are_of_the_first_seed_of_each_plain_loss(made_results):
    found = scalings.temperature_lines(made_results[::-1], [0.0, 1.0])
    plain = [run for run in made_results if run.spec.loss == "focal"]
    assert list(found) == [run.spec.label for run in sorted(plain, key=lambda r: r.spec.gamma) if run.spec.seed == 0]
    for label, best in found.items():
        first = next(run for run in plain if run.spec.label == label and run.spec.seed == 0)
        assert (best == scalings.temperature_by_gamma(first, [0.0, 1.0])).all()


def test_straightness_of_a_line_and_of_what_is_none():
    assert scalings.straightness([0, 1, 2], [1, 3, 5]) == pytest.approx((1, 0))
    r2, off = scalings.straightness([-1, 0, 1], [0, 3, 0])  # the best line is y = 1
    assert (r2, off) == pytest.approx((0, 2))
    assert np.isnan(scalings.straightness([0, 1], [2, 2])[0])
