"""focal calibrate, apply and export."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.one_vs_rest import HistogramBinning
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import DEFAULT, METHODS
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.cli import main
from focal_lib.cli.calibrate import progress_line
from focal_lib.tool.report.report import FILES

FAST = "--methods", "temperature,vector", "--resamples", "50"


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
    advice, kept, split, files = done.output.splitlines()  # and nothing to be cautious about
    assert advice.startswith("Use temperature scaling: the NLL falls by")
    assert kept.startswith("calibrator.json holds the fit of temperature: T = ")
    assert split.startswith("The split was random (seed 0)")
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
        (["one.npz", "--methods", "platt"], "methods must be among"),
        (["one.npz", "--methods", "vector:ece"], "objective of vector must be one of nll"),
        (["one.npz", "--share", "0.3", "--folds", "3"], "folds are instead of a share. Got 3 folds and a share of 0.3"),
        (["both.npz", "--share", "0.3"], "a share is for data of one set"),
        (["one.npz", "--labels", "one.npz"], "--labels goes with an npy file"),
        (
            ["one.npz", "--methods", "vector", "--shrinkage", "1"],
            "shrinkage is for focal-temperature. Got temper",
        ),
    ):
        refused = run("calibrate", tmp_path / arguments[0], *arguments[1:], "--out", tmp_path / "report")
        assert refused.exit_code == 1
        assert message in refused.output
        assert len(refused.output.splitlines()) == 1
    assert not (tmp_path / "report").exists()


def test_help_says_which_methods_there_are(run):
    text = run("calibrate", "--help").output
    assert ",".join(method.label.replace(" by ", ":") for method in DEFAULT) in text
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
    assert sorted(path.name for path in folder.iterdir()) == ["c.json", "z.npy"]


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
