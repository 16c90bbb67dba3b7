"""Comparing methods, recommending one, and keeping it in a file."""

import json

import numpy as np
import pandas as pd
import pytest

from focal_lib.calibration import comparison, recommendation, saved
from focal_lib.calibration.calibrators import FocalTemperatureScaling, TemperatureScaling
from focal_lib.calibration.logits_file import LogitSet
from focal_lib.results.over_seeds import METRICS
from focal_lib.theory.maps import focal_log_probs


def drawn(n, temperature, gamma=0.0, classes=5, seed=0):
    """Logits whose labels come from focal temperature scaling with that (gamma, T)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, classes)) * 4
    p = np.exp(focal_log_probs(z / temperature, gamma))
    return LogitSet(z, (p.cumsum(1) > rng.random((n, 1))).argmax(1))


def verdict(temperature, gamma, n=4000, seed=1, methods=None):
    validation, test = drawn(n, temperature, gamma, seed=seed), drawn(n, temperature, gamma, seed=seed + 1)
    evaluation = comparison.hold_out(validation, test, methods)
    found = comparison.differences(evaluation, resamples=200)
    return evaluation, found, recommendation.advise(found, evaluation.rows, evaluation.tested).words


def test_temperature_is_enough_where_it_is_the_truth():
    evaluation, found, words = verdict(2.5, 0.0)
    assert evaluation.fits["temperature"].temperature_ == pytest.approx(2.5, rel=0.1)
    assert words.startswith("Plain temperature scaling is enough")
    assert not found[found["against"] == "temperature"]["real"].any()
    gain = found[(found["against"] == comparison.BEFORE) & (found["metric"] == "nll")].iloc[0]  # the first method's
    assert f"NLL falls by {-gain['difference']:.3g}" in words
    assert "leave room for at most" in words


def test_focal_temperature_is_recommended_where_it_is_the_truth():
    evaluation, found, words = verdict(1.0, 6.0, n=20_000)
    assert evaluation.fits["focal temperature"].gamma_ == pytest.approx(6.0, rel=0.25)
    assert words.startswith("Use focal temperature")
    row = found[(found["method"] == "focal temperature") & (found["metric"] == "nll")].iloc[0]
    assert row["high"] < 0


def test_calibrated_logits_are_left_alone():
    assert "Leave the logits as they are" in verdict(1.0, 0.0, seed=5)[2]


def test_too_few_samples_to_say():
    words = verdict(2.5, 0.0, n=300)[2]
    assert words.startswith("300 rows to fit on and 300 to test on are too few to tell")
    assert "use plain temperature scaling" in words
    assert "get more, or leave the logits" in verdict(1.0, 0.0, n=100)[2]


def test_metrics_have_intervals_and_are_those_of_the_probabilities():
    validation, test = drawn(500, 2.0, seed=3), drawn(500, 2.0, seed=4)
    evaluation = comparison.hold_out(validation, test)
    table = comparison.compare(evaluation, resamples=50)
    inside = table.dropna()
    assert (inside["low"] <= inside["high"]).all()
    assert set(table["metric"]) - set(inside["metric"]) == {"smooth-ece"}
    assert table.groupby("method")["metric"].nunique().eq(8).all()
    errors = table[(table["metric"] == "error") & ~table["method"].eq("vector")]
    assert errors["value"].nunique() == 1  # temperatures do not change which class is on top
    probs = evaluation.fits["vector"].predict_proba(test.logits)
    row = table[table["method"] == "vector"].set_index("metric")["value"]
    for metric, function in METRICS.items():
        assert row[metric] == pytest.approx(function(probs, test.labels), rel=1e-9)


def test_cross_fitting_scores_every_row_once_by_fits_that_have_not_seen_it():
    data = drawn(400, 2.0)
    evaluation = comparison.cross_fit(data, comparison.named(["matrix"]), folds=4)
    assert (evaluation.rows, evaluation.tested, evaluation.folds) == (400, 400, 4)
    own = comparison.hold_out(data, data, comparison.named(["matrix"]))
    assert evaluation.scores["matrix"].log_loss.mean() > own.scores["matrix"].log_loss.mean()  # honest: worse
    same = [np.sort(e.scores[comparison.BEFORE].log_loss) for e in (evaluation, own)]
    np.testing.assert_allclose(*same)
    np.testing.assert_array_equal(evaluation.fits["matrix"].weight_, own.fits["matrix"].weight_)  # kept: of all rows
    for folds, message in ((1, "at least 2"), (399, "at most")):
        with pytest.raises(ValueError, match=message):
            comparison.cross_fit(data, folds=folds)


def test_methods_by_name():
    assert list(comparison.from_text("")) == list(comparison.DEFAULT)
    assert list(comparison.from_text("isotonic, matrix")) == ["temperature", "matrix", "isotonic"]
    assert list(comparison.from_text("all")) == list(comparison.METHODS)
    assert comparison.from_text("focal temperature", 2.0)["focal temperature"].shrinkage == 2.0
    with pytest.raises(ValueError, match=r"methods must be among temperature, .* Got platt"):
        comparison.from_text("platt")


def test_an_infinite_nll_is_shown_and_not_recommended():
    pytest.importorskip("betacal")
    evaluation, found, words = verdict(2.5, 0.0, n=1500, methods=comparison.from_text("all"))
    none = found[(found["method"] == "isotonic") & (found["metric"] == "nll")].iloc[0]
    assert none["difference"] == np.inf
    assert none["real"]
    assert "isotonic" not in words
    assert any(note.startswith("isotonic:") and "probability 0" in note for note in recommendation.notes(evaluation))
    assert "inf" in comparison.as_text(comparison.compare(evaluation, 50)).loc["isotonic", "nll"]


def test_notes_say_what_a_reader_should_know():
    z = drawn(600, 1.0, 8.0, classes=6)
    some = z.take(np.flatnonzero(z.labels != 4))
    methods = comparison.named(["focal temperature by ECE", "vector"])
    methods["focal temperature by ECE"].set_params(gammas=(0.0, 0.5))
    evaluation = comparison.hold_out(some, z, methods)
    notes = recommendation.notes(evaluation)
    assert any("Classes without a row to fit on: 4." in note for note in notes)
    assert any("gamma is the largest that was tried" in note for note in notes)
    assert any("optimum of the whole grid, proved" in note for note in notes)
    share = evaluation.lowered["focal temperature by ECE"]
    assert any(f"lowers the top probability in {share:.1%}" in note for note in notes)
    fit = evaluation.fits["focal temperature by ECE"]
    before = np.exp(focal_log_probs(z.logits / fit.temperature_, 0.0)).max(1)
    assert share == pytest.approx((fit.predict_proba(z.logits).max(1) < before).mean())


def frame(*rows):
    columns = ["method", "against", "metric", "difference", "low", "high", "p", "real"]
    return pd.DataFrame(rows, columns=columns)


def row(method, against, metric, difference, real=True):
    return method, against, metric, difference, difference - 0.1, difference + 0.1, 0.001 if real else 0.5, real


def test_what_beats_a_bad_first_method_but_not_none_is_not_recommended():
    found = frame(
        row("temperature", "as given", "adaptive-ece", 5.0),
        row("vector", "as given", "adaptive-ece", 4.0),
        row("vector", "temperature", "adaptive-ece", -1.0),
    )
    assert recommendation.advise(found, 5000, 5000).method is None


def test_a_first_method_that_harms_in_one_metric_is_not_recommended():
    found = frame(
        row("temperature", "as given", "adaptive-ece", -1.0),
        row("temperature", "as given", "nll", 0.5),
    )
    assert recommendation.advise(found, 5000, 5000).method is None


def test_few_rows_never_bring_another_method():
    found = frame(
        row("temperature", "as given", "nll", -0.5),
        row("vector", "as given", "nll", -0.9),
        row("vector", "temperature", "nll", -0.4),
    )
    assert recommendation.advise(found, 5000, 5000).method == "vector"
    assert recommendation.advise(found, 5000, 100).method == "temperature"
    assert recommendation.advise(found, 100, 5000).method == "temperature"


def test_log_loss_of_far_logits_is_finite():
    z = np.array([[1e4, 0.0, 0.0], [0.0, 1e4, 0.0]] * 20)
    data = LogitSet(z, np.array([0, 1] * 19 + [2, 2]))
    evaluation = comparison.hold_out(data, data, comparison.named(["temperature"]))
    assert evaluation.scores[comparison.BEFORE].log_loss.max() == 1e4


def test_folds_need_two_classes_in_each():
    z = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="two classes must have at least 2 rows each"):
        comparison.cross_fit(LogitSet(z, np.array([0] * 19 + [1])), folds=5)


def test_differences_as_text():
    _, found, _ = verdict(2.5, 0.0, n=600)
    text = comparison.differences_as_text(found)
    assert text.columns.tolist() == ["adaptive-ece", "nll"]
    assert len(text) == len(found) / 2
    one = found[(found["metric"] == "nll") & (found["against"] == comparison.BEFORE)].iloc[0]
    cell = text.loc[("temperature", comparison.BEFORE), "nll"]
    assert cell == f"{one['difference']:.3f} [{one['low']:.3f}, {one['high']:.3f}] real"


def test_holm():
    assert comparison._holm(np.array([0.04, 0.001, 0.02]), 0.05).tolist() == [True, True, True]
    assert comparison._holm(np.array([0.04, 0.02, 0.03]), 0.05).tolist() == [False, False, False]  # .02 > .05/3


@pytest.mark.parametrize("name", saved.METHODS)
def test_a_calibrator_reads_back_the_same(tmp_path, name):
    data = drawn(300, 2.0)
    kind = saved.METHODS[name]
    fitted = kind().fit(data.logits, data.labels)
    saved.save(fitted, tmp_path / "c.json")
    again = saved.load(tmp_path / "c.json")
    np.testing.assert_array_equal(again.predict_proba(data.logits), fitted.predict_proba(data.logits))
    assert type(again) is kind


def test_files_that_are_no_calibrators(tmp_path):
    path = tmp_path / "c.json"
    with pytest.raises(ValueError, match="must be fitted"):
        saved.save(TemperatureScaling(), path)
    with pytest.raises(ValueError, match="calibrator must be one of temperature"):
        saved.save(object(), path)
    data = drawn(300, 2.0)
    saved.save(FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels), path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"fitted": content["fitted"] | {"temperature_": 1.0}}))
    with pytest.raises(ValueError, match="must match its checksum"):
        saved.load(path)
    path.write_text(json.dumps(content | {"format": 2}))
    with pytest.raises(ValueError, match=r"must have format 1. Got 2"):
        saved.load(path)
    for text in ("[]", "{}", "no json", '{"format": 1}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="must be a calibrator written by focal_lib"):
            saved.load(path)
