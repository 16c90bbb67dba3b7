"""`calibrate` and its report: one reading, one page without a network, a set of files that belong together."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from markupsafe import escape
from scipy.special import softmax
from sklearn.base import clone

from focal_lib import threads
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.methods import AS_GIVEN, DEFAULT, TEMPERATURE, Method, build_with_prior, not_of
from focal_lib.calibration.saved import load_calibrator
from focal_lib.metrics.bins import adaptive_ece, reliability_bins_of
from focal_lib.metrics.calibration_slope import calibration_slope
from focal_lib.plots import reliability
from focal_lib.theory.maps import focal_log_probs
from focal_lib.tool.evaluation.comparison import hold_out
from focal_lib.tool.evaluation.recommendation import Advice
from focal_lib.tool.inputs import logits_file, npz_file
from focal_lib.tool.report import figures, report
from focal_lib.tool.report.report import FILES, calibrate
from focal_lib.tool.report.summary import describe_fit
from tests.quick import first_is_quick

FAST = {"methods": "temperature,focal-temperature,vector", "resamples": 50}
ALONE = {"methods": "temperature", "resamples": 5}


@pytest.fixture(scope="module")
def data(draw_logits):
    return draw_logits(1500, 2.0)


@pytest.fixture(scope="module")
def found(data):
    return calibrate((data.logits, data.labels), **FAST)


def test_a_file_is_read_once(data, found, tmp_path, monkeypatch):
    opened, load = [], npz_file.open_npz
    monkeypatch.setattr(npz_file, "open_npz", lambda path: opened.append(path) or load(path))
    np.savez(tmp_path / "mine.npz", logits=data.logits, labels=data.labels)
    of_file = calibrate(str(tmp_path / "mine.npz"), **FAST)
    of_file.save(tmp_path / "report")
    assert opened == [tmp_path / "mine.npz"]
    assert of_file.provenance["input"] == "mine.npz"
    pd.testing.assert_frame_equal(of_file.metrics, found.metrics)


@pytest.mark.slow
def test_all_kinds_of_data_give_the_same(data, found, tmp_path):
    np.savez(tmp_path / "mine.npz", logits=data.logits, labels=data.labels)
    kinds = (
        logits_file.read_logits(tmp_path / "mine.npz"),
        data,
        (torch.from_numpy(data.logits), torch.from_numpy(data.labels)),
    )
    for kind in kinds:
        pd.testing.assert_frame_equal(calibrate(kind, **FAST).metrics, found.metrics)
    halves = [data.take(np.arange(0, 700)), data.take(np.arange(700, 1500))]
    apart = calibrate([(half.logits, half.labels) for half in halves], **FAST)
    assert (apart.evaluation.n_fit, apart.evaluation.n_test) == (700, 800)


def test_options_do_what_they_say(data, found):
    assert calibrate(data, share=0.2, **ALONE).evaluation.n_fit == 300
    assert not calibrate(data, seed=1, **ALONE).metrics.equals(calibrate(data, **ALONE).metrics)
    strong = calibrate(data, "focal-temperature", shrinkage=1e6, resamples=5)
    gammas = [abs(report.fits["focal-temperature", "nll"].gamma_) for report in (strong, found)]
    assert gammas[0] < 1e-2 < gammas[1]
    by_folds = calibrate(data, folds=3, **ALONE)
    assert (by_folds.evaluation.n_fit, by_folds.evaluation.n_test, by_folds.evaluation.folds) == (1500, 1500, 3)
    assert len(by_folds.fitted_on) == 1500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"given": "probs"}, "given as probabilities"),
        ({"share": 0.0}, "leave samples on both sides"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"seed": -1}, "seed must be a finite number >= 0"),
        ({"shrinkage": float("inf")}, "shrinkage must be a finite number >= 0"),
        ({"resamples": 0}, "resamples must be a finite number >= 1"),
        ({"relevant": 1.0}, "relevant must lie in"),
    ],
)
def test_bad_options_are_refused_before_work_begins(data, options, message, monkeypatch):
    monkeypatch.setattr(report, "hold_out", None)
    with pytest.raises(ValueError, match=message):
        calibrate((data.logits, data.labels), **options)


def test_default_methods(data):
    few = data.take(np.arange(120))
    others = not_of(DEFAULT, 120, few.classes, default=True)
    assert tuple(calibrate(few, resamples=50).fits) == tuple(m for m in DEFAULT if m not in others)
    assert {method.name for method in others} >= {"platt"}


# --- the parts -------------------------------------------------------------------------


def test_what_is_kept_is_what_is_recommended(draw_logits, found, tmp_path):
    assert found.advice.method == TEMPERATURE == found.kept
    assert found.calibrator is found.fits["temperature", "nll"]
    t = found.calibrator.temperature_
    assert found.kept_in_words == f"calibrator.json holds the fit of temperature: T = {t:.4g}."
    few = calibrate(draw_logits(200, 1.0), **FAST)
    assert few.advice.method is None
    assert few.kept_in_words == "calibrator.json leaves the logits as they are (T = 1)."
    few.save(tmp_path / "few")
    saved, logits = load_calibrator(tmp_path / "few" / "calibrator.json"), few.fitted_on.logits
    np.testing.assert_allclose(saved.predict_proba(logits), softmax(logits, -1), atol=1e-15)
    assert few.advice.words in repr(few)


@pytest.mark.slow
def test_a_fit_outside_the_landscape_is_said(draw_logits):
    def drawn(report):
        return [text.get_text() for text in report.landscape().legends[0].get_texts()]

    inside = calibrate(draw_logits(1500, 2.0), methods="focal-temperature:adaptive-ece", resamples=50)
    fit = inside.fits["focal-temperature", "adaptive-ece"]
    assert "outside" not in inside.landscape_caption() or fit.gamma_ > 1
    fit.gamma_ = 7.0
    assert "The fit of focal-temperature by adaptive-ece, gamma = 7" in inside.landscape_caption()
    assert drawn(inside) == ["temperature"]
    fit.gamma_, fit.temperature_ = 2.0, inside.fits[TEMPERATURE].temperature_
    assert "outside" not in inside.landscape_caption()
    assert drawn(inside) == ["temperature", "focal temperature by adaptive ECE"]
    assert inside.landscape().axes[1].get_ylabel() == "adaptive ECE (%)"


def test_with_many_classes_the_landscape_has_fewer_samples_and_says_so(found, monkeypatch):
    n = len(found.fitted_on)
    monkeypatch.setattr(figures, "_AT_ALL", found.fitted_on.classes * 100)
    monkeypatch.setattr(figures, "_FEWEST", 50)
    monkeypatch.setattr(figures, "_NUMBERS", 0)
    assert f"on one of {n // 100} of the samples fitted on" in found.landscape_caption()
    monkeypatch.setattr(figures, "_CLASSES", found.fitted_on.classes - 1)
    monkeypatch.setattr(figures, "any", lambda fitted: False, raising=False)
    assert "Contours of" not in found.to_html(whole=False)


def test_figures_draw_the_ece_that_their_captions_name(found, data, monkeypatch):
    drawn = {}
    monkeypatch.setattr(reliability, "landscape", lambda *shown: drawn.update(landscape=shown))
    monkeypatch.setattr(reliability, "reliability_diagrams", lambda panels, bands: drawn.update(panels=panels))
    found.landscape()
    found.reliability_diagrams()
    gammas, temperatures, values, marks = drawn["landscape"]
    for name, (gamma, t) in marks.items():  # the colour under a mark is that of the pair
        own = values[list(temperatures).index(t), list(gammas).index(gamma)]
        assert f"{name} {100 * own:.2f} %" in found.landscape_caption()
    probs = np.exp(focal_log_probs(found.fitted_on.logits / temperatures[5], gammas[2]))
    assert values[5, 2] == pytest.approx(adaptive_ece(probs, found.fitted_on.labels), abs=1e-12)
    scores = found.evaluation.scores[TEMPERATURE]
    wide = reliability_bins_of(scores.confidence, scores.correct, binning="width")
    np.testing.assert_array_equal(drawn["panels"]["temperature"].count, wide.count)


def test_figures_leave_the_style_of_others_alone(found):
    plt.switch_backend("agg")
    before = mpl.rcParams.copy()
    found.reliability_diagrams()
    found.landscape()
    assert mpl.rcParams == before


def test_small_temperatures_are_printed(data, found):
    tiny = clone(found.fits[TEMPERATURE]).set_params(prior_sd=None).fit(1e-7 * data.logits, data.labels)
    assert re.fullmatch(r"temperature: T = \d\.\d+e-07\.", describe_fit(TEMPERATURE, tiny))


def test_progress(data):
    said = []
    calibrate(data, folds=0, progress=lambda *step: said.append(step), **FAST)
    fits = [f"fitting {name} of 3" for name in ("temperature, 1", "focal-temperature, 2", "vector, 3")]
    assert said == [(doing, k, 6) for k, doing in enumerate(["reading", "checking", *fits, "measuring"])]
    said.clear()
    calibrate(data, "temperature", folds=2, resamples=50, progress=lambda *step: said.append(step))
    assert len(said) == said[0][2] == 6


def test_small_work_is_on_one_thread_and_others_get_theirs_back(data, monkeypatch):
    seen, before = [], torch.get_num_threads()
    monkeypatch.setattr(report, "hold_out", lambda *args, **_: seen.append(torch.get_num_threads()) or hold_out(*args))
    torch.set_num_threads(2)
    try:
        for small, threads_of_all in ((threads.SMALL, [1]), (100, [1, 2])):
            monkeypatch.setattr(threads, "SMALL", small)
            calibrate(data, "temperature", folds=0, resamples=50)
            assert (seen, torch.get_num_threads()) == (threads_of_all, 2)
    finally:
        torch.set_num_threads(before)


# --- the page --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(found):
    return found.to_html()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags(page):
    parser = Tags()
    parser.feed(page)
    return parser.found


def test_the_page_opens_without_a_network(page):
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|@import", page)
    assert not [tag for tag, _ in tags(page) if tag in ("script", "iframe")]
    assert [own["href"] for tag, own in tags(page) if tag == "link"] == ["data:,"]  # an icon, else a server is asked
    images = [attributes for tag, attributes in tags(page) if tag == "img"]
    assert len(images) == 3
    assert all(image["src"].startswith("data:image/svg+xml;base64,") and len(image["alt"]) > 40 for image in images)
    drawings = [base64.b64decode(image["src"].split(",")[1]).decode() for image in images]
    assert not any(re.search(r"(?:href|src)=\"(?!#)|@import|<script", drawing) for drawing in drawings)


def test_every_cell_of_a_fold_has_its_head_beside_it_on_a_phone(page):
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in tags(page)
    folds = tags(page[page.index("<details>") :])
    heads = [own.get("data-head") for name, own in folds if name == "td"]
    assert heads
    assert all(heads)
    assert all("data-head" in own for name, own in folds if name == "th" and own["scope"] == "row")
    first = page[page.index('<div class="found">') : page.index('<div class="todo">')]
    heads = [own.get("data-head") for name, own in tags(first) if name == "td"]
    assert heads[1:] == ["as given", "after temperature"] * 4  # but for the corner


def test_the_first_screen(found, page):
    first = page[: page.index("</section>")]
    places = [first.index(f"<h2>{head}</h2>") for head in ("What you gave", "What we found", "What to do", "How sure")]
    assert places == sorted(places)
    assert "logits in memory, read as logits: 1,500 samples, 5 classes." in first
    assert "Each is scored by fits on the other 4 of 5 folds; the calibrator is fitted on all." in first
    for text in (found.advice.words, found.kept_in_words):
        assert str(escape(text)) in first
    for number in ("KK24", "Prop.", "proved", "gamma ="):
        assert number not in first
    shown = found.metrics.set_index(["method", "metric"])["value"]
    (_, ece, _), (_, _, nll) = found.summary.found[1:3]
    assert ece.startswith(f"{shown['as given', 'adaptive-ece']:.2f} ")
    assert nll.startswith(f"{shown['temperature', 'nll']:.3f} ")
    assert found.summary.found[-1][1] == "no, overconfident (p < 0.001)"
    assert found.summary.found[-1][2].startswith("no evidence of miscalibration (p = ")


def test_the_first_screen_agrees_with_the_classes_below():
    rng = np.random.default_rng(0)
    margin = rng.normal(0, 2, 8000)  # class 0 is right too seldom, class 1 too often, as a whole they even out
    labels = (rng.random(8000) < 1 / (1 + np.exp(-margin + 0.4))).astype(int)
    logits = np.stack([np.zeros(8000), margin], 1)
    report = calibrate((logits, labels), "temperature", resamples=20, keep="temperature")
    off = int(np.count_nonzero(report.decisions.per_class.certain))
    assert off == 2
    assert report.summary.found[-1][-1] == "no, too high (p < 0.001); 2 of 2 classes are off, see below"
    assert report.summary.heads[-1] == "after temperature"
    assert [name for name, *_ in report.summary.found][:2] == [
        "ECE of class 1, equal width (%)",
        "Observed / expected 1",
    ]


def test_what_is_asked_for_is_kept(data):
    """Whatever is advised, which is said all the same."""

    def keeping(name):
        return calibrate(data, "vector", resamples=10, keep=name)

    advised, vector, none = keeping(""), keeping("Vector"), keeping("as-given")
    assert advised.kept == TEMPERATURE
    assert vector.advice == advised.advice
    assert vector.kept == ("vector", "nll")
    assert vector.calibrator is vector.fits["vector", "nll"]
    assert vector.kept_in_words.startswith("As asked for, not as advised: calibrator.json holds the fit of vector")
    assert vector.summary.heads == ("as given", "after temperature", "after vector")
    assert "keep Vector" in vector.provenance["options"]
    assert none.kept == AS_GIVEN
    np.testing.assert_allclose(none.calibrator.predict_proba(data.logits), softmax(data.logits, axis=-1))
    assert none.kept_in_words == "As asked for, not as advised: calibrator.json leaves the logits as they are (T = 1)."
    assert any(text.startswith("With what was asked for the confidence is off") for text in none.summary.todo)
    assert keeping("temperature").kept_in_words == advised.kept_in_words


@pytest.mark.parametrize(
    ("keep", "message"),
    [("beta", r"one of the methods tried, temperature:nll, vector:nll\. Got beta"), ("best", "methods must be among")],
)
def test_what_is_not_tried_cannot_be_kept(data, keep, message):
    with pytest.raises(ValueError, match=message):
        calibrate((data.logits, data.labels), "vector", keep=keep)


def test_what_is_kept_and_still_off_is_said(draw_logits):
    data = draw_logits(4000, 3.0)
    cold = np.where(np.arange(4000) % 4, 1.0, 8.0)[:, None]  # one of four is far too sure: no one T mends it
    report = calibrate((data.logits * cold, data.labels), "temperature", resamples=20)
    assert report.kept.name == "temperature"
    assert report.summary.found[-1][-1].startswith("no")
    assert report.summary.todo[1].startswith("After it the confidence is still off")
    assert "After it the confidence is still off" in report.to_model_card()


def test_what_should_be_known_comes_before_what_was_drawn(data, draw_logits):
    some = data.take(np.flatnonzero(data.labels != 3))
    page = calibrate((some.logits, some.labels), **ALONE, force=True).to_html()
    assert "Classes without a sample to fit on: 3." in page[page.index("<aside>") : page.index("<figure>")]


def test_the_page_says_what_was_found(found, page):
    for text in (found.kept_in_words, *found.notes, *found.theory, *found.decisions.sentences()):
        assert str(escape(text)) in page
    for text in found.provenance.values():
        assert str(escape(text)) in page
    assert found.metrics["value"].map("{:.3f}".format)[1] in page  # the NLL as given
    assert page.startswith("<!doctype html>")
    inside = found._repr_html_()
    assert not inside.startswith("<!doctype")
    assert "<style" not in inside  # a notebook's own style stays


def test_names_are_escaped(data, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.npz"
    np.savez(path, logits=data.logits, labels=data.labels)
    page = calibrate(path, **ALONE).to_html()
    assert len([tag for tag, _ in tags(page) if tag == "img"]) == 3
    assert "&lt;img src=x" in page


# --- what was given, the split, small sets -----------------------------------------------


def test_a_random_split_is_said_with_what_tests_on_more(data, found):
    split = calibrate(data, "temperature", share=0.5, resamples=5)
    assert split.summary.split == (
        "The split was random (seed 0), and another may lead to other advice: --folds 5 (folds=5) tests on all 1,500 "
        "samples, not on 750 of them, and keeps a fit on all."
    )
    assert str(escape(split.summary.split)) in split.to_html()
    assert found.summary.split == ""
    halves = [(data.logits[::2], data.labels[::2]), (data.logits[1::2], data.labels[1::2])]
    assert calibrate(tuple(halves), "temperature", resamples=5).summary.split == ""
    assert calibrate(data, "temperature", folds=2, resamples=5).summary.split == ""


def test_too_few_samples_to_test_on_are_said(draw_logits, found):
    few = calibrate(draw_logits(14, 1.0, classes=2), "temperature", resamples=5, force=True)
    (said,) = (text for text in few.summary.cautions if "too few to tell much" in text)
    assert said.startswith("There are only 14 samples to test on")
    assert "up to 26 points either way" in said
    assert not found.summary.cautions


@pytest.mark.parametrize("folds", [0, 2])
def test_groups_slices_and_weights_are_among_what_was_given(draw_logits, folds):
    data = draw_logits(600, 2.0)
    of_samples = {"groups": np.arange(600) // 4, "weights": 1.0 + np.arange(600) % 2}
    of_samples["slices"] = np.array(["east", "north", "south"])[np.arange(600) % 3]
    found = calibrate((data.logits, data.labels), "temperature", folds=folds, resamples=5, **of_samples)
    wanted = "Groups: 150, which stay together. Slices: east, north, south. Weights: 1 to 2."
    assert wanted in " ".join(found.summary.gave)


def test_an_ece_that_is_larger_than_that_beside_it_is_said(data):
    found = calibrate((data.logits, data.labels), "vector", resamples=5)
    vector = ("vector", "nll")
    scores = dict(found.evaluation.scores)
    scores[vector] = replace(scores[vector], confidence=np.ones_like(scores[vector].confidence))
    vector = next(method for method in found.fits if method == vector)
    sure = replace(found, evaluation=replace(found.evaluation, scores=scores), advice=Advice(vector, "Use vector."))
    (words,) = (text for text in sure.summary.todo if "is larger than" in text)
    assert f"after temperature ({100 * found.evaluation.adaptive_ece(TEMPERATURE):.2f} %)" in words
    assert not any("is larger than" in text for text in found.summary.todo)


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "csv"), ("b.PARQUET", "parquet"), ("c.npz", "npy")])
def test_new_scores_are_of_the_kind_that_was_given(found, name, kind):
    of_file = replace(found, provenance=found.provenance | {"input": name})
    command = f"focal apply calibrator.json new.{kind} --out probs.{kind}"
    assert of_file.summary.command == command
    assert command in of_file.to_model_card()


# --- the files -------------------------------------------------------------------------


def test_the_files(data, found, tmp_path):
    found.save(tmp_path / "new" / "report")
    assert sorted(path.name for path in (tmp_path / "new" / "report").iterdir()) == sorted(FILES)
    kept = load_calibrator(tmp_path / "new" / "report" / "calibrator.json")
    np.testing.assert_array_equal(kept.predict_proba(data.logits), found.calibrator.predict_proba(data.logits))
    metrics = pd.read_csv(tmp_path / "new" / "report" / "metrics.csv").fillna({"objective": "", "interval": ""})
    pd.testing.assert_frame_equal(metrics, found.metrics)


@pytest.mark.parametrize("fails", first_is_quick(["save_calibrator", "to_csv", "write_text", "to_html"]))
def test_a_failure_leaves_the_old_set(found, tmp_path, monkeypatch, fails):
    found.save(tmp_path)
    (tmp_path / "mine.txt").write_text("not of the report")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*args, **kwargs):
        raise OSError("no space left (planted)")

    other = replace(
        found, advice=Advice(Method("vector", "nll"), "Use vector."), metrics=found.metrics.assign(debiased=1.0)
    )
    owner = {"save_calibrator": report, "to_csv": pd.DataFrame, "write_text": Path, "to_html": report.Report}[fails]
    monkeypatch.setattr(owner, fails, fail)
    with pytest.raises(OSError, match="planted"):
        other.save(tmp_path)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# --- groups, weights and slices --------------------------------------------------------


@pytest.mark.slow
def test_slices_and_groups_are_reported_on(draw_logits):
    data = draw_logits(1600, 2.0)
    names = np.where(np.arange(1600) % 4, "rest", "quarter")
    of_samples = {"groups": np.arange(1600) // 5, "weights": 1.0 + np.arange(1600) % 2, "slices": names}
    found = calibrate((data.logits, data.labels), folds=0, **FAST, **of_samples)
    fitted, tested = found.fitted_on, found.evaluation.parts[0][1]
    assert not np.intersect1d(fitted.groups, tested.groups).size
    assert sorted(found.slices["slice"]) == ["all samples", "quarter", "rest"]
    page = found.to_html()
    assert "Slice by slice" in page
    assert "over groups, whose samples are not independent: Wilson" in page
    assert "Values are weighted" in page
    assert "samples in 160 groups that stay together" in page
    for method in found.compared:
        assert not {"nan", "None"} & set(" ".join(map(str, found.metric_table().loc[tuple(method)])).split())
    plain = calibrate((data.logits, data.labels), **FAST)
    assert plain.slices is None
    assert "Slice by slice" not in plain.to_html()


def test_all_leaves_out_methods_that_count_samples_where_weights_are_not_whole(data):
    weighted = replace(data, weights=np.linspace(0.5, 1.5, len(data)))
    report = calibrate(weighted, **FAST | {"methods": "all"})
    assert {"venn-abers", "structured-matrix"}.isdisjoint(method.name for method in report.fits)
    assert any(note.startswith("Left out, as weights are not whole: ") for note in report.notes)


def test_where_samples_abound_the_default_is_a_split(monkeypatch, data):
    assert calibrate(data, "temperature", resamples=5).evaluation.folds == 5
    monkeypatch.setattr("focal_lib.tool.report.report._CROSS_FITTED", 1500 * 5 - 1)
    split = calibrate(data, "temperature", resamples=5)
    assert (split.evaluation.folds, split.evaluation.n_fit, split.evaluation.n_test) == (0, 750, 750)
    assert calibrate(data, "temperature", folds=3, resamples=5).evaluation.folds == 3


def test_what_is_kept_is_fitted_on_all(data):
    kept = calibrate(data, "temperature", resamples=5).calibrator.temperature_
    alone = build_with_prior(TEMPERATURE).fit(data.logits, data.labels).temperature_
    assert kept == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"share": 0.5}, {"slices": True, "weights": True}], ids=str)
def test_a_report_is_of_the_samples_and_not_of_their_order(options):
    """Folds, splits and resamples: of two classes whose scores tie, as of a tree, shuffled and sorted by label."""
    rng = np.random.default_rng(0)
    p = rng.choice([0.05, 0.2, 0.4, 0.7], 600)
    labels = (rng.random(600) < p).astype(int)
    columns = {"slices": np.arange(600) % 3, "weights": np.resize([1.0, 2.0, 0.5], 600)}
    given = {name: columns.get(name, value) for name, value in options.items()}
    found = []
    for order in (np.arange(600), rng.permutation(600), np.argsort(labels, kind="stable")):
        own = {name: value[order] if name in columns else value for name, value in given.items()}
        data = np.sqrt(p[order]), labels[order]
        found.append(calibrate(data, "temperature,platt", given="probs", resamples=30, force=True, **own))
    for other in found[1:]:
        assert other.advice.words == found[0].advice.words
        numbers = (report.metrics[["value", "low", "high"]] for report in (other, found[0]))
        np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-9)


def test_scores_that_tie_are_judged_as_the_metrics_judge_them():
    """Calibrated scores of 99 values: where equal ones differed by label in the last digit, p was below .001."""
    rng = np.random.default_rng(100)
    scores = np.clip(np.round(rng.beta(0.6, 15, 8000) * 100), 1, 99) / 100
    labels = (rng.random(8000) < scores).astype(int)
    evaluation = calibrate((scores, labels), given="probs", methods="temperature").evaluation
    judged, _ = evaluation.judged(AS_GIVEN)
    assert len(np.unique(judged)) == len(np.unique(scores))
    assert evaluation.calibration_p(AS_GIVEN) > 0.3


# --- probabilities of 0, two classes ----------------------------------------------------------


@pytest.fixture(scope="module")
def forest():
    """Votes of 100 trees on two classes that know too much: 0 votes though one of twelve such samples is an event."""
    rng = np.random.default_rng(4)
    share = rng.beta(0.5, 2.0, 3000)
    votes = np.round(100 * np.clip(1.25 * share - 0.1, 0, 1)) / 100
    return votes, (rng.random(3000) < share).astype(int)


def test_slope_and_intercept_read_a_probability_of_0_as_the_fits_do(forest):
    """Without its targets Platt scaling of these scores is Cox's regression: slope and intercept are one fit's."""
    votes, labels = forest
    found = calibrate(forest, "temperature", given="probs", folds=5, resamples=5)
    floor = votes[votes > 0].min() / 2
    read = np.log(np.stack([np.maximum(1 - votes, floor), np.maximum(votes, floor)], 1))
    fit = PlattScaling(smoothing=False).fit(read, labels)
    slope = found.metrics.query("metric == 'calibration-slope' and method == 'as given'")["value"].item()
    assert slope == pytest.approx(fit.slope_, rel=1e-6)
    assert slope > 2 * calibration_slope(votes, labels).estimate  # which clips at 1e-8
    assert any("which the fits, and slope and intercept, read as" in note for note in found.fitted_on.notes)


def test_a_headline_that_labels_of_probability_0_make_says_so(forest):
    found = calibrate(forest, "temperature", given="probs", folds=5, resamples=5)
    p, y = found.evaluation.judged(AS_GIVEN)
    none = np.where(y == 1, p, 1 - p) < 1e-30
    losing = (forest[0] == 1 - forest[1]).sum()
    assert none.sum() == losing > 10
    losses = [found.evaluation.scores[m].log_loss[~none].mean() for m in (AS_GIVEN, TEMPERATURE)]
    change = f"by {abs(losses[0] - losses[1]):.3g} ({abs(1 - losses[1] / losses[0]):.1%})"
    side = "falls" if losses[1] <= losses[0] else "rises"
    assert (
        f"(without the {none.sum()} labels that have probability 0 as given the NLL {side} {change})"
        in found.advice.words
    )
    some = calibrate((np.clip(forest[0], 0.01, 0.99), forest[1]), "temperature", given="probs", folds=5, resamples=5)
    assert "probability 0" not in some.advice.words


def test_the_ece_of_the_class_is_one_number_of_one_name(forest):
    found = calibrate(forest, "temperature", given="probs", folds=5, resamples=5)
    assert "equal mass" not in f"{found.advice.words}{found.summary}"
    shown = found.metrics.query("metric == 'positive-ece'")["value"]
    assert (
        f"the ECE of class 1 (equal width) goes from {shown.iloc[0]:.2f} to {shown.iloc[1]:.2f}" in found.advice.words
    )
    assert "ECE of class 1, equal width (%)" in found.summary.table().index


def test_what_is_kept_of_platt_scaling_has_its_numbers(forest):
    found = calibrate(forest, "platt", given="probs", folds=5, resamples=5, keep="platt")
    fit = found.calibrator
    assert f"platt: slope {fit.slope_:.3g}, intercept {fit.intercept_:.3g}." in found.kept_in_words


def test_why_an_nll_is_infinite_is_said(forest):
    found = calibrate(forest, "temperature,isotonic", given="probs", folds=5, resamples=5)
    said = next(note for note in found.notes if note.startswith("isotonic:"))
    assert "as of what it was fitted on no sample with such scores has that class, so the NLL is infinite" in said


@pytest.mark.parametrize("classes", [2, 3])
def test_the_diagrams_have_the_weights(classes):
    """Events, or right answers, that count three times as much."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(1200, classes))
    labels = (logits + rng.gumbel(size=(1200, classes))).argmax(1)
    right = labels == 1 if classes == 2 else labels == logits.argmax(1)
    found = calibrate((logits, labels), "temperature", resamples=5, folds=2, weights=np.where(right, 3.0, 1.0))
    probability, observed = found.evaluation.judged(AS_GIVEN)
    share = np.average(observed, weights=np.where(observed == 1, 3.0, 1.0))
    assert share > observed.mean() + 0.1
    alt = found.reliability_alt(AS_GIVEN)
    assert f"{'observed' if classes == 2 else 'accuracy'} {share:.1%}" in alt
    binning = "mass" if classes == 2 else "width"
    weights = found.evaluation.design.weights
    bins = reliability_bins_of(probability, observed, binning=binning, weights=weights)
    top = found.reliability_diagrams([AS_GIVEN]).axes[0]
    points = next(line for line in top.lines if line.get_marker() == "o").get_ydata()
    np.testing.assert_allclose(points, bins.accuracy)
