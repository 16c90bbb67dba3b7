"""A grid trained within a time budget, tried on a CPU with a tiny grid: calls, what goes home, what is done again."""

import json
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.run import run
from reproduction.engine.status import CALL_AGAIN
from reproduction.engine.store import load
from workflow import train_within

GRID = "dataset: tiny\nmodel: mlp\nn_train: 60\nn_validation: 30\nepochs: 2\nbatch_size: 20\nseed: [0, 1]\n"


@pytest.fixture
def place(tmp_path, monkeypatch, write_npz):
    write_npz(tmp_path / "data" / "tiny", n_train=100, n_test=30, shape=(8, 8, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    (tmp_path / "grid.yaml").write_text(GRID)
    return tmp_path


def flags_of(place, minutes, *more):
    folders = [word for name in ("runs", "home", "out") for word in (f"--{name}", str(place / name))]
    return [str(minutes), str(place / "grid.yaml"), "--device", "cpu", *folders, *more]


def call(place, minutes, *more):
    return CliRunner().invoke(train_within.main, flags_of(place, minutes, *more))


def bring_home(place):
    for path in (place / "out").glob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(place / "home")


@pytest.fixture
def in_process(monkeypatch, place):
    """Runs are done in this process; a digest in the list it gives fails, or has no time left."""
    tried, codes = [], {}

    def do(spec, command):
        tried.append(spec.digest)
        if code := codes.get(spec.digest, 0):
            return code
        run(spec, place / "runs")
        return 0

    monkeypatch.setattr(train_within, "_train_one", do)
    return tried, codes


def damage(path):
    """As a bad disk does: what `status` looks at is as it was."""
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(255 - b for b in content[middle : middle + 64]) + content[middle + 64 :])


@pytest.mark.parametrize(
    ("minutes", "model", "said"),
    [("nan", "mlp", "nan"), ("inf", "mlp", "inf"), (1, "resnet", "resnet")],
    ids=["no time", "time without end", "no such network"],
)
def test_what_cannot_be_done_is_said_before_any_run(place, in_process, minutes, model, said):
    (place / "grid.yaml").write_text(GRID.replace("model: mlp", f"model: {model}"))
    refused = call(place, minutes)
    assert refused.exit_code in (1, 2)
    assert said in refused.output
    assert in_process[0] == []


def test_without_history_the_commit_must_be_named(place, monkeypatch):
    monkeypatch.setattr(train_within, "commit", lambda: "")
    refused = call(place, 1)
    assert "Error: FOCAL_COMMIT must be the commit of this copy" in refused.output


@pytest.mark.slow
def test_calls_go_on_and_bring_every_run_home_once(place):
    command = [sys.executable, "-m", "workflow.train_within", *flags_of(place, 0.0001)]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (first.returncode, first.stdout.splitlines()) == (CALL_AGAIN, ["2 waiting", f"0 runs -> {place / 'out'}"])
    second = call(place, 5, "--per-device", "2")
    assert second.exit_code == 0, second.output
    assert second.stdout.splitlines()[-2:] == ["2 done", f"2 runs -> {place / 'out'}"]
    bring_home(place)
    for spec in read_grid(place / "grid.yaml"):
        there, here = load(spec, place / "runs"), load(spec, place / "home")
        np.testing.assert_array_equal(there.test.logits, here.test.logits)
        names = sorted(path.name for path in (place / "home" / spec.digest).iterdir())
        assert names == ["history.parquet", "logits.npz", "spec.json"]  # no weights, no checkpoint
    third = call(place, 5)
    assert third.stdout.splitlines()[-2:] == ["2 home", f"0 runs -> {place / 'out'}"]
    assert not list((place / "out").glob("*.zip"))  # what is taken home twice is paid for twice


def test_what_is_home_is_not_done_again_on_a_machine_that_has_nothing(place, in_process):
    first, second = read_grid(place / "grid.yaml")
    run(first, place / "home")
    assert call(place, 5).stdout.splitlines()[-2:] == ["1 home, 1 done", f"1 runs -> {place / 'out'}"]
    assert in_process[0] == [second.digest]


def test_what_does_not_fit_into_the_files_waits_for_the_next_call(place, monkeypatch, in_process):
    monkeypatch.setattr(train_within, "LARGEST", 1)
    monkeypatch.setattr(train_within, "FILES", 1)
    done = call(place, 5)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        CALL_AGAIN,
        f"1 runs -> {place / 'out'}; 1 more at the next call",
    )
    bring_home(place)
    done = call(place, 5)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"1 runs -> {place / 'out'}")
    bring_home(place)
    assert {path.name for path in (place / "home").iterdir()} == {s.digest for s in read_grid(place / "grid.yaml")}


def test_a_damaged_run_is_named_and_done_again(place, in_process):
    bad, good = read_grid(place / "grid.yaml")
    for spec in (bad, good):
        run(spec, place / "runs")
    damage(place / "runs" / bad.digest / "logits.npz")
    done = call(place, 5)
    assert done.exit_code == 0, done.output
    assert f"{bad.name} is done again: " in done.stdout
    assert in_process[0] == [bad.digest]
    assert done.stdout.splitlines()[-2:] == ["2 done", f"2 runs -> {place / 'out'}"]
    assert (place / "runs" / f"{bad.digest}.1" / "logits.npz").is_file()  # nothing is lost


def test_a_copy_that_is_damaged_is_made_anew(place, in_process):
    first, _ = read_grid(place / "grid.yaml")
    call(place, 5)
    damage(place / "runs" / "recorded" / first.digest / "logits.npz")
    assert call(place, 5).stdout.splitlines()[-1] == f"2 runs -> {place / 'out'}"
    bring_home(place)
    np.testing.assert_array_equal(load(first, place / "home").test.logits, load(first, place / "runs").test.logits)


def test_what_cannot_be_packed_yet_ends_no_run(place, monkeypatch, in_process):
    pack = train_within.Packer.pack

    def full(self):
        if len(in_process[0]) == 1:
            raise OSError("no room")
        return pack(self)

    monkeypatch.setattr(train_within.Packer, "pack", full)
    done = call(place, 5)
    assert "Not packed yet: no room" in done.stdout
    assert done.stdout.splitlines()[-1] == f"2 runs -> {place / 'out'}"


def test_what_failed_is_tried_again_when_asked(place, in_process):
    first, second = read_grid(place / "grid.yaml")
    folder = place / "runs" / first.digest
    folder.mkdir(parents=True)
    (folder / "failed.json").write_text(json.dumps({"reason": "it became nan"}))
    assert call(place, 5).exit_code == 1  # no further call would help
    assert in_process[0] == [second.digest]
    assert call(place, 5, "--again").exit_code == 0
    assert in_process[0] == [second.digest, first.digest]


def test_where_a_run_has_stopped_none_is_begun(place, in_process):
    tried, codes = in_process
    first, _ = read_grid(place / "grid.yaml")
    codes[first.digest] = CALL_AGAIN
    assert call(place, 5).exit_code == CALL_AGAIN
    assert tried == [first.digest]


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (subprocess.CompletedProcess([], 0, "focal 3: done", "warnings.warn("), "focal 3: done"),
        (subprocess.CompletedProcess([], 1, "", "Error: no images"), "Error: no images"),
        (subprocess.CompletedProcess([], CALL_AGAIN, "", "Stopped: time is up"), "Stopped: time is up"),
    ],
)
def test_what_a_run_said_last_is_told_with_the_time_of_the_call(place, monkeypatch, done, said):
    commands = []
    monkeypatch.setattr(train_within, "commit", lambda: "abc")
    monkeypatch.setattr(train_within.subprocess, "run", lambda command, **_: commands.append(command) or done)
    began = time.time()
    first = call(place, 5).stdout.splitlines()[0]
    assert said in first
    assert "warnings" not in first
    given = dict(zip(commands[-1][4::2], commands[-1][5::2], strict=True))
    assert 299 < float(given["--until"]) - began < 330
