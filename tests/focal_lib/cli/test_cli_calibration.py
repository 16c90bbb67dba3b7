"""focal calibrate, apply and export, with the options that say what a file holds."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import expit, softmax

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.one_vs_rest import HistogramBinning
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import DEFAULT, METHODS
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.cli import main
from focal_lib.cli.calibrate import progress_line
from focal_lib.metrics import ece
from focal_lib.theory import focal_logit
from focal_lib.tool.report.report import FILES

FAST = "--methods", "temperature,vector", "--resamples", "50"
RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(300, 3)) * 4
TRUE = (RNG.random((300, 3)) < expit(MANY / 2)).astype(int)
QUICK = "--methods", "temperature", "--resamples", "50"


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


def test_calibrate_leaves_a_report_and_a_calibrator_that_applies(run, tmp_path, draw_logits):
    data = draw_logits(1500, 2.0)
    logits = data.logits.astype(np.float32)
    np.savez(tmp_path / "mine.npz", logits=logits, labels=data.labels)
    out = tmp_path / "report"
    done = run("calibrate", tmp_path / "mine.npz", *FAST, "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""  # no terminal, no line on progress
    advice, kept, files = done.output.splitlines()  # and nothing to be cautious about
    assert advice.startswith("Use temperature scaling: the NLL falls by")
    assert kept.startswith("calibrator.json holds the fit of temperature: T = ")
    assert files == f"calibrator.json, metrics.csv, report.html -> {out}"
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    assert set(pd.read_csv(out / "metrics.csv")["method"]) == {"as given", "temperature", "vector"}
    np.save(tmp_path / "new.npy", logits[:700])
    applied = run("apply", out / "calibrator.json", tmp_path / "new.npy", "--out", tmp_path / "p.npy", "--chunk", 300)
    assert applied.exit_code == 0, applied.output
    wanted = load_calibrator(out / "calibrator.json").predict_proba(logits[:700])
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), wanted, rtol=1e-5)


def test_what_should_be_known_before_the_advice_is_followed_is_said(run, tmp_path, draw_logits):
    data = draw_logits(600, 2.0)
    np.savez(tmp_path / "mixed.npz", logits=data.logits, labels=np.random.default_rng(0).permutation(data.labels))
    done = run("calibrate", tmp_path / "mixed.npz", *FAST, "--force", "--out", tmp_path / "report")
    assert done.exit_code == 0, done.output
    cautions = [line for line in done.stdout.splitlines() if line.startswith("Caution: ")]
    assert any("samples and labels in the same order" in line for line in cautions)


@pytest.mark.slow
def test_calibrate_by_folds_with_chosen_methods(run, tmp_path, draw_logits):
    data = draw_logits(600, 2.0)
    np.save(tmp_path / "z.npy", data.logits.astype(np.float16))
    np.save(tmp_path / "y.npy", data.labels)
    flags = "--labels", tmp_path / "y.npy", "--folds", 3, "--resamples", 50, "--out", tmp_path / "report"
    done = run("calibrate", tmp_path / "z.npy", *flags, "--methods", "focal-temperature:ece, isotonic")
    assert done.exit_code == 0, done.output
    assert "of 3 folds" in (tmp_path / "report" / "report.html").read_text()
    found = pd.read_csv(tmp_path / "report" / "metrics.csv")[["method", "objective"]].fillna("").drop_duplicates()
    assert [tuple(row) for row in found.to_numpy()] == [
        ("as given", ""),
        ("temperature", "nll"),
        ("focal-temperature", "ece"),
        ("isotonic", "brier"),
    ]


def test_calibrate_refuses_in_one_line_and_makes_no_folder(run, tmp_path, draw_logits, monkeypatch):
    data = draw_logits(60, 2.0)
    np.savez(tmp_path / "one.npz", logits=data.logits, labels=data.labels)
    both = {f"{part}_{what}": getattr(data, what) for part in ("validation", "test") for what in ("logits", "labels")}
    np.savez(tmp_path / "both.npz", **both)
    np.savez(tmp_path / "probs.npz", logits=np.full((20, 4), 0.25), labels=np.arange(20) % 4)
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
        (["probs.npz"], "--given probs"),
        (["both.npz", "--folds", "3"], "folds are for data of one set"),
        (["one.npz", "--folds", "1"], "folds must be at least 2"),
        (["one.npz", "--methods", "logistic"], "methods must be among"),
        (["one.npz", "--methods", "platt"], "Platt scaling is for two classes"),
        (["one.npz", "--methods", "vector:ece"], "objective of vector must be one of nll"),
        (["one.npz", "--share", "0.3", "--folds", "3"], "folds are instead of a share. Got 3 folds and a share of 0.3"),
        (["both.npz", "--share", "0.3"], "a share is for data of one set"),
        (["one.npz", "--labels", "one.npz"], "--labels goes with an npy file"),
        (["one.npz", "--groups", "patient"], "must hold patient, for groups"),
        (["one.npz", "--test-labels", "one.npz"], "--test-labels goes with --test"),
        (["one.npz", "--label-column", "y"], "--label-column goes with csv and parquet files"),
        (["one.npz", "--layout", "options", "--methods", "vector"], "a column is another option in every sample"),
        (["one.npz", "--layout", "segmentation"], "must have shape (N, K, H, W)"),
        (["one.npz", "--methods", "vector", "--shrinkage", "1"], "shrinkage is for focal-temperature. Got temper"),
    ):
        refused = run("calibrate", tmp_path / arguments[0], *arguments[1:], "--out", tmp_path / "report")
        assert refused.exit_code == 1
        assert message in refused.output
        assert len(refused.output.splitlines()) == 1
    assert not (tmp_path / "report").exists()


def test_help_says_which_methods_there_are(run):
    text = run("calibrate", "--help").output
    assert all(method.name in text[text.index("default methods") : text.index("and those")] for method in DEFAULT)
    for name, kind in METHODS.items():
        assert name in text
        assert all(objective in text for objective in kind.options)


@pytest.fixture
def saved(tmp_path, draw_logits):
    """A fit with its file c.json, and logits with their file z.npy."""
    data = draw_logits(700, 2.0)
    fit = FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels)
    save_calibrator(fit, tmp_path / "c.json")
    np.save(tmp_path / "z.npy", data.logits)
    return fit, data.logits, tmp_path


def test_apply_refuses_and_leaves_nothing(run, saved):
    _, _, folder = saved
    np.save(folder / "probs.npy", np.full((4, 5), 0.2))
    np.save(folder / "narrow.npy", np.zeros((2, 3)))
    (folder / "none.json").write_text("{}")
    for calibrator, name, message in (
        ("c.json", "probs.npy", "--given probs"),
        ("c.json", "narrow.npy", "must have the 5 classes of fit"),
        ("none.json", "z.npy", "must be a calibrator written by focal_lib"),
    ):
        refused = run("apply", folder / calibrator, folder / name, "--out", folder / "p.npy")
        assert refused.exit_code == 1
        assert message in refused.output
    assert not [path for path in folder.iterdir() if "p.npy" in path.name]


def test_apply_says_where_it_cannot_write_and_what_a_chunk_is(run, saved):
    _, _, folder = saved
    refused = run("apply", folder / "c.json", folder / "z.npy", "--out", folder / "none" / "p.npy")
    assert "must go into a folder that exists" in refused.output
    assert run("apply", folder / "c.json", folder / "z.npy", "--out", folder / "p.npy", "--chunk", 0).exit_code == 2


def test_numbers_as_people_write_them(run, tmp_path, draw_logits):
    data = draw_logits(300, 2.0)
    np.savez(tmp_path / "z.npz", logits=data.logits, labels=data.labels)
    flags = "--methods", "vector", "--resamples", "5e1", "--seed", "1e0", "--folds", "3.0"
    assert run("calibrate", tmp_path / "z.npz", *flags, "--out", tmp_path / "report").exit_code == 0
    for flag, value, words in (
        ("--resamples", "1.5", ""),
        ("--share", "nan", ""),
        ("--shrinkage", "inf", ""),
        ("--seed", "one", ""),
        ("--share", "1.5", "is not in the range 0<x<1"),
        ("--seed", "-1", "is not in the range x>=0"),
        ("--resamples", "0", "is not in the range x>=1"),
        ("--relevant", "1", "is not in the range 0<=x<1"),
    ):
        refused = run("calibrate", tmp_path / "z.npz", flag, value, "--out", tmp_path / "none")
        assert refused.exit_code == 2
        assert words in refused.output
    for command in main.list_commands(None):
        assert "None" not in run(command, "--help").output


def test_results_have_the_names_of_what_they_are(run, saved):
    _, _, folder = saved
    for name in ("c2.json", "c2", "c2.pt"):
        refused = run("export", folder / "c.json", "--out", folder / name)
        assert refused.exit_code == 1
        assert f"written as .onnx: its name must end so. Got {name}" in refused.output
    refused = run("apply", folder / "c.json", folder / "z.npy", "--out", folder / "p.csv")
    assert "written as .npy: its name must end so. Got p.csv" in refused.output
    (folder / "new.csv").write_text("a,b\n0,1\n")
    refused = run("apply", folder / "c.json", folder / "new.csv", "--out", folder / "p.txt")
    assert "of a table the result must be .csv, .parquet or .npy. Got p.txt" in refused.output
    assert sorted(path.name for path in folder.iterdir()) == ["c.json", "new.csv", "z.npy"]


def test_export(run, saved):
    runtime = pytest.importorskip("onnxruntime")
    fit, z, folder = saved
    done = run("export", folder / "c.json", "--out", folder / "c.onnx")
    assert done.exit_code == 0, done.output
    (found,) = runtime.InferenceSession(folder / "c.onnx").run(None, {"logits": z.astype(np.float32)})
    np.testing.assert_allclose(found, fit.predict_proba(z), atol=1e-6)
    binary = TemperatureScaling().fit(np.stack([0 * z[:, 0], z[:, 0]], 1), (z[:, 1] > 0).astype(int))
    binary.layout_ = "binary"
    save_calibrator(binary, folder / "b.json")
    told = run("export", folder / "b.json", "--out", folder / "b.onnx").output
    assert "of a score s of one class its columns are 0 and s" in told
    save_calibrator(HistogramBinning().fit(z, np.arange(len(z)) % 5), folder / "h.json")
    refused = run("export", folder / "h.json", "--out", folder / "h.onnx")
    assert refused.exit_code == 1
    assert "HistogramBinning has none" in refused.output


def test_the_way_back_from_focal_loss_needs_no_calibrator(run, tmp_path):
    scores = np.array([-2.0, 0.0, 3.0])
    np.save(tmp_path / "s.npy", scores)
    done = run("export", "--gamma", 2, "--class-weights", 0.25, "--out", tmp_path / "c.json")
    assert done.output == f"FocalProbabilities, 2 classes -> {tmp_path / 'c.json'}\n"
    assert run("apply", tmp_path / "c.json", tmp_path / "s.npy", "--out", tmp_path / "p.npy").exit_code == 0
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), expit(focal_logit(scores, 2.0) + np.log(3)), rtol=1e-12)
    for options, said in (
        ((), "give a calibrator, or --gamma and --class-weights"),
        (("--gamma", 2), "give a calibrator, or --gamma and --class-weights"),
        ((tmp_path / "c.json", "--gamma", 2, "--class-weights", 0.25), "give a calibrator, or"),
        (("--gamma", 2, "--class-weights", "1,x"), "must be numbers with commas between. Got '1,x'"),
        (("--gamma", 2, "--class-weights", "1,0"), "class_weights must be positive and finite"),
        (("--gamma", -1, "--class-weights", "1,1"), "-1.0 is not in the range x>=0"),
    ):
        refused = run("export", *options, "--out", tmp_path / "none.json")
        assert refused.exit_code != 0
        assert said in refused.output
    assert not (tmp_path / "none.json").exists()


# --- what a file holds ----------------------------------------------------------------------


def test_from_multi_label_tables_to_probabilities_of_each_label(run, tmp_path):
    frame = pd.DataFrame(MANY, columns=list("abc")).assign(ya=TRUE[:, 0], yb=TRUE[:, 1], yc=TRUE[:, 2])
    frame[:200].to_csv(tmp_path / "val.csv", index=False)
    frame[200:].to_csv(tmp_path / "test.csv", index=False)
    options = "--test", tmp_path / "test.csv", "--label-column", "ya,yb,yc"
    done = run("calibrate", tmp_path / "val.csv", *options, *QUICK, "--out", tmp_path / "report")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "report" / "report.html").read_text()
    assert "one calibrator for all labels" in page
    assert "test test.csv, label_column ya,yb,yc" in page
    np.save(tmp_path / "new.npy", MANY[:5])
    where = tmp_path / "report" / "calibrator.json"
    applied = run("apply", where, tmp_path / "new.npy", "--out", tmp_path / "p.npy")
    assert applied.exit_code == 0, applied.output
    temperature = load_calibrator(where).temperature_
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), expit(MANY[:5] / temperature), rtol=1e-6)


def test_from_questions_with_options_to_probabilities_of_new_ones(run, tmp_path):
    """samples*.jsonl of lm-evaluation-harness; overconfident by 3."""
    lines = []
    for index in range(400):
        scores = 3 * RNG.normal(size=2 + index % 3)
        right = int(RNG.choice(len(scores), p=softmax(scores / 3)))
        lines.append({"doc_id": index, "target": right, "filtered_resps": [[score, False] for score in scores]})
    unknown = [{"doc_id": line["doc_id"], "filtered_resps": line["filtered_resps"]} for line in lines[390:]]
    for name, part in (("old", lines[:390]), ("new", unknown)):
        (tmp_path / f"samples_{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in part))
    done = run("calibrate", tmp_path / "samples_old.jsonl", *QUICK, "--out", tmp_path / "report")
    assert done.exit_code == 0, done.output
    where = tmp_path / "report" / "calibrator.json"
    applied = run("apply", where, tmp_path / "samples_new.jsonl", "--out", tmp_path / "p.npy")
    assert applied.exit_code == 0, applied.output
    found, temperature = np.load(tmp_path / "p.npy"), load_calibrator(where).temperature_
    assert temperature == pytest.approx(3, rel=0.3)
    for row, line in zip(found, lines[390:], strict=True):
        scores = np.array([score for score, _ in line["filtered_resps"]])
        np.testing.assert_allclose(row, np.r_[softmax(scores / temperature), np.zeros(4 - len(scores))], rtol=1e-9)
    (tmp_path / "samples_new.jsonl").write_text("{}\n")
    refused = run("apply", where, tmp_path / "samples_new.jsonl", "--out", tmp_path / "q.npy")
    assert (refused.exit_code, (tmp_path / "q.npy").exists()) == (1, False)


def test_check_reads_columns_by_name(run, tmp_path):
    frame = pd.DataFrame({"p": expit(MANY[:, 0] / 2), "y": TRUE[:, 0], "patient": np.arange(300) // 3})
    frame.to_parquet(tmp_path / "x.parquet")
    options = "--label-column", "y", "--groups", "patient", "--given", "probs", "--out", tmp_path / "out.json"
    done = run("check", tmp_path / "x.parquet", "--max-ece", 0.4, *options)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out.json").read_text())["samples"] == 300


def test_no_file_that_is_read_is_written_over(run, tmp_path):
    np.savez(tmp_path / "x.npz", logits=MANY, labels=TRUE.argmax(-1))
    np.save(tmp_path / "y.npy", TRUE.argmax(-1))
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "metrics.csv").write_bytes((tmp_path / "x.npz").read_bytes())
    other = tmp_path / "report" / "metrics.csv"
    refused = run("calibrate", tmp_path / "x.npz", "--test", other, "--out", tmp_path / "report")
    assert refused.exit_code == 1
    assert other.read_bytes() == (tmp_path / "x.npz").read_bytes()


def test_names_of_classes_on_the_command_line(run, tmp_path):
    frame = pd.DataFrame({"p": expit(MANY[:, 0] / 2), "label": np.where(TRUE[:, 0], "benign", "malignant")})
    frame.to_csv(tmp_path / "x.csv", index=False)
    np.save(tmp_path / "z.npy", np.c_[0 * MANY[:, 0], MANY[:, 0] / 2])
    np.save(tmp_path / "y.npy", frame["label"].to_numpy().astype(str))
    flags = "--max-ece", 0.4, "--class-names", "malignant, benign", "--out", tmp_path / "out.json"
    found = []
    for source in (("x.csv", "--given", "probs"), ("z.npy", "--labels", tmp_path / "y.npy")):
        done = run("check", tmp_path / source[0], *source[1:], *flags)
        assert done.exit_code == 0, done.output
        found.append(json.loads((tmp_path / "out.json").read_text()))
    assert found[0]["value"] == pytest.approx(found[1]["value"])
    other = run("check", tmp_path / "x.csv", "--given", "probs", *flags[:2], "--class-names", "benign,malignant")
    assert other.exit_code == 2  # the positive class is the second
    for names in ("a,a", "a,", "malignant,b,c"):
        refused = run("check", tmp_path / "x.csv", "--given", "probs", *flags[:2], "--class-names", names)
        assert refused.exit_code == 2
    folder = tmp_path / "report"
    done = run("calibrate", tmp_path / "x.csv", "--given", "probs", *flags[2:4], *QUICK, "--out", folder)
    assert done.exit_code == 0, done.output
    assert "class_names malignant, benign" in (folder / "report.html").read_text()
    refused = run("calibrate", tmp_path / "z.npy", "--labels", tmp_path / "y.npy", "--json", "-", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "must be the name of a file" in refused.output


# --- progress -------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line() as show:
        show("reading", 0, 3)
        show("fitting vector, 1 of 1", 1, 3)
    return stream.getvalue()


def test_a_terminal_sees_one_line_rewritten_and_gone_at_the_end(monkeypatch):
    text = work(Terminal(), monkeypatch)
    assert "\n" not in text
    shown = [part.strip() for part in text.split("\r") if part.strip()]
    assert shown[-2].startswith("reading")
    assert shown[-1].startswith("fitting vector, 1 of 1")
    assert 0 < shown[-1].count("#") + shown[-1].count("\N{FULL BLOCK}") < 20
    assert text.split("\r")[-2].strip() == ""


def test_others_see_nothing(monkeypatch):
    assert work(io.StringIO(), monkeypatch) == ""


def test_a_prediction_log_as_it_is_exported(run, tmp_path):
    """The score column is named; what else stands in the file stays, and T is that of the model, 2."""
    rng, n = np.random.default_rng(0), 2000
    logit = 2 * rng.normal(size=n)
    frame = pd.DataFrame(
        {"customer_id": rng.permutation(n), "date": pd.date_range("2024-01-01", periods=n, freq="h").astype(str)}
        | {"y_score": expit(logit), "target": (rng.random(n) < expit(logit / 2)).astype(int)}
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    what = "--given", "probs", "--scores", "y_score", "--label-column", "target"
    done = run("calibrate", tmp_path / "log.csv", *what, "--out", tmp_path / "r", *QUICK)
    assert done.exit_code == 0, done.output
    fit = load_calibrator(tmp_path / "r/calibrator.json")
    assert fit.temperature_ == pytest.approx(2, rel=0.1)
    done = run("apply", tmp_path / "r/calibrator.json", tmp_path / "log.csv", "--out", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv(tmp_path / "new.csv")
    np.testing.assert_allclose(found["y_score"], expit(logit / fit.temperature_), rtol=1e-6)
    pd.testing.assert_frame_equal(found.drop(columns="y_score"), frame.drop(columns="y_score"))
    checked = run("check", tmp_path / "log.csv", *what, "--max-ece", "0.02")
    assert (checked.exit_code, checked.output[:7]) == (1, "Failed:")
    twice = run("check", tmp_path / "log.csv", "--scores", "y_score", "--scores", "date", "--max-ece", ".1", *what[-2:])
    assert "must hold numbers" in twice.output


def test_weights_that_count_are_repetitions_and_may_be_zero(run, tmp_path, draw_logits):
    data = draw_logits(800, 2.0)
    times = np.random.default_rng(0).integers(0, 4, 800)
    again = np.repeat(np.arange(800), times)
    np.savez(tmp_path / "w.npz", logits=data.logits, labels=data.labels, w=times)
    done = run("calibrate", tmp_path / "w.npz", "--weights", "w", "--out", tmp_path / "r", *QUICK)
    assert done.exit_code == 0, done.output
    of_copies = TemperatureScaling(prior_sd=0.5).fit(data.logits[again], data.labels[again]).temperature_
    plain = TemperatureScaling(prior_sd=0.5).fit(data.logits, data.labels).temperature_
    found = load_calibrator(tmp_path / "r/calibrator.json").temperature_
    assert found == pytest.approx(of_copies, rel=1e-6)
    assert found != pytest.approx(plain, rel=1e-2)
    checked = run("check", tmp_path / "w.npz", "--weights", "w", "--max-ece", "0.05")
    probs = softmax(data.logits[again], axis=1)
    assert f" {100 * ece(probs, data.labels[again]):.2f} per cent, interval" in checked.output
