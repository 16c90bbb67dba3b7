"""The advice: what is recommended where the truth is known, and what never is."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.calibration.comparison import differences, hold_out
from focal_lib.calibration.methods import ALL, AS_GIVEN, DEFAULT, TEMPERATURE, Method, build
from focal_lib.calibration.recommendation import advise, describe_fits
from focal_lib.theory.maps import focal_log_probs

FOCAL, BY_ECE, VECTOR = Method("focal-temperature", "nll"), Method("focal-temperature", "adaptive-ece"), DEFAULT[3]
BY_NLL = TEMPERATURE, FOCAL, VECTOR  # quick to fit


@pytest.fixture(scope="session")
def judge(draw_logits):
    """Evaluation, differences and advice for samples drawn from focal temperature scaling."""

    def run(temperature, gamma, n=4000, seed=1, methods=BY_NLL):
        validation, test = (draw_logits(n, temperature, gamma, seed=s) for s in (seed, seed + 1))
        evaluation = hold_out(validation, test, {method: build(*method) for method in methods})
        found = differences(evaluation, resamples=200)
        return evaluation, found, advise(found, evaluation.n_fit, evaluation.n_test)

    return run


def test_temperature_is_enough_where_it_is_the_truth(judge):
    evaluation, found, advice = judge(2.5, 0.0)
    assert evaluation.fits[TEMPERATURE].temperature_ == pytest.approx(2.5, rel=0.1)
    assert advice.method == TEMPERATURE
    assert advice.words.startswith("Plain temperature scaling is enough")
    assert not found[found["reference"] == "temperature"]["significant"].any()
    gain = found[(found["reference"] == "as given") & (found["metric"] == "nll")].iloc[0]  # the first method's
    assert f"the NLL falls by {-gain['difference']:.3g}" in advice.words
    assert "the ECE (equal mass) falls by" in advice.words
    assert "95 % intervals allow at most" in advice.words


def test_focal_temperature_is_recommended_where_it_is_the_truth(judge):
    evaluation, found, advice = judge(1.0, 6.0, n=20_000)
    assert evaluation.fits[FOCAL].gamma_ == pytest.approx(6.0, rel=0.25)
    assert advice.method == FOCAL
    assert advice.words.startswith("Use focal-temperature rather than temperature: ")
    row = found[(found["method"] == FOCAL.name) & (found["metric"] == "nll")].iloc[0]
    assert row["high"] < 0


def test_calibrated_logits_are_left_alone(judge):
    advice = judge(1.0, 0.0, seed=5)[2]
    assert advice.method is None
    assert "Leave the logits as they are" in advice.words


def test_too_few_samples_to_say(judge):
    advice = judge(2.5, 0.0, n=300)[2]
    assert advice.words.startswith("300 samples to fit on and 300 to test on are too few to tell")
    assert "use plain temperature scaling" in advice.words
    assert "get more, or leave the logits" in judge(1.0, 0.0, n=100)[2].words


def test_an_infinite_nll_is_said_and_not_recommended(judge):
    pytest.importorskip("betacal")
    evaluation, found, advice = judge(2.5, 0.0, n=1500, methods=ALL)
    infinite = found[(found["method"] == "isotonic") & (found["metric"] == "nll")].iloc[0]
    assert infinite["difference"] == np.inf
    assert infinite["significant"]
    assert "isotonic" not in advice.words
    assert any(note.startswith("isotonic:") and "probability 0" in note for note in describe_fits(evaluation))


def test_notes_say_what_a_reader_should_know(draw_logits):
    z = draw_logits(600, 1.0, 8.0, classes=6)
    some = z.take(np.flatnonzero(z.labels != 4))
    methods = {method: build(*method) for method in (TEMPERATURE, BY_ECE, VECTOR)}
    methods[BY_ECE].set_params(gammas=(0.0, 0.5))
    evaluation = hold_out(some, z, methods)
    assert evaluation.unseen == (4,)
    notes = describe_fits(evaluation)
    assert any("Classes without a sample to fit on: 4." in note for note in notes)
    assert any("gamma is the largest that was tried" in note for note in notes)
    assert any("optimum of the whole grid, proved" in note for note in notes)
    share = evaluation.lowered[BY_ECE]
    assert any(f"lowers the top probability of {share:.1%}" in note for note in notes)
    fit = evaluation.fits[BY_ECE]
    before = np.exp(focal_log_probs(z.logits / fit.temperature_, 0.0)).max(1)
    assert share == pytest.approx((fit.predict_proba(z.logits).max(1) < before).mean())
    assert sum(note.startswith("temperature:") for note in notes) == 1


# --- tables made up ----------------------------------------------------------------------


def frame(*rows):
    columns = ["method", "objective", "reference", "metric", "difference", "low", "high", "p", "significant"]
    return pd.DataFrame(rows, columns=columns)


def row(method, reference, metric, difference, significant=True):
    p = 0.001 if significant else 0.5
    return *method, reference.name, metric, difference, difference - 0.1, difference + 0.1, p, significant


def test_what_beats_a_bad_first_method_but_not_none_is_not_recommended():
    found = frame(
        row(TEMPERATURE, AS_GIVEN, "adaptive-ece", 5.0),
        row(VECTOR, AS_GIVEN, "adaptive-ece", 4.0),
        row(VECTOR, TEMPERATURE, "adaptive-ece", -1.0),
    )
    assert advise(found, 5000, 5000).method is None


def test_a_first_method_that_harms_in_one_metric_is_not_recommended():
    found = frame(row(TEMPERATURE, AS_GIVEN, "adaptive-ece", -1.0), row(TEMPERATURE, AS_GIVEN, "nll", 0.5))
    assert advise(found, 5000, 5000).method is None


def test_few_samples_never_bring_another_method():
    found = frame(
        row(TEMPERATURE, AS_GIVEN, "nll", -0.5),
        row(VECTOR, AS_GIVEN, "nll", -0.9),
        row(VECTOR, TEMPERATURE, "nll", -0.4),
    )
    assert advise(found, 5000, 5000).method == VECTOR
    assert advise(found, 5000, 100).method == TEMPERATURE
    assert advise(found, 100, 5000).method == TEMPERATURE


def test_one_name_by_two_objectives_is_two_methods():
    found = frame(
        row(TEMPERATURE, AS_GIVEN, "nll", -0.5),
        row(FOCAL, AS_GIVEN, "nll", -0.5),
        row(BY_ECE, AS_GIVEN, "nll", -0.5),
        row(FOCAL, TEMPERATURE, "nll", -0.1),
        row(FOCAL, TEMPERATURE, "adaptive-ece", 0.4),
        row(BY_ECE, TEMPERATURE, "adaptive-ece", -0.4),
    )
    advice = advise(found, 5000, 5000)
    assert advice.method == BY_ECE
    assert advice.words.startswith(
        "Use focal-temperature by adaptive-ece rather than temperature: the ECE (equal mass)"
    )
    assert "NLL" not in advice.words  # that gain is of the other objective
