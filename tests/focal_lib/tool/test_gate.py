"""Pass, fail or investigate: never passed where the interval does not say so, or where nothing ran."""

import json
import math
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import special
from scipy.special import softmax

from focal_lib.calibration import TemperatureScaling, load_calibrator, save_calibrator
from focal_lib.cli import main
from focal_lib.metrics.ece_interval import adaptive_ece_interval, ece_interval
from focal_lib.tool import Outcome, check


@pytest.fixture(scope="module")
def overconfident(draw_logits):
    return draw_logits(3000, 2.5)


def focal(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def run(tmp_path):
    def call(data, *flags):
        np.savez(tmp_path / "z.npz", logits=data.logits, labels=data.labels)
        return focal("check", tmp_path / "z.npz", *flags)

    return call


@pytest.mark.parametrize(("metric", "interval"), [("ece", ece_interval), ("adaptive-ece", adaptive_ece_interval)])
def test_the_outcome_is_that_of_the_interval(overconfident, metric, interval):
    i = interval(softmax(overconfident.logits, 1), overconfident.labels)
    ends = ((i.high, Outcome.PASS), ((i.low + i.high) / 2, Outcome.INVESTIGATE), (0.99 * i.low, Outcome.FAIL))
    for limit, outcome in ends:
        found = check(overconfident, limit + 1e-12, metric=metric)
        assert found.outcome == outcome
        assert (found.value, found.low, found.high) == pytest.approx((100 * i.estimate, 100 * i.low, 100 * i.high))
        assert found.words.lower().startswith(outcome.name.lower()[:4])
        assert " of 5 classes (15 bins of equal " in found.words


def test_after_a_calibrator(overconfident, tmp_path, run):
    fit = TemperatureScaling().fit(overconfident.logits, overconfident.labels)
    assert check(overconfident, 0.05).outcome == Outcome.FAIL
    assert check(overconfident, 0.05, calibrator=fit).outcome == Outcome.PASS
    save_calibrator(fit, tmp_path / "c.json")
    assert run(overconfident, "--max-ece", 0.05).exit_code == 1
    assert run(overconfident, "--max-ece", 0.05, "--calibrator", tmp_path / "c.json").exit_code == 0


def test_of_two_sets_the_test_set(overconfident, draw_logits):
    good = draw_logits(3000, 1.0)
    pairs = [(data.logits, data.labels) for data in (overconfident, good)]
    assert check(pairs, 0.05).outcome == Outcome.PASS
    assert check(pairs[::-1], 0.05).outcome == Outcome.FAIL


def test_what_did_not_run_never_passes(overconfident, tmp_path, run):
    shuffled = type(overconfident)(overconfident.logits, np.random.default_rng(0).permutation(overconfident.labels))
    found = run(shuffled, "--max-ece", 0.99)
    assert found.exit_code == 2
    assert "samples and labels in the same order" in found.output
    run(shuffled, "--max-ece", 0.99, "--out", tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text(), parse_constant=pytest.fail)["value"] is None
    assert run(shuffled, "--max-ece", 0.01, "--force").exit_code == 1
    for flags in (("--max-ece", -1), ("--max-ece", 0.1, "--given", "probs"), ("--max-ece", "nan"), ()):
        assert run(overconfident, *flags).exit_code == 2
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04")
    assert focal("check", tmp_path / "broken.npz", "--max-ece", "1").exit_code == 2


def test_files_for_other_programs(overconfident, tmp_path, run):
    for limit, kind in ((0.5, None), (0.001, "failure")):
        code = run(overconfident, "--max-ece", limit, "--out", tmp_path / "c.xml").exit_code
        case = ElementTree.parse(tmp_path / "c.xml").getroot()[0]
        assert [child.tag for child in case] == ([kind] if code else [])
    run(overconfident, "--max-ece", 0.5, "--out", tmp_path / "c.json")
    found = json.loads((tmp_path / "c.json").read_text())
    assert [found[name] for name in ("outcome", "limit", "unit", "samples")] == ["pass", 50.0, "per cent", 3000]


@pytest.mark.parametrize(
    ("limit", "metric", "message"),
    [(-0.1, "ece", "limit must be a finite number >= 0"), (0.1, "mce", "metric must be one of ece, adaptive-ece")],
)
def test_bad_options(overconfident, limit, metric, message):
    with pytest.raises(ValueError, match=message):
        check(overconfident, limit, metric=metric)


# --- slices and groups -------------------------------------------------------------------


@pytest.fixture(scope="module")
def sliced(draw_logits):
    """A calibrated slice, an overconfident one, and a tiny one, in this order."""
    parts = draw_logits(2000, 1.0, seed=1), draw_logits(1000, 3.0, seed=2), draw_logits(12, 1.0, seed=3)
    logits, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("logits", "labels"))
    names = np.repeat(["north", "south", "islands"], [2000, 1000, 12])
    return logits, labels, names


def test_each_slice_is_judged_and_the_worst_outcome_counts(sliced):
    logits, labels, names = sliced
    found = check((logits, labels), 0.1, slices=names)
    assert [(part.name, part.outcome.name) for part in found.slices] == [
        ("south", "FAIL"),
        ("islands", "INVESTIGATE"),
        ("north", "PASS"),
    ]
    assert found.outcome == Outcome.FAIL
    said = "Failed: 1 of 3 slices pass, 1 fail and 1 are to be investigated at the limit, 10 per cent."
    assert found.words.startswith(said)
    assert check((logits, labels), 0.1).outcome != Outcome.FAIL  # the whole alone does not show it
    some = names != "south"
    assert check((logits[some], labels[some]), 0.1, slices=names[some]).outcome == Outcome.INVESTIGATE
    north = names == "north"
    assert check((logits[north], labels[north]), 0.1, slices=names[north]).outcome == Outcome.PASS


def test_a_slice_whose_samples_all_have_weight_0_is_none(sliced):
    logits, labels, names = sliced
    weights = np.where(names == "islands", 0.0, 1.0)
    found = check((logits, labels), 0.1, slices=names, weights=weights)
    assert [part.name for part in found.slices] == ["south", "north"]


def test_slices_in_files_for_other_programs(sliced, tmp_path):
    logits, labels, names = sliced
    found = check((logits, labels), 0.1, slices=names)
    told = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert [part["outcome"] for part in told["slices"]] == ["fail", "investigate", "pass"]
    suite = ElementTree.fromstring(found.to_junit())
    kinds = {case.get("name").split(":")[0]: [child.tag for child in case] for case in suite}
    assert (kinds["south"], kinds["islands"], kinds["north"]) == (["failure"], ["error"], [])
    assert (suite.get("tests"), suite.get("failures")) == ("4", str([*kinds.values()].count(["failure"])))
    np.savez(tmp_path / "z.npz", logits=logits, labels=labels, site=names, page=np.arange(len(labels)) // 5)
    flags = "--max-ece", "0.1", "--slices", "site", "--groups", "page", "--out", tmp_path / "c.json"
    assert focal("check", tmp_path / "z.npz", *flags).exit_code == 1
    told = json.loads((tmp_path / "c.json").read_text())
    assert [part["name"] for part in told["slices"]] == ["south", "islands", "north"]
    assert told["slices"][1]["low"] is None  # 3 groups


def test_what_a_pass_over_groups_does_not_tell_is_said(overconfident):
    """None of 20 groups is of another kind: with 95 % fewer than 1 - 0.05^(1/20) of all groups are."""
    pair = overconfident.logits, overconfident.labels
    found = check(pair, 0.5, groups=np.arange(3000) % 20)
    assert found.outcome == Outcome.PASS
    assert found.words.endswith("Any one kind of group that is not among these 20 may be up to 14 per cent of all.")
    assert "kind of group" not in check(pair, 0.5).words


def test_of_few_groups_nothing_is_told(overconfident):
    pair = overconfident.logits, overconfident.labels
    found = check(pair, 0.99, groups=np.arange(3000) % 5)
    assert found.outcome == Outcome.INVESTIGATE
    assert "groups worth fewer than 10 of equal size have no interval" in found.words
    found = check(pair, 0.001, groups=np.arange(3000) // 10)
    assert found.outcome == Outcome.FAIL


@pytest.mark.parametrize(("fitted", "checked"), [("multi-label", "binary"), ("options", "classes")])
def test_a_calibrator_of_another_layout_is_asked_about(overconfident, fitted, checked):
    z, y = overconfident.logits, overconfident.labels
    some = y < 2
    pair = (z[some, 1] - z[some, 0], y[some]) if checked == "binary" else (z, y)
    own = TemperatureScaling().fit(*((z[some, :2], y[some]) if checked == "binary" else (z, y)))
    assert "The calibrator" not in check(pair, 0.05, calibrator=own).words
    own.layout_ = fitted
    found = check(pair, 0.05, calibrator=own)
    assert found.outcome == Outcome.INVESTIGATE
    assert f"fitted on {fitted} scores, and these are {checked}: is it that of this model?" in found.words
    assert "The calibrator" not in check(pair, 0.05, calibrator=own, force=True).words
    own.layout_ = checked
    assert "The calibrator" not in check(pair, 0.05, calibrator=own).words


def test_a_calibrator_knows_the_names_of_its_columns(run, tmp_path):
    """Vector scaling has numbers of its own for each column; a temperature has not."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3000, 3)) * 3
    y = np.array([rng.choice(3, p=row) for row in softmax(z * [0.3, 1, 1] + [1, 0, 0], axis=1)])
    frame = pd.DataFrame(z, columns=["cat", "dog", "owl"]).assign(label=np.array(["cat", "dog", "owl"])[y])
    frame[["cat", "dog", "owl", "label"]].to_csv(tmp_path / "one.csv", index=False)
    frame[["owl", "cat", "dog", "label"]].to_csv(tmp_path / "other.csv", index=False)
    for methods, told in (("vector", True), ("temperature", False)):
        flags = "--methods", methods, "--out", tmp_path / methods, "--resamples", "50"
        assert focal("calibrate", tmp_path / "one.csv", *flags).exit_code == 0
        own = load_calibrator(tmp_path / methods / "calibrator.json")
        assert own.class_names_.tolist() == ["cat", "dog", "owl"]
        same, other = (check(tmp_path / name, 0.9, calibrator=own).words for name in ("one.csv", "other.csv"))
        assert "columns" not in same
        assert ("column 0 was cat, and here it is owl" in other) == told
    assert type(load_calibrator(tmp_path / "vector" / "calibrator.json")).__name__ == "VectorScaling"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["broken.npz", "--max-ece", "0.1"], "must be an npz file of numbers"),
        (["none.npz", "--max-ece", "0.1"], "does not exist"),
        (["z.npz", "--max-ece", "2"], "2.0 is not in the range"),
        (["z.npz", "--max-ece", "0.1", "--calibrator", "none.json"], "does not exist"),
        (["z.npz", "--max-ece", "0.1", "--given", "probs"], "were given as probabilities"),
        ([], "Missing argument"),
    ],
)
@pytest.mark.parametrize("name", ["c.xml", "c.json"])
def test_what_did_not_run_leaves_its_reason(overconfident, tmp_path, monkeypatch, flags, words, name):
    """Also in place of an old result, which would say something else."""
    monkeypatch.chdir(tmp_path)
    np.savez("z.npz", logits=overconfident.logits, labels=overconfident.labels)
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / name).write_text("old")
    assert focal("check", *flags, "--out", name).exit_code == 2
    text = (tmp_path / name).read_text()
    if name.endswith("xml"):
        (case,) = ElementTree.fromstring(text)
        assert [child.tag for child in case] == ["error"]
        assert words in case[0].get("message")
        assert ElementTree.fromstring(text).get("errors") == "1"
    else:
        told = json.loads(text, parse_constant=pytest.fail)
        assert (told["outcome"], told["value"], told["samples"]) == ("investigate", None, 0)
        assert words in told["words"]


def test_a_reason_is_not_written_over_what_is_read(overconfident, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("z.npz", logits=overconfident.logits, labels=overconfident.labels)
    (tmp_path / "link.json").hardlink_to(tmp_path / "z.npz")
    before = (tmp_path / "z.npz").read_bytes()
    for out in ("z.npz", "./z.npz", "link.json"):
        for flags in (["--max-ece", "2"], ["--max-ece", "0.1"]):
            assert focal("check", "z.npz", *flags, "--out", out).exit_code == 2
            assert focal("check", "z.npz", *flags, f"--out={out}").exit_code == 2
    assert (tmp_path / "z.npz").read_bytes() == before
    assert focal("check", "z.npz", "--max-ece", "0.1", "--out", "-").exit_code == 2
    assert not (tmp_path / "-").exists()


def test_what_a_calibrator_was_fitted_on_is_no_test_of_it(overconfident):
    fit = TemperatureScaling().fit(overconfident.logits, overconfident.labels)
    assert "only if these are others than it was fitted on" in check(overconfident, 0.05, calibrator=fit).words
    assert "fitted on" not in check(overconfident, 0.05).words


# --- two classes ---------------------------------------------------------------------------


def rare_events(n, seed, times=1.0, prevalence=0.01):
    """Probabilities of an event of about this prevalence, `times` what is true, and outcomes."""
    rng = np.random.default_rng(seed)
    true = special.expit(rng.normal(size=n) + special.logit(prevalence) - 0.5)
    return np.minimum(times * true, 0.999), (rng.random(n) < true).astype(int)


def test_a_model_that_promises_too_many_events_fails_whose_top_label_is_right():
    """As trees trained with scale_pos_weight: nearly every 'no' is right, and a .33 is a .1."""
    rng = np.random.default_rng(0)
    true = special.expit(rng.normal(size=8000) - 2.6)
    label = (rng.random(8000) < true).astype(int)
    weighted = true * 5 / (true * 5 + 1 - true)  # odds times five
    for scores in (weighted, np.stack([1 - weighted, weighted], 1)):
        found = check((scores, label), 0.05, given="probs")
        assert (found.outcome, found.metric) == (Outcome.FAIL, "positive-ece")
        assert found.value == pytest.approx(100 * (weighted.mean() - label.mean()), abs=0.5)
        assert "its probabilities are too high on the whole" in found.words
    top = check((weighted, label), 0.15, metric="ece", given="probs")
    assert top.high < 15
    assert top.outcome == Outcome.INVESTIGATE  # a model that never expects an event would keep 15 %, too


@pytest.mark.parametrize("metric", ["ece", "adaptive-ece"])
def test_a_top_label_error_in_which_those_of_two_classes_cancel_does_not_pass(metric):
    """Of .3 a tenth are events and of .7 half: top-label confidence .7 is right .9 and .5 of the time, .7 together."""
    p = np.repeat([0.3, 0.7], 4000)
    label = np.r_[np.arange(4000) % 10 < 1, np.arange(4000) % 2].astype(int)
    found = check((p, label), 0.05, metric=metric, given="probs")
    assert (found.outcome, found.value) == (Outcome.INVESTIGATE, pytest.approx(0, abs=1e-9))
    assert "the error of class 1 is above the limit, 5 per cent: 20.00, interval 1" in found.words
    assert check((p, label), 0.05, given="probs").outcome == Outcome.FAIL
    assert check((p, label), 0.25, metric=metric, given="probs").outcome == Outcome.PASS


@pytest.mark.parametrize("prevalence", [0.01, 0.001])
@pytest.mark.parametrize("times", [1.0, 2.5])
def test_a_limit_that_a_model_without_events_would_keep_does_not_pass(prevalence, times):
    data = rare_events(40_000, 1, times, prevalence)
    coarse = check(data, 0.02, given="probs")
    assert coarse.outcome == Outcome.INVESTIGATE
    assert "a model that never expects it would keep it" in coarse.words
    ratio = check(data, 0.5, metric="observed-expected", given="probs")
    assert ratio.outcome == (Outcome.PASS if times == 1 else Outcome.FAIL)
    none = np.full(40_000, 1e-6), data[1]
    assert check(none, 0.02, given="probs").outcome == Outcome.INVESTIGATE
    of_none = check(none, 0.5, metric="observed-expected", given="probs", force=True)
    assert of_none.outcome == Outcome.FAIL


def test_the_rarer_class_is_held_against_what_was_expected_of_it_whichever_it_is():
    """Class 0 of 0.8 %, 2.6 times too high: O/E of class 1 would be 1.01."""
    p, y = rare_events(40_000, 1, 2.6, 0.008)
    one, other = (check(data, 0.2, metric="observed-expected", given="probs") for data in ((p, y), (1 - p, 1 - y)))
    assert one.outcome == other.outcome == Outcome.FAIL
    assert other.value == pytest.approx(one.value, rel=1e-6)
    assert "observed-expected of class 0" in other.words
    named = check((1 - p, 1 - y), 0.2, metric="observed-expected", given="probs", class_names=["ill", "well"])
    assert "observed-expected of class 'ill'" in named.words


@pytest.mark.parametrize("slices", [None, ["here"] * 4000])
def test_of_several_classes_a_limit_that_always_the_commonest_would_keep_does_not_pass(slices):
    """Rare ones 2.5 times too high."""
    rng = np.random.default_rng(0)
    shares = np.array([0.987, 0.007, 0.006])
    labels = rng.choice(3, 4000, p=shares)
    too_high = shares * [1, 2.5, 2.5] / (shares @ [1, 2.5, 2.5]) * rng.uniform(0.99, 1.01, (4000, 1))
    found = check((np.log(too_high), labels), 0.03, slices=slices, force=True)
    assert found.high < 3
    assert found.outcome == Outcome.INVESTIGATE
    assert "a model that never expects these would keep it" in found.words
    assert check((np.log(too_high), labels), 0.003, force=True).outcome == Outcome.FAIL


def test_of_rare_events_a_calibrated_model_passes_and_hardly_ever_fails():
    outcomes = [check(rare_events(20_000, seed), 0.004, given="probs").outcome for seed in range(10)]
    assert set(outcomes) == {Outcome.PASS}
    failed = sum(check(rare_events(2000, seed), 0.0, given="probs").outcome == Outcome.FAIL for seed in range(40))
    assert failed <= 5


def test_metrics_of_an_event_are_of_two_classes():
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(500, 3))
    y = (z + rng.gumbel(size=z.shape)).argmax(1)
    with pytest.raises(
        ValueError, match=r"positive-ece is of two classes, ece or adaptive-ece of more\. Got 3 classes"
    ):
        check((z, y), 0.1, metric="positive-ece")
    assert check((z, y), 0.1).metric == "ece"


def test_probabilities_that_are_all_0(tmp_path):
    """Read as 1e-38, by which the number of events is not divided."""
    labels = (np.arange(500) < 5).astype(int)
    found = check((np.zeros(500), labels), 0.2, metric="observed-expected", given="probs", force=True)
    assert found.outcome == Outcome.FAIL
    assert "Expected 0 per cent, observed 1." in found.words
    assert json.loads(found.to_json())["value"] is None


# --- what passes and tells nothing ----------------------------------------------------------


def test_scores_that_are_all_equal_rank_nothing():
    """The share of the class for every sample is calibrated, and no use."""
    same = check((np.full(2000, 0.3), [1] * 600 + [0] * 1400), 0.05, given="probs")
    assert same.outcome == Outcome.PASS
    assert same.words.endswith("All scores are equal: calibrated or not, they rank no sample above another.")
    three = np.tile([0.2, 0.3, 0.5], (1000, 1)), np.repeat([0, 1, 2], [200, 300, 500])
    assert "they rank no sample above another" in check(three, 0.05, given="probs").words
    turned = np.where(np.arange(1000)[:, None] % 2, [0.3, 0.2, 0.5], [0.2, 0.3, 0.5]), three[1]
    assert "rank no sample" not in check(turned, 0.05, given="probs", force=True).words


@pytest.mark.parametrize("event", [0, 1])
def test_samples_of_one_outcome_say_what_they_cannot_tell(event):
    """No event of 2,000: its share is at most 3.69 / 2,000 (Garwood 1936), so 10 of them take 5,427 samples."""
    rare = np.random.default_rng(0).beta(1, 200, 2000)
    found = check((1 - rare if event else rare, np.full(2000, event)), 0.05, given="probs")
    assert found.outcome == Outcome.INVESTIGATE
    assert "one outcome did not come" in found.words
    assert f"samples are {'events' if event else 'without the event'}: they bound its share" in found.words
    assert "with at least 10 of the rarer outcome: about 5,427 or more." in found.words
    assert math.ceil(10 / (-math.log(0.025) / 2000)) == pytest.approx(5427, abs=10)
