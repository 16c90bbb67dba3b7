"""Comparing methods, recommending one, and keeping it in a file."""

import json

import numpy as np
import pytest

from focal_lib import calibrator_file, comparison
from focal_lib.calibrators import FocalTemperatureScaling, TemperatureScaling
from focal_lib.logits_file import LogitSet
from focal_lib.maps import focal_log_probs


def drawn(n, temperature, gamma=0.0, classes=5, seed=0):
    """Logits whose labels come from focal temperature scaling with that (gamma, T)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, classes)) * 4
    p = np.exp(focal_log_probs(z / temperature, gamma))
    return LogitSet(z, (p.cumsum(1) > rng.random((n, 1))).argmax(1))


def verdict(temperature, gamma, n=4000, seed=1):
    validation, test = drawn(n, temperature, gamma, seed=seed), drawn(n, temperature, gamma, seed=seed + 1)
    fits = comparison.fit_all(validation)
    found = comparison.differences(fits, test, resamples=200)
    return fits, found, comparison.recommend(found, len(validation))


def test_temperature_is_enough_where_it_is_the_truth():
    fits, found, words = verdict(2.5, 0.0)
    assert fits["temperature"].temperature_ == pytest.approx(2.5, rel=0.1)
    assert words.startswith("Plain temperature scaling is enough")
    assert not found[found["against"] == "temperature"]["real"].any()


def test_focal_temperature_is_recommended_where_it_is_the_truth():
    fits, found, words = verdict(1.0, 6.0, n=20_000)
    assert fits["focal temperature"].gamma_ == pytest.approx(6.0, rel=0.25)
    assert words.startswith("Use focal temperature")
    row = found[(found["method"] == "focal temperature") & (found["metric"] == "nll")].iloc[0]
    assert row["high"] < 0


def test_calibrated_logits_are_left_alone():
    assert "leave them as they are" in verdict(1.0, 0.0, seed=5)[2]


def test_too_few_samples_to_say():
    assert "too few to tell" in verdict(2.5, 0.0, n=120)[2]


def test_metrics_have_intervals():
    fits = comparison.fit_all(drawn(500, 2.0, seed=3))
    table = comparison.compare(fits, drawn(500, 2.0, seed=4), resamples=50)
    inside = table.dropna()
    assert (inside["low"] <= inside["high"]).all()
    assert table.groupby("method")["metric"].nunique().eq(8).all()
    errors = table[(table["metric"] == "error") & ~table["method"].eq("vector")]
    assert errors["value"].nunique() == 1  # temperatures do not change which class is on top


def test_holm():
    assert comparison._holm(np.array([0.04, 0.001, 0.02]), 0.05).tolist() == [True, True, True]
    assert comparison._holm(np.array([0.04, 0.02, 0.03]), 0.05).tolist() == [False, False, False]  # .02 > .05/3


@pytest.mark.parametrize("name", calibrator_file.METHODS)
def test_a_calibrator_reads_back_the_same(tmp_path, name):
    data = drawn(300, 2.0)
    kind = calibrator_file.METHODS[name]
    fitted = kind().fit(data.logits, data.labels)
    calibrator_file.save(fitted, tmp_path / "c.json")
    again = calibrator_file.load(tmp_path / "c.json")
    np.testing.assert_array_equal(again.predict_proba(data.logits), fitted.predict_proba(data.logits))
    assert type(again) is kind


def test_files_that_are_no_calibrators(tmp_path):
    path = tmp_path / "c.json"
    with pytest.raises(ValueError, match="must be fitted"):
        calibrator_file.save(TemperatureScaling(), path)
    with pytest.raises(ValueError, match="calibrator must be one of temperature"):
        calibrator_file.save(object(), path)
    data = drawn(300, 2.0)
    calibrator_file.save(FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels), path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"fitted": content["fitted"] | {"temperature_": 1.0}}))
    with pytest.raises(ValueError, match="must match its checksum"):
        calibrator_file.load(path)
    path.write_text(json.dumps(content | {"format": 2}))
    with pytest.raises(ValueError, match=r"must have format 1. Got 2"):
        calibrator_file.load(path)
    for text in ("[]", "{}", "no json", '{"format": 1}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="must be a calibrator written by focal_lib"):
            calibrator_file.load(path)
