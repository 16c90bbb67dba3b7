"""Methods compared: intervals, cross-fitting, differences and their significance."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE, Method, build
from focal_lib.metrics.bins import adaptive_ece
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.scores import brier, nll
from focal_lib.tool.evaluation import comparison

MATRIX, VECTOR = Method("matrix", "nll"), Method("vector", "nll")
FOCAL, BY_ECE = Method("focal-temperature", "nll"), Method("focal-temperature", "adaptive-ece")


def built(*methods):
    return {method: build(*method) for method in (TEMPERATURE, *methods)}


@pytest.fixture(scope="module")
def held_out(draw_logits):
    """Evaluation of four methods, and the test set."""
    validation, test = draw_logits(500, 2.0, seed=3), draw_logits(500, 2.0, seed=4)
    return comparison.hold_out(validation, test, built(FOCAL, BY_ECE, VECTOR)), test


def test_metrics_have_intervals_and_are_those_of_the_probabilities(held_out):
    evaluation, test = held_out
    table = comparison.measure(evaluation, resamples=50)
    assert list(table["metric"].unique()) == list(METRICS)
    assert (table.groupby(["method", "objective"])["metric"].nunique() == len(METRICS)).all()
    inside = table.dropna()
    assert (inside["low"] <= inside["high"]).all()
    assert set(table["metric"]) - set(inside["metric"]) == {"smooth-ece"}
    errors = table[(table["metric"] == "error") & ~table["method"].eq("vector")]
    assert errors["value"].nunique() == 1  # temperatures do not change which class is on top
    for method in (VECTOR, BY_ECE):
        probs = evaluation.fits[method].predict_proba(test.logits)
        own = table[(table["method"] == method.name) & (table["objective"] == method.objective)]
        for name, value in zip(own["metric"], own["value"], strict=True):
            assert value == pytest.approx(METRICS[name].shown(probs, test.labels), rel=1e-9)


def test_each_interval_says_how_it_was_made(held_out):
    table = comparison.measure(held_out[0], resamples=50)
    kinds = {name: set(part) for name, part in table.groupby("metric")["interval"]}
    for name in ("error", "nll", "brier"):
        assert kinds[name] == {"exact binomial" if name == "error" else "percentile bootstrap"}
    for name in ("ece", "adaptive-ece", "mce"):
        assert kinds[name] == {"inverted test"}
    assert kinds["classwise-ece"] == {"bounds"}
    assert kinds["smooth-ece"] == {""}


def test_cross_fitting_scores_every_sample_once_by_fits_that_have_not_seen_it(draw_logits):
    data = draw_logits(400, 2.0)
    evaluation = comparison.cross_fit(data, built(MATRIX), folds=4)
    assert (evaluation.n_fit, evaluation.n_test, evaluation.folds) == (400, 400, 4)
    own = comparison.hold_out(data, data, built(MATRIX))
    assert evaluation.scores[MATRIX].log_loss.mean() > own.scores[MATRIX].log_loss.mean()  # honest: worse
    same = [np.sort(e.scores[AS_GIVEN].log_loss) for e in (evaluation, own)]
    np.testing.assert_allclose(*same)
    np.testing.assert_array_equal(evaluation.fits[MATRIX].weight_, own.fits[MATRIX].weight_)  # kept: of all samples
    for folds, message in ((1, "at least 2"), (399, "at most")):
        with pytest.raises(ValueError, match=message):
            comparison.cross_fit(data, built(), folds=folds)


def test_folds_need_two_classes_in_each():
    z = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="two classes must have at least 2 samples each"):
        comparison.cross_fit(LogitSet(z, np.array([0] * 19 + [1])), built(), folds=5)
    with pytest.raises(ValueError, match="Got only class 2"):
        comparison.cross_fit(LogitSet(z, np.full(20, 2)), built(), folds=5)


def test_what_is_given_stays_unfitted(draw_logits):
    methods, data = built(VECTOR), draw_logits(200, 2.0)
    comparison.hold_out(data, data, methods)
    assert not any(name.endswith("_") for calibrator in methods.values() for name in vars(calibrator))


def test_log_loss_of_far_logits_is_finite():
    z = np.array([[1e4, 0.0, 0.0], [0.0, 1e4, 0.0]] * 20)
    data = LogitSet(z, np.array([0, 1] * 19 + [2, 2]))
    evaluation = comparison.hold_out(data, data, built())
    assert evaluation.scores[AS_GIVEN].log_loss.max() == 1e4
    assert evaluation.unseen == ()


# --- differences -----------------------------------------------------------------------


def test_differences_are_those_of_the_metrics(held_out):
    evaluation, test = held_out
    found = comparison.differences(evaluation)
    assert len(found) == 3 * (4 + 3)  # three metrics; four methods against none, three against the first
    after, before = (evaluation.fits[method].predict_proba(test.logits) for method in (VECTOR, TEMPERATURE))
    own = found[(found["method"] == "vector") & (found["reference"] == "temperature")].set_index("metric")["difference"]
    for name, metric in (("nll", nll), ("brier", brier)):
        assert own[name] == pytest.approx(metric(after, test.labels) - metric(before, test.labels), abs=1e-12)
    in_points = 100 * (adaptive_ece(after, test.labels) - adaptive_ece(before, test.labels))
    assert own["adaptive-ece"] == pytest.approx(in_points, abs=1e-9)


def test_intervals_of_proper_scores_hold_together_and_an_ece_has_none(held_out):
    evaluation = held_out[0]
    found = comparison.differences(evaluation)
    ece = found["metric"] == "adaptive-ece"
    assert found[ece][["low", "high"]].isna().all(axis=None)
    assert (found[~ece]["interval"] == "t").all()
    a, b = evaluation.scores[VECTOR].log_loss, evaluation.scores[TEMPERATURE].log_loss
    expected = ttest_rel(a, b).confidence_interval(1 - 0.05 / (2 * 7))
    row = found[(found["method"] == "vector") & (found["reference"] == "temperature") & (found["metric"] == "nll")]
    low, high = row[["low", "high"]].to_numpy()[0]
    possible = evaluation.by_label[VECTOR, TEMPERATURE].means(1 - 0.05 / (2 * 7))["nll"]
    assert (low, high) == pytest.approx((min(expected[0], possible[0]), max(expected[1], possible[1])), rel=1e-9)
    assert max(expected[0] - low, high - expected[1]) < 0.05 * (expected[1] - expected[0])  # many errors were seen


def test_a_method_against_itself_is_not_significant(draw_logits):
    data = draw_logits(300, 2.0)
    twice = {TEMPERATURE: build("temperature"), Method("temperature", "again"): build("temperature")}
    found = comparison.differences(comparison.hold_out(data, data, twice))
    same = found[found["reference"] == "temperature"]
    assert (same["difference"] == 0).all()
    assert not same["significant"].any()


# --- weights and groups ----------------------------------------------------------------


def in_groups(data, size, weights=None):
    return LogitSet(data.logits, data.labels, groups=np.arange(len(data)) // size, weights=weights)


def test_no_group_is_in_two_folds(draw_logits):
    data = in_groups(draw_logits(300, 2.0), 7)
    evaluation = comparison.cross_fit(data, built(), folds=4)
    tested = [set(part.groups) for _, part in evaluation.parts]
    assert sum(map(len, tested)) == len(set(data.groups))
    assert evaluation.n_test == 300
    with pytest.raises(ValueError, match="folds must be at most 3, the groups"):
        comparison.cross_fit(in_groups(data, 100), built(), folds=4)
    apart = LogitSet(data.logits, np.r_[np.zeros(150, int), np.ones(150, int)], groups=np.arange(300) // 150)
    with pytest.raises(ValueError, match="two classes to fit on in each fold"):
        comparison.cross_fit(apart, built(), folds=2)


def test_over_groups_intervals_are_wider_and_say_so(draw_logits):
    """Each sample ten times over says no more than once; taken as independent it would seem to."""
    fit, once = draw_logits(400, 2.0, seed=3), draw_logits(300, 2.0, seed=4)
    again = np.repeat(np.arange(300), 10)
    often = LogitSet(once.logits[again], once.labels[again])
    tables = {
        name: comparison.measure(comparison.hold_out(fit, test, built()), resamples=200).set_index(["method", "metric"])
        for name, test in (("once", once), ("often", often), ("grouped", in_groups(often, 10)))
    }
    width = {name: (t["high"] - t["low"])["temperature"] for name, t in tables.items()}
    for metric in ("nll", "brier", "error"):
        assert width["grouped"][metric] == pytest.approx(width["once"][metric], rel=0.15)
        assert width["often"][metric] < 0.5 * width["once"][metric]
    assert width["grouped"]["ece"] > 0.8 * width["once"]["ece"]
    kinds = tables["grouped"]["interval"]["temperature"]
    assert kinds["nll"] == "t over groups"
    assert kinds["error"] == "Wilson over groups"
    assert kinds["classwise-ece"] == "no interval: none is known over groups"
    few = LogitSet(once.logits, once.labels, groups=np.arange(300) % 9)
    found = comparison.measure(comparison.hold_out(fit, few, built())).set_index(["method", "metric"])
    assert found.loc[("temperature", "ece"), "interval"] == "no interval: groups are worth fewer than 10 of equal size"
    assert np.isnan(found.loc[("temperature", "ece"), "low"])


def test_a_weight_counts_as_samples_do(draw_logits):
    fit, test = draw_logits(300, 2.0, seed=3), draw_logits(300, 2.0, seed=4)
    times = np.random.default_rng(0).integers(1, 4, 300)
    again = np.repeat(np.arange(300), times)
    weighted = comparison.hold_out(fit, LogitSet(test.logits, test.labels, weights=times.astype(float)), built())
    repeated = comparison.hold_out(fit, LogitSet(test.logits[again], test.labels[again]), built())
    tables = [comparison.measure(e, resamples=50).set_index(["method", "metric"]) for e in (weighted, repeated)]
    one, other = (table["value"] for table in tables)
    close = one.index.get_level_values("metric") != "adaptive-ece"  # of which bins of equal mass cut samples
    np.testing.assert_allclose(one[close], other[close], rtol=1e-6)
    np.testing.assert_allclose(one[~close], other[~close], rtol=0.1)
    change = [comparison.differences(e).set_index(["reference", "metric"])["difference"] for e in (weighted, repeated)]
    np.testing.assert_allclose(change[0]["as given"]["nll"], change[1]["as given"]["nll"], rtol=1e-9)


def test_fits_know_the_weights(draw_logits):
    data = draw_logits(600, 1.0)
    sharp = LogitSet(np.where(np.arange(600)[:, None] < 300, 1, 3) * data.logits, data.labels)
    weights = np.where(np.arange(600) < 300, 1.0, 1e-6)
    fits = comparison.hold_out(LogitSet(sharp.logits, sharp.labels, weights=weights), sharp, built()).fits
    assert fits[TEMPERATURE].temperature_ == pytest.approx(1.0, abs=0.2)
    assert comparison.hold_out(sharp, sharp, built()).fits[TEMPERATURE].temperature_ > 1.4


@pytest.mark.parametrize("fit", [lambda data, own: comparison.hold_out(data, data, own), comparison.cross_fit])
def test_parts_of_samples_are_refused_before_anything_is_fitted(draw_logits, monkeypatch, fit):
    data = replace(draw_logits(100, 2.0), weights=np.full(100, 0.5))
    methods = built(Method("venn-abers", "brier"), Method("structured-matrix", "nll"))
    monkeypatch.setattr(comparison, "_fitted", None)
    with pytest.raises(ValueError, match=r"leave out venn-abers, structured-matrix, or the weights\.$"):
        fit(data, methods)
