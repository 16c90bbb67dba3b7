"""Intervals that allow for rare errors that were not seen, and for no more than the samples leave open."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from scipy.stats import norm

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE, Method, build
from focal_lib.tool.evaluation.comparison import _evaluation, _mean, differences, hold_out
from focal_lib.tool.evaluation.possible_labels import (
    BETWEEN,
    SHARPENED,
    PossibleLabels,
    moments_of_differences,
    moments_of_scores,
)
from focal_lib.tool.evaluation.scoring import score
from reproduction.checkout import ROOT


def moments(w, q, loss, brier, top):
    """Of labels drawn from q, written out; losses by label."""
    found = np.zeros(5)
    for i in range(len(q)):
        wrong = 1 - q[i][top[i]]
        found[:3] += w[i] * np.array([q[i] @ loss[i], q[i] @ brier[i], wrong])
        found[3:] += w[i] ** 2 * np.array([q[i] @ (loss[i] - q[i] @ loss[i]) ** 2, wrong * (1 - wrong)])
    return found


def brier_by_label(p):
    return np.array([[((row - np.eye(len(row))[k]) ** 2).sum() for k in range(len(row))] for row in p])


def test_moments_are_those_over_all_labels():
    rng = np.random.default_rng(0)
    log_p, log_r = (log_softmax(rng.normal(size=(4, 3)), -1) for _ in range(2))
    p, r, w = np.exp(log_p), np.exp(log_r), np.array([1.0, 2.0, 0.5, 0.5])
    found = moments_of_differences(log_p, log_r, w)
    for row, (a, b) in zip(found, BETWEEN, strict=True):
        q = r**a * p**b
        apart = np.log(r) - np.log(p), brier_by_label(p) - brier_by_label(r)
        wanted = moments(w, q / q.sum(1, keepdims=True), *apart, p.argmax(1))
        np.testing.assert_allclose(row, wanted, rtol=1e-10)
    for row, a in zip(moments_of_scores(log_p, w), SHARPENED, strict=True):
        q = p**a / (p**a).sum(1, keepdims=True)
        np.testing.assert_allclose(row, moments(w, q, -np.log(p), brier_by_label(p), p.argmax(1)), rtol=1e-10)


def test_labels_that_a_model_excludes_do_not_blur_the_others():
    """Most labels of the first row are excluded; in the second, q nearly is."""
    z = np.array([[0.0, 1.0, -np.inf, -np.inf, -np.inf], [0.0, -2000.0, -1.0, -3000.0, -9000.0]])
    log_p = log_softmax(z, -1)
    for row, a in zip(moments_of_scores(log_p), SHARPENED, strict=True):
        q, loss = np.exp(log_softmax(a * log_p, -1)), np.where(np.isinf(log_p), 0.0, -log_p)
        wanted = moments(np.ones(2), q, loss, brier_by_label(np.exp(log_p)), log_p.argmax(1))
        np.testing.assert_allclose(row, wanted, rtol=1e-10)


def of_equal_samples(r, p, right, n, level=0.95):
    """Possible mean differences of n samples of two classes, all with these confidences."""
    log_r, log_p = (np.log([[1 - c, c]]) for c in (r, p))
    loss = -right * np.log(p / r) - (n - right) * np.log((1 - p) / (1 - r))
    return PossibleLabels(n * moments_of_differences(log_p, log_r), loss, n - right, n).means(level)


def difference(error, r, p):
    """Mean difference in log-loss where so many labels are wrong."""
    return -(1 - error) * np.log(p / r) - error * np.log((1 - p) / (1 - r))


@pytest.mark.parametrize(("r", "p"), [(0.9, 0.9999), (0.9999, 0.9), (0.9999, 0.99), (0.99, 0.9999)])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_rule_of_three(r, p, level):
    """Of 200 that are all right: up to the error that z standard deviations leave, n e = z^2 (1 - e)."""
    z = norm.ppf((1 + level) / 2)
    most = difference(z**2 / (200 + z**2), r, p)
    found = of_equal_samples(r, p, 200, 200, level)["nll"]
    end = max(found, key=lambda v: abs(v - difference(0, r, p)))
    assert end == pytest.approx(most, abs=0.35 * abs(most - difference(0, r, p)))  # interpolated


@pytest.mark.parametrize(("r", "p"), [(0.9, 0.7), (0.9, 0.97), (0.7, 0.9), (0.97, 0.9)])
def test_with_many_errors_what_the_standard_error_leaves_open(r, p):
    low, high = of_equal_samples(r, p, 1800, 2000)["nll"]
    half = 1.96 * np.sqrt(0.09 / 2000) * abs(np.log(p / r) - np.log((1 - p) / (1 - r)))
    assert (low, high) == pytest.approx((difference(0.1, r, p) - half, difference(0.1, r, p) + half), abs=0.3 * half)


def test_the_brier_score_of_the_same_labels():
    """Of two classes with equal samples it is a straight line of the error, as the log-loss is."""
    nll, brier = of_equal_samples(0.97, 0.9, 1800, 2000).values()

    def of_brier(error):
        return 2 * ((1 - error) * (0.1**2 - 0.03**2) + error * (0.9**2 - 0.97**2))

    zero, one = (difference(e, 0.97, 0.9) for e in (0.0, 1.0))
    errors = sorted((v - zero) / (one - zero) for v in nll)
    assert sorted(map(of_brier, errors)) == pytest.approx(brier, rel=1e-9)


def test_labels_of_a_group_are_one():
    """Ten samples each: the interval of a tenth of them."""
    log_r, log_p = (np.log([[1 - c, c]]) for c in (0.9999, 0.99))
    loss = 2000 * -np.log(0.99 / 0.9999)
    grouped = PossibleLabels(2000 * moments_of_differences(log_p, log_r), loss, 0, 2000, together=10).means(0.95)
    assert grouped["nll"] == pytest.approx(of_equal_samples(0.9999, 0.99, 200, 200)["nll"], rel=1e-9)


def test_an_underconfident_model_without_an_error_may_still_make_some():
    """Right 200 times of 200 at 0.6: what is left open is below 2 %, and not nothing."""
    log_p = np.log([[0.4, 0.6]])
    found = PossibleLabels(200 * moments_of_scores(log_p), -200 * np.log(0.6), 0, 200).means(0.95)
    low, high = (-(1 - e) * np.log(0.6) - e * np.log(0.4) for e in (0.0, 0.02))
    assert low - 1e-3 <= found["nll"][0] < found["nll"][1]
    assert found["nll"][1] == pytest.approx(high, abs=0.5 * (high - low))


def test_without_errors_to_expect_nothing_is_known():
    assert np.isnan(of_equal_samples(1 - 1e-12, 1 - 1e-13, 200, 200)["nll"]).all()
    assert np.isfinite(of_equal_samples(0.99, 1 - 1e-13, 200, 200)["nll"]).all()


def test_where_all_are_contradicted_nothing_is_added():
    assert of_equal_samples(0.9, 0.9, 100, 2000)["nll"] == (np.inf, -np.inf)


@pytest.mark.parametrize(("errors", "added"), [(10, True), (1000, False)])
def test_of_many_errors_their_number_alone_adds_nothing(errors, added):
    """The losses that were seen contradict all that may be, as the truth is of another kind; so many errors do not."""
    moments = np.array([[50.0, 5.0, errors, 1.0, errors], [60.0, 6.0, errors + 1.0, 1.0, errors]])
    found = PossibleLabels(moments, 500.0, errors, 100 * errors).means(0.95)
    assert (found["nll"] == (np.inf, -np.inf)) != added


@pytest.mark.slow
def test_more_samples_leave_less_open():
    """A recorded network's ten times over, which contradict all that may be between two fits: narrower intervals."""
    with np.load(ROOT / "results" / "cifar10-resnet8" / "3ed0b4b2798e300a" / "logits.npz") as file:
        fitted, test = (
            (file[f"{part}_logits"].astype(float), file[f"{part}_labels"]) for part in ("validation", "test")
        )
    fits = {method: build(*method).fit(*fitted) for method in (TEMPERATURE, Method("vector", "nll"))}
    once, often = (
        differences(_evaluation(fits, [(fits, data)], data)).query("metric in ('nll', 'brier')")
        for data in (LogitSet(*test), LogitSet(np.tile(test[0], (10, 1)), np.tile(test[1], 10)))
    )
    assert ((often["high"] - often["low"]) < 0.4 * (once["high"] - once["low"])).all()


@pytest.mark.parametrize("seen", [100 * np.log(0.99), np.inf])
def test_a_label_that_one_of_them_excludes_makes_nothing_sure(seen):
    """Of 100 samples none has it, and it may still come; or one had it. The Brier score keeps its interval."""
    log_p, log_r = np.array([[-np.inf, 0.0]]), np.log([[0.01, 0.99]])
    for sign, one, two in ((1, log_p, log_r), (-1, log_r, log_p)):
        of_all = 100 * moments_of_differences(one, two)
        of_all[:, 2] += 3  # of other samples
        found = PossibleLabels(of_all, sign * seen, 3, 100).means(0.95)
        assert np.isnan(found["nll"]).all() or not np.isfinite(seen)
        low, high = found["brier"]
        assert -np.inf < low < high < np.inf


def difference_of_nll(fit, data):
    """Of a method to the logits as given, with its interval."""
    evaluation = _evaluation({TEMPERATURE: fit}, [({TEMPERATURE: fit}, data)], data)
    return differences(evaluation).set_index(["reference", "metric"]).loc[(AS_GIVEN.name, "nll")]


def test_advice_on_a_model_of_focal_loss_sees_the_gain():
    """Underconfident logits, 540 samples: what plain t intervals show, these show, too."""
    rng, wins = np.random.default_rng(0), 0
    for _ in range(20):
        z = np.stack([np.zeros(540), 1.2 * rng.normal(2.5, 1.0, 540)], 1)
        y = (rng.random(540) < expit(2 * z[:, 1])).astype(np.int64)
        wins += difference_of_nll(TemperatureScaling().fit(z, y), LogitSet(z, y))["high"] < 0
    assert wins >= 18


@pytest.mark.parametrize("other", [0.9, 0.99])
def test_a_sure_model_without_a_seen_error_is_not_shown_to_be_the_better(other):
    """Truth: right at 0.995, where the model says 0.9999 and a method less; 200 samples, all of them right."""
    z = np.tile([0.0, np.log(0.9999 / 0.0001)], (200, 1))
    fit = TemperatureScaling().fit(np.r_[z, z], np.r_[np.zeros(2), np.ones(398)].astype(int))
    fit.temperature_ = float(np.log(0.9999 / 0.0001) / np.log(other / (1 - other)))
    row = difference_of_nll(fit, LogitSet(z, np.ones(200, dtype=np.int64)))
    truth = 0.995 * np.log(0.9999 / other) + 0.005 * np.log(0.0001 / (1 - other))
    assert row["low"] < truth < row["high"]
    assert not row["significant"] or row["low"] > 0 < truth


def rarely_wrong(n, seed, factor=3.0):
    """Three classes, seldom wrong, logits too large by the factor."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    z[np.arange(n), rng.integers(0, 3, n)] += rng.uniform(3, 14, n)
    p = np.exp(z - z.max(1, keepdims=True))
    y = ((p / p.sum(1, keepdims=True)).cumsum(1) > rng.random((n, 1))).argmax(1)
    return LogitSet(factor * z, y)


@pytest.fixture(scope="module")
def overconfident():
    """(evaluation of 200 samples, its methods' true mean log-losses and Brier scores), of many samples."""
    many = rarely_wrong(20_000, 10**6)
    found = []
    for seed in range(50):
        fitted, data = rarely_wrong(200, 2 * seed), rarely_wrong(200, 2 * seed + 1)
        evaluation = hold_out(fitted, data, {TEMPERATURE: build(*TEMPERATURE)})
        truth = {m: score(fit, many).scores for m, fit in {AS_GIVEN: None, **evaluation.fits}.items()}
        found.append((evaluation, {m: (s.log_loss.mean(), s.brier.mean()) for m, s in truth.items()}))
    return found


@pytest.mark.slow
def test_intervals_of_differences_hold_the_truth_together(overconfident):
    """Where as little as a standard error of what is seen would not: 95 per cent of the samples at least."""
    missed = 0
    for evaluation, means in overconfident:
        table = differences(evaluation).set_index("metric")
        found = zip(("nll", "brier"), means[TEMPERATURE], means[AS_GIVEN], strict=True)
        missed += not all(
            table.low[m] <= one - two <= table.high[m] for m, one, two in found if table.low[m] == table.low[m]
        )
    assert missed <= 5


@pytest.mark.slow
def test_intervals_of_scores_hold_the_truth(overconfident):
    missed = plain = 0
    for evaluation, means in overconfident:
        values, true = evaluation.scores[AS_GIVEN].log_loss, means[AS_GIVEN][0]
        found = _mean(values, evaluation.design, evaluation.by_label[(AS_GIVEN,)].means(0.95)["nll"], 200, 0)
        missed += not (found.low <= true <= found.high) and found.low == found.low
        seen = _mean(values, evaluation.design, (np.inf, -np.inf), 200, 0)
        plain += not seen.low <= true <= seen.high
    assert missed <= 5
    assert plain > missed
