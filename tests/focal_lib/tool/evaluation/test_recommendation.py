"""The advice: what is recommended where the truth is known, and what never is."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit, softmax

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE, Method, build, build_with_prior, installed
from focal_lib.metrics.scores import SampleScores
from focal_lib.theory.maps import focal_log_probs
from focal_lib.tool.evaluation.comparison import Evaluation, cross_fit, differences, hold_out
from focal_lib.tool.evaluation.recommendation import advise
from focal_lib.tool.report.summary import describe_cautions, describe_fits, describe_theory
from reproduction.studies.advice.populations import made_up_population, population_with_gain

FOCAL, VECTOR, PLATT = (Method(name, "nll") for name in ("focal-temperature", "vector", "platt"))
BY_ECE = Method("focal-temperature", "adaptive-ece")
BY_NLL = TEMPERATURE, FOCAL, VECTOR  # quick to fit


@pytest.fixture(scope="session")
def judge(draw_logits):
    """Evaluation, differences and advice for samples drawn from focal temperature scaling."""

    def run(temperature, gamma, n=4000, seed=1, methods=BY_NLL):
        validation, test = (draw_logits(n, temperature, gamma, seed=s) for s in (seed, seed + 1))
        evaluation = hold_out(validation, test, {method: build(*method) for method in methods})
        found = differences(evaluation)
        return evaluation, found, advise(evaluation, found)

    return run


def test_temperature_where_it_is_the_truth(judge):
    evaluation, found, advice = judge(2.5, 0.0)
    assert evaluation.fits[TEMPERATURE].temperature_ == pytest.approx(2.5, rel=0.1)
    assert advice.method == TEMPERATURE
    gain = found[(found["reference"] == "as given") & (found["metric"] == "nll")].iloc[0]  # the first method's
    assert advice.words.startswith(f"Use temperature scaling: the NLL falls by {-gain['difference']:.3g}")
    assert f"with 95 % by at least {-gain['high']:.3g}" in advice.words
    assert "no prediction changes its class" in advice.words


def test_focal_temperature_where_it_is_the_truth(judge):
    evaluation, found, advice = judge(1.0, 6.0, n=20_000)
    assert evaluation.fits[FOCAL].gamma_ == pytest.approx(6.0, rel=0.25)
    assert advice.method == FOCAL
    assert advice.words.startswith("Use focal-temperature rather than temperature: ")
    row = found[(found["method"] == FOCAL.name) & (found["metric"] == "nll")].iloc[0]
    assert row["high"] < 0


def test_calibrated_logits_are_left_alone(judge):
    for seed in range(5, 11):
        evaluation, _, advice = judge(1.0, 0.0, seed=seed)
        scores = evaluation.scores
        lower = scores[TEMPERATURE].log_loss.mean() < scores[AS_GIVEN].log_loss.mean()
        assert advice.method == (TEMPERATURE if lower else None)
        assert advice.words.startswith("Use temperature scaling: by the est" if lower else "Leave the logits as they")


def test_too_few_samples_leave_it_open(judge):
    found = [judge(1.0, 0.0, n=100, seed=seed)[2] for seed in range(6)]
    assert {advice.method for advice in found} <= {TEMPERATURE, None}
    assert any("gains 0.5% of the NLL or Brier score is left open by the 100 samples" in a.words for a in found)


def test_where_hardly_an_error_is_seen_the_logits_are_not_left_alone():
    """A temperature with its prior saves some of what an overconfident model loses, though no sample shows it."""
    population, lost = made_up_population("overconfident, rarely wrong", 10), {AS_GIVEN: [], TEMPERATURE: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        floor = {TEMPERATURE: build_with_prior(TEMPERATURE)}
        found = hold_out(population.draw(60, rng), population.draw(60, rng), floor)
        assert advice_on(found).method == TEMPERATURE
        log_p = found.fits[TEMPERATURE].predict_log_proba(population.logits)
        lost[TEMPERATURE].append(population.scores(log_p)[0])
        lost[AS_GIVEN].append(population.scores(np.log(softmax(population.logits, axis=1)))[0])
    assert np.mean(lost[TEMPERATURE]) < np.mean(lost[AS_GIVEN])


def test_what_is_not_shown_to_be_off_is_kept_rather_than_what_is(draw_logits):
    """A bias of class 1, which no temperature mends: shown to be off after it, though vector's gain is small."""
    data = draw_logits(8000, 1.0, classes=2)
    shifted = LogitSet(data.logits + np.array([0.0, 0.3]), data.labels)
    half = np.arange(8000) % 2 == 0
    sets = shifted.take(np.flatnonzero(half)), shifted.take(np.flatnonzero(~half))
    evaluation = hold_out(*sets, {method: build(*method) for method in (TEMPERATURE, VECTOR)})
    table = differences(evaluation)
    off = {method: evaluation.calibration_p(method) for method in (TEMPERATURE, VECTOR)}
    advice = advise(evaluation, table, relevant=0.5)  # too small for its interval
    assert (advice.method == VECTOR) == (off[TEMPERATURE] < 0.05 <= off[VECTOR])
    assert advice.method == VECTOR
    assert "it is shown that the probabilities are off" in advice.words
    given = evaluation.scores[AS_GIVEN]
    for errors, kept in ((9, TEMPERATURE), (10, VECTOR)):  # a handful of errors tells of neither
        correct = (np.arange(len(given.correct)) >= errors).astype(float)
        few = replace(evaluation, scores={**evaluation.scores, AS_GIVEN: replace(given, correct=correct)})
        assert advise(few, table, relevant=0.5).method == kept


def balanced_by_weights(n, seed):
    """As many events as expected, one of ten; probabilities too extreme: a temperature would promise too many."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-2.7, 1.2, n)
    said = 1.7 * odds + 1.12
    labels = (rng.random(n) < expit(odds)).astype(int)
    return LogitSet(np.stack([np.zeros(n), said], 1), labels)


def test_of_two_classes_what_promises_too_many_events_gives_way_to_what_does_not():
    data = balanced_by_weights(4000, 1)
    evaluation = cross_fit(data, {method: build_with_prior(method) for method in (TEMPERATURE, PLATT)})
    ratio = {method: evaluation.observed_expected(method) for method in evaluation.scores}
    assert ratio[AS_GIVEN].low < 1 < ratio[AS_GIVEN].high
    assert ratio[TEMPERATURE].high < 1
    assert ratio[PLATT].estimate == pytest.approx(1, abs=0.01)
    advice = advise(evaluation, differences(evaluation), relevant=0.5)  # no gain is large enough to decide
    assert advice.method == PLATT
    assert "of that it is shown that the probabilities are off" in advice.words
    assert "neither NLL nor Brier score is shown to be larger" in advice.words
    worse = evaluation.scores[PLATT]
    costly = {**evaluation.scores, PLATT: replace(worse, log_loss=worse.log_loss + 0.1)}
    assert advise(replace(evaluation, scores=costly), differences(evaluation), relevant=0.5).method == TEMPERATURE


def test_of_what_is_shown_off_by_all_the_one_whose_events_add_up_is_kept(monkeypatch):
    """Both fail the test of calibration: the one that promises as many events as come is the less wrong."""
    data = balanced_by_weights(4000, 1)
    evaluation = cross_fit(data, {method: build_with_prior(method) for method in (TEMPERATURE, PLATT)})
    monkeypatch.setattr(Evaluation, "calibration_p", lambda self, method: 0.01)
    advice = advise(evaluation, differences(evaluation), relevant=0.5)
    assert advice.method == PLATT
    assert "of this less (p = 0.01, observed/expected 1.00 [" in advice.words


def test_an_infinite_nll_is_said_and_not_recommended(judge):
    evaluation, found, advice = judge(2.5, 0.0, n=1500, methods=[m for m in installed() if m.name != "platt"])
    infinite = found[(found["method"] == "isotonic") & (found["metric"] == "nll")].iloc[0]
    assert infinite["difference"] == np.inf
    assert infinite["significant"]
    assert "isotonic" not in advice.words
    assert any(note.startswith("isotonic:") and "probability 0" in note for note in describe_cautions(evaluation))
    assert describe_cautions(evaluation, [TEMPERATURE]) == []


def test_notes_say_what_a_reader_should_know(draw_logits):
    z = draw_logits(600, 1.0, 8.0, classes=6)
    some = z.take(np.flatnonzero(z.labels != 4))
    methods = {method: build(*method) for method in (TEMPERATURE, BY_ECE, VECTOR)}
    methods[BY_ECE].set_params(gammas=(0.0, 0.5))
    evaluation = hold_out(some, z, methods)
    assert evaluation.unseen == (4,)
    notes = describe_cautions(evaluation)
    assert any("Classes without a sample to fit on: 4." in note for note in notes)
    assert any("gamma is the largest that was tried" in note for note in notes)
    theory = describe_theory(evaluation)
    assert theory[0].startswith(f"{BY_ECE.label}: no other pair of its grid has a smaller value, proved")
    share = evaluation.lowered[BY_ECE]
    assert any(f"lowers the top probability of {share:.1%}" in note for note in theory)
    fit = evaluation.fits[BY_ECE]
    before = np.exp(focal_log_probs(z.logits / fit.temperature_, 0.0)).max(1)
    assert share == pytest.approx((fit.predict_proba(z.logits).max(1) < before).mean())
    assert sum(note.startswith("temperature:") for note in describe_fits(evaluation)) == 1


def test_predictions_that_change_class_are_counted(draw_logits):
    data = draw_logits(600, 1.0, classes=4)
    evaluation = hold_out(data, data, {method: build(*method) for method in (TEMPERATURE, VECTOR)})
    before, after = data.logits.argmax(1), evaluation.fits[VECTOR].predict(data.logits)
    assert evaluation.changed == {AS_GIVEN: 0, TEMPERATURE: 0, VECTOR: int((before != after).sum())}


# --- scores made up ----------------------------------------------------------------------


def scores(log_loss, brier=0.3, n=4000, seed=0):
    """Means as said, the noise of a sample the same for every method but for a tenth."""
    shared, own = np.random.default_rng(0).normal(size=n), np.random.default_rng(seed).normal(size=n)
    noise = 0.1 * (shared - shared.mean()) + 0.01 * (own - own.mean())
    return SampleScores(np.full(n, 0.8), (np.arange(n) % 5 > 0).astype(float), log_loss + noise, brier + noise / 10)


class Possible(NamedTuple):
    """In the place of PossibleLabels: these means."""

    ends: dict

    def means(self, level):
        return self.ends


def made_up(**by_name):
    """An evaluation with these scores: given, first, then others."""
    names = {"given": AS_GIVEN, "first": TEMPERATURE, "focal": FOCAL, "vector": VECTOR}
    found = {names[name]: value for name, value in by_name.items()}
    fits = {method: build(*method) for method in list(found)[1:]}
    blank = dict.fromkeys(found, 0)
    none = Possible({"nll": (np.inf, -np.inf), "brier": (np.inf, -np.inf)})
    by_label = {(one, two): none for one in found for two in found}
    return Evaluation(fits, found, {}, {}, blank, 4000, 4000, 10, (), by_label=by_label)


def advice_on(evaluation, relevant=0.005):
    return advise(evaluation, differences(evaluation), relevant=relevant)


def test_the_best_is_recommended_not_the_surest():
    noisy = scores(0.80, seed=3)
    noisy = replace(noisy, log_loss=noisy.log_loss + 0.3 * np.random.default_rng(9).standard_normal(4000))
    evaluation = made_up(given=scores(1.5), first=scores(1.0, seed=1), focal=scores(0.95, seed=2), vector=noisy)
    assert advice_on(evaluation).method == VECTOR


def test_a_gain_that_is_sure_but_too_small_is_none():
    evaluation = made_up(given=scores(1.5), first=scores(1.0, seed=1), focal=scores(0.997, seed=2))
    found = differences(evaluation)
    row = found[(found["reference"] == "temperature") & (found["metric"] == "nll")].iloc[0]
    assert row["significant"]
    assert advice_on(evaluation).method == TEMPERATURE
    assert "by intervals that hold together" in advice_on(evaluation).words
    assert advice_on(evaluation, relevant=0.001).method == FOCAL


def test_where_any_gain_is_relevant_no_gain_is_none():
    same = scores(0.5)
    advice = advice_on(made_up(given=scores(0.6, 0.35), first=same, focal=same), relevant=0.0)
    assert advice.method == TEMPERATURE


def test_of_a_score_of_0_nothing_can_be_gained():
    """A sure model, all right: its scores are 0, and a method's are not."""
    ones, zeros = np.ones(4000), np.zeros(4000)
    advice = advice_on(made_up(given=SampleScores(ones, ones, zeros, zeros), first=scores(0.1, 0.1)))
    assert advice.method is None
    assert "No method that was tried gains 0.5%" in advice.words


def test_what_gains_in_one_score_and_loses_in_the_other_is_not_recommended():
    evaluation = made_up(given=scores(1.5), first=scores(1.0, seed=1), focal=scores(0.9, brier=0.32, seed=2))
    assert advice_on(evaluation).method == TEMPERATURE


def test_a_first_method_that_harms_is_left_out_and_a_good_one_found():
    evaluation = made_up(given=scores(1.0), first=scores(1.1, seed=1), focal=scores(0.9, seed=2))
    advice = advice_on(evaluation)
    assert advice.method == FOCAL
    assert advice.words.startswith("Use focal-temperature rather than ")
    worse = made_up(given=scores(1.0), first=scores(1.1, seed=1), focal=scores(1.05, seed=2))
    assert advice_on(worse).method is None


def test_what_is_shown_to_gain_in_one_score_and_seems_to_lose_in_the_other_is_not_recommended():
    """A temperature near 0: the Brier score falls for certain, the NLL by two errors is a hundred times as large."""
    wrong = scores(1.0, seed=1)
    wrong = replace(wrong, log_loss=wrong.log_loss + 50_000.0 * (np.arange(4000) < 2), brier=wrong.brier - 0.1)
    evaluation = made_up(given=scores(1.0), first=wrong)
    found = differences(evaluation).set_index("metric")
    assert found["high"]["brier"] < -0.05
    assert found["low"]["nll"] < 0 < found["high"]["nll"]
    assert advice_on(evaluation).method is None


def test_a_richer_method_is_not_recommended_for_being_surer_than_the_simplest():
    """Temperature gains more, only not for certain: a wide interval is no reason for another method."""
    noise = np.random.default_rng(8).standard_normal(4000)
    noise -= noise.mean()
    wide = scores(0.9, brier=0.299, seed=1)
    wide = replace(wide, log_loss=wide.log_loss + 5 * noise, brier=wide.brier + noise)
    evaluation = made_up(given=scores(1.0), first=wide, focal=scores(0.95, seed=2))
    advice = advice_on(evaluation)
    assert advice.method == TEMPERATURE
    assert "which is not shown" in advice.words


def test_a_relevant_share_is_checked():
    with pytest.raises(ValueError, match=r"relevant must lie in \[0, 1\). Got 1.5"):
        advice_on(made_up(given=scores(1.0), first=scores(1.0, seed=1)), relevant=1.5)


# --- samples in groups --------------------------------------------------------------------


def in_groups(population, groups, size, together, rng):
    """Groups of a size; two labels of one come from one draw, right or wrong alike, with probability `together`.

    None: all samples of a group are one.
    """
    n, of = groups * size, np.repeat(np.arange(groups), size)
    if together is None:
        one = population.draw(groups, rng)
        return LogitSet(one.logits[of], one.labels[of], groups=of)
    index = rng.integers(0, len(population.logits), n)
    draw = np.where(rng.random(n) < np.sqrt(together), rng.random(groups)[of], rng.random(n))
    likeliest = np.argsort(-population.truth[index], axis=1)
    steps = np.cumsum(np.take_along_axis(population.truth[index], likeliest, axis=1), axis=1)
    labels = likeliest[np.arange(n), (steps < draw[:, None] * steps[:, -1:]).sum(1)]
    return LogitSet(population.logits[index], labels, groups=of)


def evaluated(population, groups, together, runs, size=10):
    """Temperature scaling fitted on such groups and tested on others, once for each seed."""
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        sets = (in_groups(population, groups, size, together, rng) for _ in range(2))
        yield hold_out(*sets, {TEMPERATURE: build(*TEMPERATURE)})


def moving(evaluation, together):
    """As if so many labels were one."""
    of = {pair: replace(labels, together=together) for pair, labels in evaluation.by_label.items()}
    return replace(evaluation, by_label=of)


def shows_a_gain(evaluation):
    return "with 95 % by at least" in advice_on(evaluation).words


@pytest.mark.parametrize("classes", [2, 10])
def test_a_gain_is_seen_in_150_groups_of_independent_labels(classes):
    """As without groups; were the labels of each group one, hardly ever."""
    seen = as_one = alone = 0
    for found in evaluated(population_with_gain(0.07, classes), 150, 0.0, 12):
        seen += shows_a_gain(found)
        as_one += shows_a_gain(moving(found, 10.0))
        parts = tuple((fits, LogitSet(data.logits, data.labels)) for fits, data in found.parts)
        alone += shows_a_gain(replace(moving(found, 1.0), parts=parts))
        assert found.by_label[TEMPERATURE, AS_GIVEN].together < 2
    assert seen >= alone - 1 >= 9
    assert as_one <= 3


@pytest.mark.parametrize("truth", ["calibrated", "calibrated, rarely wrong"])
def test_no_gain_is_shown_of_calibrated_logits_though_labels_of_a_group_move_together(truth):
    population, known, missed = made_up_population(truth, 2), 0, 0
    for found in evaluated(population, 50, 0.3, 15):
        assert not shows_a_gain(found)
        known += np.isfinite(missing(found, population))
        missed += missing(found, population) == 1
    assert known >= 12
    assert missed <= 1


def test_as_independent_the_rare_errors_of_a_group_would_be_taken_for_many():
    """Samples ten times over: with the design effect intervals hold the truth, without it they miss it often."""
    population, missed, independent = made_up_population("calibrated, rarely wrong", 2), 0, 0
    for found in evaluated(population, 150, None, 25):
        assert not shows_a_gain(found)
        missed += missing(found, population) == 1
        independent += missing(moving(found, 1.0), population) == 1
    assert missed <= 1
    assert independent >= missed + 4


def missing(evaluation, population):
    """1 where an interval of a difference leaves out the truth, 0 where all hold it, nan where there is none."""
    table = differences(evaluation).set_index("metric").loc[["nll", "brier"]].dropna(subset="low")
    logs = evaluation.fits[TEMPERATURE].predict_log_proba(population.logits), np.log(softmax(population.logits, axis=1))
    after, before = (dict(zip(("nll", "brier"), population.scores(log_p), strict=True)) for log_p in logs)
    held = [row.low <= after[name] - before[name] <= row.high for name, row in table.iterrows()]
    return float(not all(held)) if held else np.nan


def test_labels_that_are_one_of_a_whole_group_count_as_one():
    """Samples ten times over: their variances are ten times larger; apart, hardly; without an error, all is open."""
    rng, population = np.random.default_rng(3), made_up_population("temperature", 3)
    one = population.draw(300, rng)
    ten = LogitSet(np.repeat(one.logits, 10, 0), np.repeat(one.labels, 10), groups=np.repeat(np.arange(300), 10))
    apart = LogitSet(ten.logits, ten.labels, groups=rng.permutation(3000) // 10)
    right = LogitSet(ten.logits, ten.logits.argmax(1), groups=apart.groups)
    fits = {TEMPERATURE: build(*TEMPERATURE)}
    sets = ten, right, one, apart
    together = [hold_out(one, data, fits).by_label[TEMPERATURE, AS_GIVEN].together for data in sets]
    assert together[:3] == pytest.approx([10, 10, 1])
    assert 1 < together[3] < 1.4
    w = rng.uniform(0.5, 2, 3000)
    weighted = LogitSet(ten.logits, ten.labels, groups=ten.groups, weights=w)
    of_weighted = hold_out(one, weighted, fits).by_label[TEMPERATURE, AS_GIVEN].together
    assert of_weighted == pytest.approx((np.bincount(ten.groups, w) ** 2).sum() / (w**2).sum())


def test_the_sentence_counts_groups():
    rng, population = np.random.default_rng(0), made_up_population("calibrated", 2)
    samples = [in_groups(population, 40, 10, 0.0, rng) for _ in range(2)]
    methods = {method: build(*method) for method in (TEMPERATURE, VECTOR)}
    found = hold_out(*samples, methods)
    assert "is left open by the 40 groups to test on: vector may gain" in advice_on(found).words
    unknown = Possible({"nll": (np.nan, np.nan), "brier": (np.nan, np.nan)})
    few = replace(found, by_label=dict.fromkeys(found.by_label, unknown))
    assert advice_on(few).words.endswith("is left open: 40 groups to test on hold too few errors to tell.")
    alone = LogitSet(samples[1].logits, samples[1].labels, groups=np.zeros(400, dtype=int))
    only = hold_out(samples[0], alone, methods)
    assert advice_on(only).words.endswith("is left open: all samples to test on are one group.")
