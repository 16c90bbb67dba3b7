"""What every public number keeps: order of rows and classes, ties, copies, parts, kinds of array, threads, weights.

A number is a function of a set of samples, and not of the order in which a file lists them. Each function of
`focal_lib.metrics` that takes samples is tried, `test_every_function_of_samples_is_tried` looks after that.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass

import dask.array
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from focal_lib import metrics as m
from focal_lib.calibration import TemperatureScaling
from focal_lib.metrics import samples
from focal_lib.metrics.calibration_test import p_value_over_groups
from focal_lib.metrics.design_gaps import _root
from focal_lib.metrics.ece_interval import noise_draws


@dataclass(frozen=True)
class Given:
    """Samples with weights and groups; `classes` are the classes of the columns before they changed places."""

    probs: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: np.ndarray

    def take(self, index):
        rows = (column[index] for column in (self.probs, self.labels, self.weights, self.groups))
        return Given(*rows, self.classes)

    @property
    def of(self):
        return self.probs, self.labels

    @property
    def top(self):
        return m.top_label(*self.of)

    @property
    def design(self):
        return m.Design(self.weights, self.groups)


def interval(found):
    return [found.estimate, found.low, found.high, np.nan if found.debiased is None else found.debiased]


def fields(found):
    """Every number of a dataclass, in order."""
    values = (getattr(found, field.name) for field in dataclasses.fields(found))
    return np.concatenate([np.atleast_1d(value).astype(float) for value in values if value is not None])


def of_classes(s):
    found = m.class_reliability(*s.of)
    order = np.argsort(s.classes[found.classes])
    return np.concatenate([getattr(found, name)[order] for name in ("count", "gap", "low", "high")])


def confused(s):
    bands = m.confusion_by_confidence(*s.of, edges=(0.45, 0.7), pairs=99)
    pairs = [sorted((s.classes[p.label], s.classes[p.predicted], p.count) for p in band.pairs) for band in bands]
    return [*(n for band in bands for n in (band.right, band.wrong)), *np.ravel([p for own in pairs for p in own])]


def threshold(found):
    return [] if found is None else fields(found)


def detected(s):
    """How well scores of the logits tell samples of label 0 from the others."""
    scores = [score(np.log(s.probs + 1e-9)) for score in m.DETECTION_SCORES.values()]
    first = s.labels == s.classes.tolist().index(0)
    if first.all() or not first.any():
        return []
    return [f(score[first].round(9), score[~first].round(9)) for f in (m.auroc, m.fpr_at_tpr) for score in scores]


MEANS = {
    "accuracy": lambda s: m.accuracy(*s.of),
    "nll": lambda s: m.nll(*s.of),
    "brier": lambda s: m.brier(*s.of),
    "ece": lambda s: m.ece(*s.of),
    "mce": lambda s: m.mce(*s.of),
    "classwise_ece": lambda s: m.classwise_ece(*s.of),
    "smooth_ece": lambda s: m.smooth_ece(*s.of),
    "overconfidence": lambda s: m.overconfidence(*s.of),
    "underconfidence": lambda s: m.underconfidence(*s.of),
}
OTHERS = {
    "adaptive_ece": lambda s: m.adaptive_ece(*s.of),
    "mce of equal mass": lambda s: m.mce(*s.of, binning="mass"),
    "all_metrics": lambda s: list(m.all_metrics(*s.of, n_bins=7).values()),
    "reliability_bins": lambda s: fields(m.reliability_bins(*s.of)),
    "bins of equal mass": lambda s: fields(m.reliability_bins(*s.of, 4, binning="mass")),
    "sample_scores": lambda s: np.sort(fields(m.sample_scores(*s.of)).reshape(4, -1), axis=1).ravel(),
    "aurc": lambda s: m.aurc(*s.of),
    "risk_coverage": lambda s: fields(m.risk_coverage(*s.of)),
    "certified_threshold": lambda s: threshold(m.certified_threshold(*s.of, risk=0.6)),
    "net_benefit": lambda s: fields(m.net_benefit(*s.of, int(np.argmax(s.classes == 1)))),
    "class_reliability": of_classes,
    "confusion_by_confidence": confused,
    "detection": detected,
    "ece_interval": lambda s: interval(m.ece_interval(*s.of)),
    "adaptive_ece_interval": lambda s: interval(m.adaptive_ece_interval(*s.of)),
    "mce_interval": lambda s: interval(m.mce_interval(*s.of)),
    "classwise_ece_interval": lambda s: interval(m.classwise_ece_interval(*s.of)),
    "overconfidence_interval": lambda s: interval(m.overconfidence_interval(*s.of, binning="mass")),
    "underconfidence_interval": lambda s: interval(m.underconfidence_interval(*s.of, weights=s.weights)),
    "weighted ece_interval": lambda s: interval(m.ece_interval(*s.of, weights=s.weights)),
    "weighted adaptive_ece_interval": lambda s: interval(m.adaptive_ece_interval(*s.of, weights=s.weights)),
    "ece_interval over groups": lambda s: interval(m.ece_interval_of(*s.top, design=s.design)),
    "adaptive_ece_interval over groups": lambda s: interval(m.adaptive_ece_interval_of(*s.top, design=s.design)),
    "weighted all_metrics": lambda s: list(m.all_metrics(*s.of, n_bins=7, weights=s.weights).values()),
    "mean and share over groups": lambda s: (
        interval(s.design.mean_interval(s.top[0])) + interval(s.design.share_interval(s.top[1]))
    ),
    "calibration_p_value": lambda s: m.calibration_p_value(*s.of, draws=50),
    "p_value_over_groups": lambda s: p_value_over_groups(*s.top, s.design, draws=50),
    "expected_ece_of": lambda s: m.expected_ece_of(s.top[0], draws=20),
    "bootstrap_adaptive_ece": lambda s: interval(m.bootstrap_adaptive_ece(*s.top, resamples=20)),
}
OF_EVENTS = {
    "positive_ece": lambda s: m.positive_ece(*s.of),
    "positive_ece of equal mass": lambda s: m.positive_ece(*s.of, binning="mass"),
    "positive_ece_interval": lambda s: interval(m.positive_ece_interval(*s.of, groups=s.groups)),
    "positive_reliability_bins": lambda s: fields(m.positive_reliability_bins(*s.of)),
    "averaged_two_bin_error": lambda s: m.averaged_two_bin_error(*s.of),
    "averaged_two_bin_error_interval": lambda s: interval(m.averaged_two_bin_error_interval(*s.of)),
    "observed_expected": lambda s: interval(m.observed_expected(*s.of, weights=s.weights)),
    "calibration_intercept": lambda s: interval(m.calibration_intercept(*s.of)),
    "calibration_slope": lambda s: interval(m.calibration_slope(*s.of)),
}
ITERATED = (  # a fit inside, or roots of matrices
    "calibration_slope",
    "calibration_intercept",
    "observed_expected",
    "positive_ece_interval",
    "averaged_two_bin_error_interval",
    "ece_interval over groups",
    "adaptive_ece_interval over groups",
)
NUMBERS = MEANS | OTHERS | OF_EVENTS


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """Intervals of fewer draws, several times faster."""
    with pytest.MonkeyPatch.context() as patch:
        noise_draws.cache_clear()
        patch.setattr(inspect.getmodule(m.ece_interval), "_DRAWS", 100)
        yield
    noise_draws.cache_clear()


def test_every_function_of_samples_is_tried():
    """Those that end in `_of` are what the others call; some only return what others take."""
    taking = {
        name
        for name in m.__all__
        if inspect.isfunction(getattr(m, name))
        and {"probs", "labels"} <= set(inspect.signature(getattr(m, name)).parameters)
    }
    assert taking - set(NUMBERS) == {"top_label"}


KINDS = ("distinct", "few values", "saturated", "constant")


def draw(seed, n, classes, kind):
    """Samples of a model whose labels have something to do with its probabilities, in no order."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, classes)) * {"saturated": 30.0}.get(kind, 2.0)
    if kind == "few values":
        z = z.round(0) / 2 + 0.1 * np.arange(classes)  # no two classes at the top
    if kind == "constant":
        z[:] = np.linspace(0, 1, classes)
    p = softmax(z, axis=1)
    y = np.minimum((p.cumsum(1) < rng.random((n, 1))).sum(1), classes - 1)
    return Given(p, y, rng.choice([0.5, 1.0, 2.0], n), rng.integers(0, 1 + n // 2, n), np.arange(classes))


def drawn(classes=(2, 3, 5), n=None, kinds=KINDS):
    n = st.integers(2, 60) if n is None else n
    return st.builds(draw, st.integers(0, 10**6), n, st.sampled_from(classes), st.sampled_from(kinds))


def same(name, one, other, *, rel=1e-12):
    function = NUMBERS[name]
    rel = max(rel, 1e-6) if name in ITERATED else rel
    np.testing.assert_allclose(function(other), function(one), rtol=rel, atol=rel, err_msg=name)


def for_each(names, examples):
    """Decorator: a test of each number by name, for so many examples of hypothesis."""
    return lambda test: pytest.mark.parametrize("name", names)(
        settings(max_examples=examples, derandomize=True, deadline=None)(test)
    )


def samples_for(name, **kinds):
    return drawn(classes=(2,), **kinds) if name in OF_EVENTS else drawn(**kinds)


# --- order of rows and classes --------------------------------------------------------------


@for_each(NUMBERS, 6)
@given(st.data())
def test_rows_in_any_order(name, data):
    """Shuffled, reversed, sorted by label either way, and by whether the prediction is right."""
    one = data.draw(samples_for(name))
    n, right = len(one.labels), one.probs.argmax(1) == one.labels
    orders = {
        "shuffled": np.random.default_rng(0).permutation(n),
        "by label": np.argsort(one.labels, kind="stable"),
        "by label, falling": np.argsort(-one.labels, kind="stable"),
        "right first": np.argsort(~right, kind="stable"),
    }
    same(name, one, one.take(orders[data.draw(st.sampled_from(sorted(orders)))]))


@pytest.mark.parametrize("name", NUMBERS)
def test_rows_in_any_order_where_bins_tie(name):
    """Two bins of two classes with one gap, up to the rounding of their sums: neither comes first."""
    p = np.repeat([0.4, 0.05], 200)
    labels = (np.arange(400) % 200 < np.repeat([90, 20], 200)).astype(np.int64)
    columns = np.resize([0.5, 1.0, 2.0], 400), np.arange(400) // 4
    one = Given(np.stack([1 - p, p], 1), labels, *columns, np.arange(2))
    for order in (np.argsort(labels, kind="stable"), np.random.default_rng(0).permutation(400)):
        same(name, one, one.take(order))


@for_each(MEANS | OTHERS, 4)
@given(st.data())
def test_classes_in_any_order(name, data):
    """Where no two classes share the top: of those the first is predicted, see the test below."""
    one = data.draw(samples_for(name))
    order = np.random.default_rng(0).permutation(len(one.classes))
    place = np.argsort(order)
    same(name, one, Given(one.probs[:, order], place[one.labels], one.weights, one.groups, one.classes[order]))


@pytest.mark.parametrize("kind", KINDS)
def test_two_classes_in_either_order(kind):
    one = draw(1, 60, 2, kind)
    same("classwise_ece_interval", one, Given(one.probs[:, ::-1], 1 - one.labels, None, None, np.array([1, 0])))


def test_draws_over_groups_do_not_turn_with_rounding():
    """Eigenvectors of equal eigenvalues do, and any may change its sign."""
    noise = np.random.default_rng(0).normal(size=(15, 15)) * 1e-15
    covariance = 0.2 * np.eye(15)
    moved = covariance + noise + noise.T
    one, other = (_root(matrix, np.diag(matrix)) for matrix in (covariance, moved))
    np.testing.assert_allclose(other, one, atol=1e-12)
    np.testing.assert_allclose(one @ one.T, np.eye(15), atol=1e-12)


def test_of_classes_that_share_the_top_the_first_is_predicted():
    """So the order of classes may move the accuracy, by at most the share of such samples; NLL and Brier it cannot."""
    p, y = np.array([[0.4, 0.4, 0.2], [0.1, 0.8, 0.1]]), np.array([1, 1])
    order = [1, 0, 2]
    assert (m.accuracy(p, y), m.accuracy(p[:, order], np.array([0, 0]))) == (0.5, 1.0)
    for number in (m.nll, m.brier, m.classwise_ece):
        assert number(p[:, order], np.array([0, 0])) == pytest.approx(number(p, y), rel=1e-12)


# --- copies and weights ---------------------------------------------------------------------


@for_each(MEANS, 6)
@given(st.data(), st.integers(2, 4))
def test_each_row_several_times_changes_no_mean(name, data, copies):
    one = data.draw(samples_for(name))
    same(name, one, one.take(np.repeat(np.arange(len(one.labels)), copies)))


@settings(max_examples=20, derandomize=True)
@given(drawn(n=st.sampled_from([15, 45])), st.integers(2, 4))
def test_each_row_several_times_changes_no_bin_of_equal_mass(one, copies):
    """Where bins have equal sizes; else some have a sample more, which copies make finer: 2, 2, 1 become 4, 3, 3."""
    many = one.take(np.repeat(np.arange(len(one.labels)), copies))
    assert m.adaptive_ece(*many.of) == pytest.approx(m.adaptive_ece(*one.of), abs=1e-12)
    bins, finer = (m.reliability_bins(*s.of, binning="mass") for s in (one, many))
    assert finer.count.tolist() == (copies * bins.count).tolist()


@pytest.mark.parametrize("interval", [m.ece_interval, m.adaptive_ece_interval, m.mce_interval])
def test_copies_narrow_an_interval_as_new_samples_would(interval):
    """They are no new samples: whoever has copies says so by groups."""
    one = draw(0, 450, 3, "distinct")
    many = one.take(np.repeat(np.arange(450), 4))
    narrow, wide = interval(*many.of), interval(*one.of)
    assert narrow.estimate == pytest.approx(wide.estimate, abs=1e-12)
    assert narrow.high - narrow.low < 0.75 * (wide.high - wide.low)


def of_bins(bins):
    return np.concatenate([bins.count, bins.confidence, bins.accuracy])


WEIGHTED = {
    "accuracy": m.accuracy,
    "nll": m.nll,
    "brier": m.brier,
    "ece": m.ece,
    "adaptive_ece": m.adaptive_ece,
    "mce": m.mce,
    "classwise_ece": m.classwise_ece,
    "smooth_ece": m.smooth_ece,
    "overconfidence": m.overconfidence,
    "underconfidence": m.underconfidence,
    "all_metrics": lambda *given, **options: list(m.all_metrics(*given, **options).values()),
    "reliability_bins": lambda *given, **options: of_bins(m.reliability_bins(*given, **options)),
}
INTERVALS = {
    "ece_interval": m.ece_interval,
    "adaptive_ece_interval": m.adaptive_ece_interval,
    "mce_interval": m.mce_interval,
    "classwise_ece_interval": m.classwise_ece_interval,
    "overconfidence_interval": m.overconfidence_interval,
    "underconfidence_interval": m.underconfidence_interval,
}


@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=10, derandomize=True)
@given(drawn(), st.integers(0, 10**6))
def test_whole_weights_are_copies(name, one, seed):
    """One sample weighs 0, whatever its numbers are: a label of probability 0, or no number at all."""
    weights = np.r_[0, np.random.default_rng(seed).integers(0, 4, len(one.labels)), 1]
    n, classes = len(one.labels), len(one.classes)
    absent = np.full(classes, np.nan) if seed % 2 else np.eye(classes)[1]
    probs, labels = np.vstack([absent, one.probs, one.probs[:1]]), np.r_[0, one.labels, one.labels[:1]]
    many = np.repeat(np.arange(n + 2), weights)
    function = WEIGHTED[name]
    found = function(probs, labels, weights=weights)
    np.testing.assert_allclose(found, function(probs[many], labels[many]), rtol=1e-12, atol=1e-12)
    torch_found = function(probs, labels, weights=torch.from_numpy(weights))
    np.testing.assert_array_equal(torch_found, found)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_a_dask_array(name):
    """Samples of weight 0 stay in it, and do not count: a label of probability 0 neither."""
    one, weights = draw(0, 40, 3, "distinct"), np.r_[0.0, 2.0, np.ones(38)]
    one.probs[0] = np.roll(np.eye(3)[one.labels[0]], 1)
    lazy = dask.array.from_array(one.probs, chunks=(9, 3))
    found = WEIGHTED[name](lazy, one.labels, weights=weights)
    np.testing.assert_allclose(found, WEIGHTED[name](*one.of, weights=weights), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", INTERVALS)
def test_weights_in_intervals(name):
    """The estimate is the weighted number; a sample of weight 0 is as one that is absent; a common factor is none."""
    one = draw(3, 90, 3, "few values")
    weights = np.random.default_rng(0).integers(0, 4, 90)
    found = INTERVALS[name](*one.of, weights=weights)
    estimate = getattr(m, name.removesuffix("_interval"))(*one.of, weights=weights)
    assert found.estimate == pytest.approx(estimate, abs=1e-12)
    used = weights > 0
    absent = INTERVALS[name](*one.take(used).of, weights=weights[used])
    assert interval(absent) == pytest.approx(interval(found), abs=1e-12, nan_ok=True)
    ones = INTERVALS[name](*one.of, weights=np.ones(90))
    assert interval(ones) == pytest.approx(interval(INTERVALS[name](*one.of)), abs=1e-15, nan_ok=True)
    assert found.low <= found.estimate + 0.05
    assert found.high > estimate - 0.05


@pytest.mark.parametrize("name", [*WEIGHTED, *INTERVALS])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], "weights must be finite, none below 0 and not all 0. Got -1 to 1"),
        ([0.0, 0.0], "weights must be finite, none below 0 and not all 0. Got 0 to 0"),
        ([1.0, np.nan], "weights must be finite"),
        ([1.0], r"weights must have shape \(n,\) = \(2,\). Got \(1,\)"),
    ],
)
def test_weights_that_are_refused(name, weights, message):
    with pytest.raises(ValueError, match=message):
        (WEIGHTED | INTERVALS)[name](np.full((2, 2), 0.5), np.array([0, 1]), weights=weights)


# --- kinds of arrays, parts, threads --------------------------------------------------------

# what is computed from the confidences that top_label reads, once they are read, is the same
READ = [
    name
    for name in NUMBERS
    if not name.endswith(("groups", "adaptive_ece_interval", "mce_interval", "confidence_interval"))
]


@for_each(READ, 1)
@given(st.data())
def test_any_kind_of_array(name, data):
    one = data.draw(samples_for(name, n=st.integers(20, 40), kinds=("distinct", "few values")))
    if name not in ("detection", *OF_EVENTS):
        kinds = [
            np.asfortranarray(one.probs),
            one.probs[::-1][::-1],
            torch.from_numpy(one.probs),
            dask.array.from_array(one.probs, chunks=(7, 1)),
            one.probs.tolist(),
        ]
        for probs in kinds:
            same(name, one, dataclasses.replace(one, probs=probs))
    for labels in (one.labels.astype(np.uint8), one.labels.astype(np.int32), one.labels.astype(">i8")):
        same(name, one, dataclasses.replace(one, labels=labels))
    single = one.probs.astype(np.float32)
    wide = dataclasses.replace(one, probs=single.astype(np.float64))
    if name != "detection":
        same(name, wide, dataclasses.replace(one, probs=single), rel=1e-9)


@for_each([name for name in READ if name != "detection"], 1)
@given(st.data())
def test_the_probability_of_class_1_alone(name, data):
    """(n,) is as both columns, in every precision, with labels that are numbers or truth values."""
    one = data.draw(drawn(classes=(2,), n=st.integers(20, 40)))
    for kind in (np.float64, np.float32):
        p = one.probs[:, 1].astype(kind)
        p[:2] = 0, 1
        both = dataclasses.replace(one, probs=np.stack([1 - p, p], axis=1))
        given = [p, torch.from_numpy(p)] if name in OF_EVENTS else [p, torch.from_numpy(p), p.tolist()]
        for probs in given if kind == np.float64 else given[:2]:
            same(name, both, dataclasses.replace(both, probs=probs), rel=1e-7 if name in OF_EVENTS else 1e-12)
        same(name, both, dataclasses.replace(both, probs=p, labels=one.labels == 1), rel=1e-7)


@pytest.mark.parametrize("name", [name for name in READ if name != "detection"])
def test_parts_and_threads(name, monkeypatch):
    """Parts change the last digits of sums alone, and threads nothing."""
    one = draw(1, 60, 2, "few values")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    whole = NUMBERS[name](one)
    monkeypatch.setattr(samples, "CHUNK_SIZE", 14)
    parts = NUMBERS[name](one)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    np.testing.assert_array_equal(NUMBERS[name](one), parts)


def test_half_precision_is_read_as_it_is():
    """Rows of bfloat16 sum to 1 up to 2^-8, as of tensors, and of arrays into which they were converted."""
    z = torch.randn(2000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 3
    p, y = torch.softmax(z, -1), torch.arange(2000) % 10
    for kind, error in ((torch.bfloat16, 2**-8), (torch.float16, 2**-11)):
        rounded = p.to(kind)
        assert float(abs(rounded.double().sum(-1) - 1).max()) > error / 4
        for probs in (rounded, rounded.float().numpy(), rounded.float()):
            assert m.ece(probs, y) == pytest.approx(m.ece(p, y), abs=2 * error)
            assert m.nll(probs, y) == pytest.approx(m.nll(p, y), abs=2 * error)
    with pytest.raises(ValueError, match=r"must sum to 1 over the classes\. Got a sum that is off by 0\.003"):
        m.ece(p.float() * 0.997, y)


# --- logits ---------------------------------------------------------------------------------


def test_a_constant_added_to_logits():
    """Softmax, and scores that are functions of it, do not see it; the energy moves by it."""
    rng = np.random.default_rng(0)
    z = rng.integers(-40, 40, (200, 4)) / 8
    moved = z + rng.integers(-8, 8, (200, 1))
    for name, score in m.DETECTION_SCORES.items():
        shift = (moved - z)[:, 0] if name == "energy" else 0.0
        np.testing.assert_allclose(score(moved), score(z) + shift, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("objective", ["nll", "adaptive-ece"])
def test_a_temperature_is_of_a_set_of_samples(objective):
    """Of a tree with three leaves, in any order of rows and classes, with constants added, and of each row twice."""
    one = draw(0, 900, 2, "few values")
    z, y = log_softmax(np.log(one.probs), axis=1), one.labels
    constants = 2.0 ** np.random.default_rng(1).integers(-3, 3, (900, 1))
    order = np.argsort(y, kind="stable")
    cases = [(z, y), (z[order], y[order]), (z[:, ::-1], 1 - y), (z + constants, y), (z.repeat(2, 0), y.repeat(2))]
    found = [TemperatureScaling(objective=objective).fit(*case).temperature_ for case in cases]
    assert found == pytest.approx([found[0]] * 5, rel=1e-6)
    assert 0.5 < found[0] < 2
