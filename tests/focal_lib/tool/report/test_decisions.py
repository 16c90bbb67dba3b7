"""What a report says on decisions: numbers of the samples, as sentences, as JSON, as a section of a model card."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import softmax

from focal_lib.calibration import TemperatureScaling
from focal_lib.calibration.methods import TEMPERATURE
from focal_lib.cli import main
from focal_lib.metrics.net_benefit import net_benefit
from focal_lib.metrics.per_class import class_reliability, confusion_by_confidence
from focal_lib.metrics.risk_coverage import risk_coverage
from focal_lib.metrics.scores import top_label
from focal_lib.tool import calibrate, decide
from focal_lib.tool.evaluation.recommendation import Advice
from focal_lib.tool.report.as_json import plain, report_as_json
from focal_lib.tool.report.model_card import escape, model_card


@pytest.fixture(scope="module")
def data(draw_logits):
    return draw_logits(2000, 2.0)


@pytest.fixture(scope="module")
def report(data):
    return calibrate((data.logits, data.labels), "temperature,vector", resamples=50)


@pytest.fixture(scope="module")
def decisions(data):
    return decide([(None, data)])


def test_they_are_those_of_the_metrics(data):
    fit = TemperatureScaling().fit(data.logits, data.labels)
    for calibrator, p in ((None, softmax(data.logits, 1)), (fit, fit.predict_proba(data.logits))):
        found = decide([(calibrator, data)], risks=(0.05, 0.1))
        curve = risk_coverage(p, data.labels)
        np.testing.assert_allclose(found.risk_coverage.bound, curve.bound)
        assert found.thresholds == {0.05: curve.certified(0.05), 0.1: curve.certified(0.1)}
        np.testing.assert_allclose(found.per_class.gap, class_reliability(p, data.labels).gap)
        assert found.confusion == confusion_by_confidence(p, data.labels)
        assert found.net_benefit is None


def test_of_a_binary_model_net_benefit(draw_logits):
    data = draw_logits(500, 2.0, classes=2)
    found = decide([(None, data)])
    np.testing.assert_allclose(found.net_benefit.gain, net_benefit(softmax(data.logits, 1), data.labels).gain)
    assert found.net_benefit_table()["treat all"].tolist() == found.net_benefit.treat_all.tolist()


def test_folds_one_after_the_other(data, decisions):
    parts = [(None, data.take(np.arange(700))), (None, data.take(np.arange(700, 2000)))]
    found = plain(decide(parts))
    assert "fitted on the others" in found.pop("caveats")[0]
    assert found == {name: value for name, value in plain(decisions).items() if name != "caveats"}


def test_names_of_classes(data):
    named = replace(data, class_names=tuple("vwxyz"))
    found = decide([(None, named)])
    assert set(found.class_table()["class"]) == set("vwxyz")
    first = found.confusion[1].pairs[0]
    text = f"{'vwxyz'[first.label]} -> {'vwxyz'[first.predicted]} ({first.count:,})"
    assert found.confusion_table().iloc[1, 3].startswith(text)


def test_sentences_say_what_is_certified(decisions, draw_logits):
    words = decisions.sentences()
    for risk, t in decisions.thresholds.items():
        own = [sentence for sentence in words if f"{100 * risk:g} %" in sentence]
        assert any(f"above {t.threshold!r}:" in s if t else "certify no threshold" in s for s in own)
    assert re.match(
        r"\d of the 5 classes that are predicted (is|are) miscalibrated: the 95 % interval .* excludes 0", words[-1]
    )
    few = decide([(None, draw_logits(30, 1.0))])
    assert "30 samples certify no threshold" in few.sentences()[0]
    assert "No class is shown to be miscalibrated" in few.sentences()[-1]
    assert decide([(None, draw_logits(300, 1.0))], risks=[0.999]).sentences()[0].startswith("Answer always")


def test_what_is_said_of_a_threshold_is_what_was_tested(data, report):
    """In words, in the table and in JSON the same number, of few digits, and what it answers is as they say."""
    confidence, correct = top_label(softmax(data.logits, 1), data.labels)
    found = decide([(None, data)], risks=(0.2, 0.3))
    for risk, said in zip((0.2, 0.3), found.sentences(), strict=False):
        threshold = float(re.match(r"Answer where the confidence is above (0\.\d{4,6}):", said)[1])
        t, answered = found.thresholds[risk], confidence > threshold
        assert (threshold, answered.mean(), 1 - correct[answered].mean()) == (
            t.threshold,
            t.coverage,
            pytest.approx(t.risk),
        )
        assert found.threshold_table().set_index("risk at most").loc[risk, "threshold"] == threshold
        assert plain(found)["thresholds"][str(risk)]["threshold"] == threshold
        assert t.bound <= risk
    page = report.to_html()
    assert all(repr(t.threshold) in page for t in report.decisions.thresholds.values() if t)


def test_no_parts():
    with pytest.raises(ValueError, match="parts must hold at least one set"):
        decide([])


# --- JSON ----------------------------------------------------------------------------------


def test_all_of_the_report_is_in_the_json(report):
    found = json.loads(report_as_json(report), parse_constant=pytest.fail)
    assert found["advice"] == {"method": "temperature", "objective": "nll", "words": report.advice.words}
    assert found["samples"]["test"] == report.evaluation.n_test
    assert found["methods"][0]["parameters"]["temperature"] == report.fits[TEMPERATURE].temperature_
    assert len(found["metrics"]) == len(report.metrics)
    for row, values in zip(found["metrics"], report.metrics.to_dict("records"), strict=True):
        for name, value in values.items():
            assert row[name] == (None if value != value else value)
    assert len(found["differences"]) == len(report.differences)
    assert sum(found["reliability"][0]["count"]) == report.evaluation.n_test
    for diagram in found["reliability"]:
        low, high = diagram["low if calibrated"], diagram["high if calibrated"]
        assert all(a <= p <= b for a, p, b in zip(low, diagram["confidence"], high, strict=True))
    assert (found["notes"], found["provenance"]) == (list(report.notes), report.provenance)
    assert found["decisions"]["risk_coverage"]["bound"] == report.decisions.risk_coverage.bound.tolist()


def test_infinite_numbers_are_named(report):
    metrics = report.metrics.copy()
    metrics.loc[1, "value"] = np.inf
    found = json.loads(report_as_json(replace(report, metrics=metrics)), parse_constant=pytest.fail)
    assert found["metrics"][1]["value"] is None
    assert found["metrics"][1]["infinite"] == ["value"]
    assert "infinite" not in found["metrics"][0]


def test_logits_that_stay(report):
    found = json.loads(report_as_json(replace(report, advice=Advice(None, "Leave them."))))
    assert found["advice"] == {"method": None, "objective": None, "words": "Leave them."}
    assert found["kept"]["method"] == "as given"


def test_plain_values():
    values = {1: (np.float32(0.5), np.arange(2), np.bool_(True)), "none": [None, np.nan, -np.inf, "text"]}
    assert plain(values) == {"1": [0.5, [0, 1], True], "none": [None, None, None, "text"]}
    with pytest.raises(TypeError, match="Got set"):
        plain({1})


# --- model card ----------------------------------------------------------------------------


def test_the_card_has_the_numbers_of_the_report(report):
    card = model_card(report)
    table = report.metrics.set_index(["method", "metric"])
    for method in ("as given", "temperature"):
        row = table.loc[(method, "nll")]
        assert f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in card
    assert f"softmax(logits / {report.calibrator.temperature_:.6g})" in card
    assert all(escape(sentence) in card for sentence in report.decisions.sentences())
    assert all(escape(value) in card for value in report.provenance.values())
    lines = [line for line in card.splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in lines} == {2}
    assert "nan" not in card


def test_the_card_of_other_methods(report):
    vector = next(method for method in report.fits if method.name == "vector")
    card = model_card(replace(report, advice=Advice(vector, "Use vector rather than temperature.")))
    assert "by vector scaling: `focal apply" in card
    assert "|  | as given | after temperature | after vector |" in card
    stays = model_card(replace(report, advice=Advice(None, "Leave them.")))
    assert "softmax of the logits, as they are" in stays
    assert "after" not in stays.split("###")[0]


def test_names_are_text_in_the_card(report):
    provenance = report.provenance | {"input": "a|b<script>`x`*.npz"}
    card = model_card(replace(report, provenance=provenance, suspicions=("Odd [link](x).",)))
    assert "a\\|b\\<script\\>\\`x\\`\\*.npz" in card
    assert "\\[link\\](x)" in card


def test_what_the_bounds_leave_out_is_said(data, decisions):
    assert not decisions.caveats
    grouped = replace(data, groups=np.arange(2000) // 2, weights=np.ones(2000))
    words = decide([(None, grouped)]).sentences()
    assert "weights are left out" in words[-2]
    assert "those of one group are not" in words[-1]


# --- focal calibrate ------------------------------------------------------------------------


def test_files_for_programs_and_cards(data, tmp_path):
    np.savez(tmp_path / "z.npz", logits=data.logits, labels=data.labels)
    flags = ["calibrate", str(tmp_path / "z.npz"), "--out", str(tmp_path / "r"), "--methods", "temperature"]
    more = ["--json", str(tmp_path / "r.json"), "--model-card", str(tmp_path / "card.md")]
    found = CliRunner().invoke(main, [*flags, *more])
    assert found.exit_code == 0, found.output
    content = json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)
    assert content["advice"]["words"] in found.output
    assert content["decisions"]["risk_coverage"]["samples"] == content["samples"]["test"]
    assert content["calibration_test"][0]["p"] > 0
    assert (tmp_path / "card.md").read_text().startswith("## Calibration\n")
    for same in (["--json", tmp_path / "x", "--model-card", tmp_path / "x"], ["--json", tmp_path / "r/report.html"]):
        refused = CliRunner().invoke(main, [*flags, *map(str, same)])
        assert refused.exit_code == 1
        assert "a file of its own" in refused.output
    assert CliRunner().invoke(main, [*flags, "--json", str(tmp_path / "z.npz")]).exit_code == 1


@pytest.mark.parametrize("common", [False, True])
def test_of_a_rare_event_it_is_said_where_to_act(common):
    """Answers that never expect it are 99 % right: nothing is said of these, nor of the error on the first screen."""
    rng = np.random.default_rng(0)
    z = 1.5 * rng.normal(size=8000) - 5.5
    y = (rng.random(8000) < 1 / (1 + np.exp(-z))).astype(int)
    z, y = (-z, 1 - y) if common else (z, y)
    report = calibrate((z, y), "temperature", resamples=20)
    curve, (words, *_) = report.decisions.net_benefit, report.decisions.sentences()
    rare = min(y.mean(), 1 - y.mean())
    doubles = rare * 2.0 ** np.arange(-3, len(curve.threshold) - 3)
    np.testing.assert_allclose(np.sort(1 - curve.threshold if common else curve.threshold), doubles, rtol=0.05)
    gains = curve.threshold[curve.low > 0]
    assert words.endswith(
        f"better than always or never at thresholds of {gains[0]:.2g} to {gains[-1]:.2g} (95 % intervals)."
    )
    page, card = report.to_html(), report.to_model_card()
    for text in (page, card):
        assert words in text
        assert "Answer where the confidence" not in text
    assert "Right and wrong by confidence" not in page
    assert "twice scikit-learn" in page
    assert "| Brier score, sum over both classes |" in card
