"""The focal command."""

import io
import json
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from focal_lib.calibration.calibrators import FocalTemperatureScaling, HistogramBinning
from focal_lib.calibration.saved import load, save
from focal_lib.claims import ledger, verdicts
from focal_lib.cli import main
from focal_lib.theory.certificates import checker
from focal_lib.training.run import run as train
from focal_lib.training.spec import read_grid
from focal_lib.training.store import status
from focal_lib.training.trainer import NonFiniteLoss
from tests.training.test_data import write_npz


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, args)


def test_lists_every_claim_without_checking(run):
    lines = run("claims").output.splitlines()
    assert len(lines) == len(ledger())
    assert lines[0].split() == ["PROVED", "kk24.prop1", "KK24", "Prop.", "1,", "App.", "A.1"] or "kk24." in lines[0]


def test_lists_one_paper(run):
    lines = run("claims", "--paper", "l25").output.splitlines()
    assert len(lines) == len(ledger("l25"))
    assert "must be one of kk24, m20, kn24, l25. Got 'x'" in run("claims", "--paper", "x").output


def test_explains_a_claim(run):
    text = run("claims", "kk24.prop5").output
    assert "REFUTED" in text
    assert "0.333" in text


def test_verify_passes_and_fails_on_a_changed_verdict(run, monkeypatch, tmp_path):
    assert run("claims", "kk24.prop1", "--verify").exit_code == 0
    changed = tmp_path / "verdicts.json"
    changed.write_text(json.dumps(verdicts.recorded() | {"kk24.prop1": "REFUTED"}))
    monkeypatch.setattr(verdicts, "FILE", changed)
    result = run("claims", "kk24.prop1", "--verify")
    assert result.exit_code == 1
    assert "kk24.prop1: REFUTED -> PROVED" in result.output


def test_boxes_of_a_certificate_can_be_checked_elsewhere(run, tmp_path):
    out = tmp_path / "boxes.json"
    assert run("claims", "kk24.prop3_sharp_above", "--boxes", str(out)).exit_code == 0
    (certificate,) = json.loads(out.read_text())
    boxes = [checker.Box(Fraction(a), Fraction(b), k) for a, b, k in certificate["boxes"]["c3"]]
    assert checker.covers(boxes, Fraction(certificate["low"]), Fraction(certificate["high"]))
    assert "needs the id of a claim with a certificate" in run("claims", "kk24.prop1", "--boxes", str(out)).output


@pytest.fixture
def small_run(tmp_path, monkeypatch):
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=100, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path / "runs"))
    return "n_train=60", "n_validation=30", "epochs=2", "batch_size=20", "evaluate_every=1"


def test_run_trains_and_then_only_tells(run, small_run):
    flags = [part for text in (*small_run, "loss=flsd-53") for part in ("-p", text)]
    first = run("run", *flags)
    assert first.exit_code == 0, first.output
    assert "flsd-53, seed 0: test accuracy" in first.output
    assert first.output.strip().endswith(run("run", *flags).output.strip())  # no progress bar: nothing was trained


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gama=2", "parameters must be among dataset, model, loss"),
        ("gamma", "must read NAME=VALUE. Got 'gamma'"),
        ("loss=hinge", "loss must be one of cross-entropy, focal"),
        ("model=resnet51", "model must be one of small-cnn"),
        ("dataset=imagenet", "dataset must be one of fashion-mnist"),
    ],
)
def test_run_refuses_what_it_does_not_know(run, small_run, text, message):
    flags = [part for pair in (*small_run, text) for part in ("-p", pair)]
    result = run("run", *flags)
    assert result.exit_code == 1
    assert message in result.output


def test_grid_status_says_what_failed_and_why(run, small_run, tmp_path):
    path = tmp_path / "grid.yaml"
    values = dict(text.split("=") for text in small_run)
    lines = [f"{k}: {v}" for k, v in values.items()]
    path.write_text("\n".join([*lines, "gamma: [0, 1]", "learning_rate: [0.001, 1.0e+30]"]))
    specs = read_grid(path)
    assert [entry.state for entry in status(specs)] == ["waiting"] * 4
    train(specs[0])
    with pytest.raises(NonFiniteLoss):
        train(specs[1])
    states = [line.split()[0] for line in run("grid", str(path), "--status").output.splitlines()]
    assert states == ["done", "failed", "waiting", "waiting"]
    assert "must stay finite" in run("grid", str(path), "--status").output


def test_grid_at_once_then_recorded_and_tabled(run, small_run, tmp_path):
    path = tmp_path / "grid.yaml"
    values = dict(text.split("=") for text in small_run)
    path.write_text("\n".join([*(f"{k}: {v}" for k, v in values.items()), "gamma: [0, 1]", "seed: [0, 1]"]))
    root, kept, table = str(tmp_path / "runs"), str(tmp_path / "kept"), str(tmp_path / "table.parquet")
    missing = run("grid", str(path), "--root", root, "--record", kept)
    assert missing.exit_code == 1
    assert "has no spec.json" in missing.output
    done = run("grid", str(path), "--root", root, "--at-once")
    assert done.exit_code == 0, done.output
    assert done.output.count("test accuracy") == 4
    assert "4 runs -> " in run("grid", str(path), "--root", root, "--record", kept).output
    assert "4 runs -> " in run("grid", str(path), "--root", kept, "--table", table).output
    assert pd.read_parquet(table)["loss"].unique().tolist() == ["cross-entropy", "focal 1"]
    path.write_text(path.read_text() + "\nmodel: resnet8")
    refused = run("grid", str(path), "--root", root, "--at-once")
    assert "must have no buffers" in refused.output


def test_calibrate_leaves_a_report_and_a_calibrator_that_applies(run, tmp_path):
    from tests.calibration.test_comparison import drawn

    data = drawn(1500, 2.0)
    np.savez(tmp_path / "mine.npz", logits=data.logits.astype(np.float32), labels=data.labels)
    out = tmp_path / "report"
    done = run("calibrate", str(tmp_path / "mine.npz"), "--out", str(out))
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text()
    assert "temperature" in page
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:", page)  # opens without a network
    assert set(pd.read_parquet(out / "metrics.parquet")["method"]) >= {"as given", "temperature"}
    np.save(tmp_path / "new.npy", data.logits[:700].astype(np.float32))
    flags = ["--out", str(tmp_path / "p.npy"), "--chunk", "300"]
    applied = run("apply", str(out / "calibrator.json"), str(tmp_path / "new.npy"), *flags)
    assert applied.exit_code == 0, applied.output
    wanted = load(out / "calibrator.json").predict_proba(data.logits[:700].astype(np.float32))
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), wanted, rtol=1e-5)


def test_calibrate_by_folds_with_chosen_methods(run, tmp_path):
    from tests.calibration.test_comparison import drawn

    data = drawn(600, 2.0)
    np.save(tmp_path / "z.npy", data.logits.astype(np.float16))
    np.save(tmp_path / "y.npy", data.labels)
    out = tmp_path / "report"
    flags = ["--labels", str(tmp_path / "y.npy"), "--folds", "3", "--methods", "isotonic, matrix", "--out", str(out)]
    done = run("calibrate", str(tmp_path / "z.npy"), *flags)
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text()
    assert "of 3 folds" in page
    methods = pd.read_parquet(out / "metrics.parquet")["method"].unique().tolist()
    assert methods == ["as given", "temperature", "matrix", "isotonic"]
    both = {f"{part}_{what}": array for part in ("validation", "test") for what, array in vars(data).items()}
    np.savez(tmp_path / "both.npz", **both)
    refused = run("calibrate", str(tmp_path / "both.npz"), "--folds", "3", "--out", str(out))
    assert "folds are for a file of one set" in refused.output
    refused = run("calibrate", str(tmp_path / "z.npy"), *flags, "--folds", "1")
    assert "folds must be from 2" in refused.output
    refused = run("calibrate", str(tmp_path / "z.npy"), *flags, "--methods", "platt")
    assert refused.exit_code == 1
    assert "methods must be among" in refused.output


@pytest.fixture
def saved(tmp_path):
    """A calibrator file, with logits in an npy file."""
    from tests.calibration.test_comparison import drawn

    data = drawn(700, 2.0)
    fit = FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels)
    save(fit, tmp_path / "c.json")
    np.save(tmp_path / "z.npy", data.logits)
    return fit, data.logits, tmp_path


def test_apply_through_pipes(saved):
    fit, z, folder = saved
    command = [
        sys.executable,
        "-m",
        "focal_lib.cli",
        "apply",
        str(folder / "c.json"),
        "-",
        "--out",
        "-",
        "--chunk",
        "99",
    ]
    done = subprocess.run(command, input=(folder / "z.npy").read_bytes(), capture_output=True, check=True)
    np.testing.assert_allclose(np.load(io.BytesIO(done.stdout)), fit.predict_proba(z), atol=1e-15)
    assert b"700 rows" in done.stderr


def test_apply_refuses_and_leaves_nothing(run, saved):
    _, z, folder = saved
    out = folder / "p.npy"
    whole = (folder / "z.npy").read_bytes()
    (folder / "cut.npy").write_bytes(whole[:-100])
    (folder / "text.npy").write_text("no npy")
    np.save(folder / "columns.npy", np.asfortranarray(z))
    np.save(folder / "flat.npy", z[0])
    np.save(folder / "probs.npy", np.full((4, 5), 0.2))
    np.save(folder / "narrow.npy", z[:, :3])
    for name, message in (
        ("cut", "must hold 700 rows"),
        ("text", "text.npy must be an npy file"),
        ("columns", "row by row"),
        ("flat", "must hold logits of shape (n, K)"),
        ("probs", "--given probs"),
        ("narrow", "must have the 5 classes of fit"),
    ):
        refused = run("apply", str(folder / "c.json"), str(folder / f"{name}.npy"), "--out", str(out))
        assert refused.exit_code == 1
        assert message in refused.output
    assert not [path for path in folder.iterdir() if "p.npy" in path.name]


def test_apply_says_where_it_cannot_write_and_what_a_chunk_is(run, saved):
    _, _, folder = saved
    flags = ["apply", str(folder / "c.json"), str(folder / "z.npy"), "--out"]
    refused = run(*flags, str(folder / "none" / "p.npy"))
    assert "p.npy must go into a folder that exists" in refused.output
    assert run(*flags, str(folder / "p.npy"), "--chunk", "0").exit_code == 2


def test_export(run, saved):
    runtime = pytest.importorskip("onnxruntime")
    fit, z, folder = saved
    done = run("export", str(folder / "c.json"), "--out", str(folder / "c.onnx"))
    assert done.exit_code == 0, done.output
    (found,) = runtime.InferenceSession(folder / "c.onnx").run(None, {"logits": z.astype(np.float32)})
    np.testing.assert_allclose(found, fit.predict_proba(z), atol=1e-6)
    save(HistogramBinning().fit(z, np.arange(len(z)) % 5), folder / "h.json")
    refused = run("export", str(folder / "h.json"), "--out", str(folder / "h.onnx"))
    assert refused.exit_code == 1
    assert "HistogramBinning has none" in refused.output


def test_calibrate_refuses_before_work_begins(run, tmp_path):
    np.savez(tmp_path / "probs.npz", logits=np.full((20, 4), 0.25), labels=np.arange(20) % 4)
    refused = run("calibrate", str(tmp_path / "probs.npz"), "--out", str(tmp_path / "report"))
    assert refused.exit_code == 1
    assert "--given probs" in refused.output
    assert not (tmp_path / "report").exists()
    (tmp_path / "c.json").write_text("{}")
    np.save(tmp_path / "z.npy", np.zeros((3, 4)))
    refused = run("apply", str(tmp_path / "c.json"), str(tmp_path / "z.npy"), "--out", str(tmp_path / "p.npy"))
    assert "must be a calibrator written by focal_lib" in refused.output
