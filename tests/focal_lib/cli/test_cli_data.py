"""Options that say what a file holds, of focal calibrate, check and apply: from the file to the new probabilities."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import expit, softmax

from focal_lib.calibration.saved import load_calibrator
from focal_lib.cli import main

RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(300, 3)) * 4
TRUE = (RNG.random((300, 3)) < expit(MANY / 2)).astype(int)
FAST = "--methods", "temperature", "--resamples", "50"


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


def test_from_multi_label_tables_to_probabilities_of_each_label(run, tmp_path):
    frame = pd.DataFrame(MANY, columns=list("abc")).assign(ya=TRUE[:, 0], yb=TRUE[:, 1], yc=TRUE[:, 2])
    frame[:200].to_csv(tmp_path / "val.csv", index=False)
    frame[200:].to_csv(tmp_path / "test.csv", index=False)
    options = "--test", tmp_path / "test.csv", "--label-column", "ya,yb,yc"
    done = run("calibrate", tmp_path / "val.csv", *options, *FAST, "--out", tmp_path / "report")
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
    done = run("calibrate", tmp_path / "samples_old.jsonl", *FAST, "--out", tmp_path / "report")
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
    done = run("check", tmp_path / "x.parquet", "--max-ece", 0.5, *options)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out.json").read_text())["samples"] == 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--groups", "patient"], "must hold patient, for groups"),
        (["--test-labels", "x.npz"], "--test-labels goes with --test"),
        (["--label-column", "y"], "--label-column goes with csv and parquet files"),
        (["--layout", "options", "--methods", "vector"], "a column is another option in every sample"),
        (["--layout", "segmentation"], "must have shape (N, K, H, W)"),
    ],
)
def test_what_the_file_does_not_hold_is_said_in_a_line(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    np.savez("x.npz", logits=MANY, labels=TRUE.argmax(-1))
    refused = run("calibrate", "x.npz", *arguments, "--out", "report")
    assert refused.exit_code == 1
    assert message in refused.output
    assert len(refused.output.splitlines()) == 1
    assert not (tmp_path / "report").exists()


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
    flags = "--max-ece", 0.5, "--class-names", "malignant, benign", "--out", tmp_path / "out.json"
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
    done = run("calibrate", tmp_path / "x.csv", "--given", "probs", *flags[2:4], *FAST, "--out", folder)
    assert done.exit_code == 0, done.output
    assert "class_names malignant, benign" in (folder / "report.html").read_text()
    refused = run("calibrate", tmp_path / "z.npy", "--labels", tmp_path / "y.npy", "--json", "-", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "must be the name of a file" in refused.output
