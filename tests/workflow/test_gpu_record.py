"""The record on a borrowed GPU, tried on a CPU with a tiny grid: calls, what goes back, what is chosen."""

import itertools
import json
import os
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torch
from click.testing import CliRunner

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_contrasts, read_grid
from reproduction.engine.locks import TimeUp
from reproduction.engine.machine import machine_of
from reproduction.engine.run import run
from reproduction.engine.spec import Spec
from reproduction.engine.status import CALL_AGAIN, status
from reproduction.engine.store import load
from workflow import gpu_record
from workflow.gpu_record import Choice, check_device, choose, collect, fastest

GRID = "dataset: tiny\nmodel: mlp\nn_train: 60\nn_validation: 30\nepochs: 2\nbatch_size: 20\nseed: [0, 1]\n"


@pytest.fixture
def place(tmp_path, monkeypatch, write_npz):
    write_npz(tmp_path / "data" / "tiny", n_train=100, n_test=30, shape=(8, 8, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    (tmp_path / "grid.yaml").write_text(GRID)
    return tmp_path


def flags_of(place, *more):
    return [
        *(str(place / "grid.yaml"), "--device", "cpu", "--no-benchmark"),
        *("--runs", str(place / "runs"), "--out", str(place / "out"), *more),
    ]


def call(place, *more):
    """A call in this process; each run has one of its own."""
    return CliRunner().invoke(gpu_record.main, flags_of(place, *more))


@pytest.mark.parametrize(
    ("text", "flags", "told"),
    [
        ("mlp", ("--minutes", "nan"), "nan"),
        ("mlp", ("--minutes", "inf"), "inf"),
        ("resnet", (), "resnet"),
    ],
    ids=["no time", "time without end", "no such network"],
)
def test_what_cannot_be_done_is_told_before_any_run(place, monkeypatch, text, flags, told):
    monkeypatch.setattr(gpu_record, "do_runs", lambda *_: pytest.fail("a run was begun"))
    (place / "grid.yaml").write_text(GRID.replace("model: mlp", f"model: {text}"))
    refused = call(place, *flags)
    assert refused.exit_code in (1, 2)
    assert told in refused.output


@pytest.mark.slow
def test_calls_go_on_and_bring_every_run_home_once(place):
    command = [sys.executable, "-m", "workflow.gpu_record", *flags_of(place, "--minutes", "0.0001")]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (first.returncode, first.stdout.splitlines()[-2:]) == (
        CALL_AGAIN,
        ["2 waiting", f"0 runs -> {place / 'out'}"],
    )
    second = call(place, "--minutes", "5", "--per-device", "2")
    assert second.exit_code == 0, second.output
    assert second.stdout.splitlines()[-2:] == ["2 done", f"2 runs -> {place / 'out'}"]
    with zipfile.ZipFile(place / "out" / "runs-00.zip") as archive:
        archive.extractall(place / "home")
    for spec in read_grid(place / "grid.yaml"):
        there, here = load(spec, place / "runs"), load(spec, place / "home")
        np.testing.assert_array_equal(there.test.logits, here.test.logits)
        assert sorted(path.name for path in (place / "home" / spec.digest).iterdir()) == [
            "history.parquet",
            "logits.npz",
            "spec.json",
        ]
    assert call(place).stdout.splitlines()[-1] == f"0 runs -> {place / 'out'}"
    assert not list((place / "out").glob("*.zip"))  # what is taken home twice is paid for twice
    assert call(place, "--everything").stdout.splitlines()[-1] == f"2 runs -> {place / 'out'}"


def test_what_is_too_much_for_one_call_waits_for_the_next(place, monkeypatch):
    for spec in read_grid(place / "grid.yaml"):
        run(spec, place / "runs")
    monkeypatch.setattr(gpu_record, "LARGEST", 1)
    monkeypatch.setattr(gpu_record, "MOST", 1)
    digests = []
    for left in (1, 0):
        found = collect(place / "grid.yaml", place / "runs", place / "out", digests)
        assert (len(found.packed), found.left, found.damaged) == (1, left, {})
        with zipfile.ZipFile(place / "out" / "runs-00.zip") as archive:
            digests += {name.split("/")[0] for name in archive.namelist()}
    assert sorted(digests) == sorted(spec.digest for spec in read_grid(place / "grid.yaml"))


@pytest.mark.slow
def test_a_failed_run_says_why(place):
    one = GRID.replace("seed: [0, 1]", "seed: 0").replace("epochs: 2", "epochs: 4\nevaluate_every: 4")
    (place / "grid.yaml").write_text(one + "learning_rate: 1.0e+30\n")  # no look before tells that
    done = call(place, "--minutes", "5")
    assert done.exit_code == 1  # no further call would help
    assert "1 failed" in done.stdout
    assert "cross-entropy, seed 0: Error: the training loss must stay finite. Got nan in epoch 1." in done.stdout


def rate(way, images, at_once=1, deterministic=True, loop="ours"):
    return {
        "loop": loop,
        "way": way,
        "at_once": at_once,
        "deterministic": deterministic,
        "images_per_second": images,
    }


def test_the_fastest_way_that_a_run_may_take():
    rates = [rate("plain", 90, loop="torchvision"), rate("plain", 10), rate("compiled", 20), rate("graph", 30)]
    assert fastest([*rates, rate("compiled", 99, deterministic=False)]) == ("graph", 1)
    assert fastest([*rates, rate("graph", 28, 2)]) == ("graph", 2)  # one trains while the other begins
    assert fastest([*rates, rate("graph", 26, 2)]) == ("graph", 1)
    assert fastest([*rates, rate("graph", 40, 2), rate("graph", 45, 3)]) == ("graph", 3)
    assert fastest([*rates, rate("graph", 40, 2), rate("graph", 35, 3)]) == ("graph", 2)
    with pytest.raises(ValueError, match=r"must have measured a way of a step. Every one failed"):
        fastest(rates[:1])


def test_the_device_is_looked_at_first(monkeypatch):
    assert "cores" in check_device("cpu")
    monkeypatch.setattr(gpu_record, "commit", lambda: "")
    with pytest.raises(ValueError, match=r"FOCAL_COMMIT must be .* It is not set"):
        check_device("cpu")
    with pytest.raises(ValueError, match="device must be"):
        check_device("tpu")


@pytest.fixture
def benchmark(monkeypatch):
    """A benchmark that finds another way fastest for each network; what it was asked for."""
    asked = []

    def run(command, seconds):
        assert command[1:3] == ["-m", "benchmarks.training"]
        assert command[3:7] == ["--skip", "plain-loop", "--skip", "nondeterministic"]
        given = dict(zip(command[7::2], command[8::2], strict=True))
        asked.append((given["--model"], given["--precision"]))
        which = {"device": name_of_device(), "network": given["--model"], "precision": given["--precision"]}
        way = "graph" if given["--model"] == "resnet8" else "compiled"
        Path(given["--out"]).write_text(json.dumps([rate(way, 2) | which, rate("plain", 1) | which]))
        return True

    monkeypatch.setattr(gpu_record, "ends_in", run)
    monkeypatch.setattr("reproduction.engine.machine.machine_of", lambda device: name_of_device())
    return asked


def name_of_device():
    return os.environ.get("TEST_DEVICE", "one")


def test_rates_are_measured_once_for_each_network_precision_and_device(tmp_path, benchmark, monkeypatch):
    path = tmp_path / "rates.json"
    path.write_text('[{"loop": ')  # as a killed call left it
    specs = [Spec(dataset="cifar10", model=model, gamma=g) for model in ("resnet8", "resnet20") for g in (0, 1)]
    text = [Spec(dataset="20-newsgroups", model="gp-cnn"), Spec(dataset="fashion-mnist"), Spec(dataset="own")]
    found = choose([*specs, *text], "cpu", path, time.time() + 60)
    assert {kind.model: choice for kind, choice in found.items()} == {
        "resnet8": Choice("graph", 1),
        "resnet20": Choice("compiled", 1),
    }
    assert benchmark == [("resnet8", "float32"), ("resnet20", "float32")]
    assert choose(specs, "cpu", path, time.time() + 60) == found
    assert len(benchmark) == 2
    choose([replace(specs[0], precision="bf16")], "cpu", path, time.time() + 60)
    monkeypatch.setenv("TEST_DEVICE", "another")
    choose(specs[:1], "cpu", path, time.time() + 60)
    assert benchmark[2:] == [("resnet8", "bf16"), ("resnet8", "float32")]
    assert choose(specs, "cpu", path, 0.0) == {}  # no time is left to measure


LACKING = """
import importlib.metadata

def version(name, found=importlib.metadata.version):
    if name == "focal-lib":
        raise importlib.metadata.PackageNotFoundError
    return found(name)

importlib.metadata.version = version
from workflow import gpu_record, portions
gpu_record.main()
"""


@pytest.mark.slow
def test_what_a_borrowed_machine_may_lack_is_not_needed(place):
    """Neither by the call nor by a process that it begins."""
    (spec, _), out = read_grid(place / "grid.yaml"), place / "out"
    run(spec, place / "runs")
    for package in ("platformdirs", "snakemake"):
        lacking = place / "lacking" / f"{package}.py"
        lacking.parent.mkdir(exist_ok=True)
        lacking.write_text("raise ImportError(f'{__name__} was asked for')\n")
    command = [sys.executable, "-c", LACKING, *flags_of(place, "--minutes", "0.0001")]
    changed = {"FOCAL_COMMIT": "abc", "PYTHONPATH": os.pathsep.join([str(lacking.parent), str(ROOT)])}
    check = [sys.executable, "-m", "reproduction.engine.preflight", str(place / "grid.yaml"), spec.digest]
    checked = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, env=os.environ | changed)
    assert checked.stdout == "null\n", checked.stderr  # a check that ended otherwise would count as none
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | changed)
    assert done.returncode == CALL_AGAIN, done.stderr
    assert "focal-lib 0+unknown, commit " in done.stdout
    assert done.stdout.splitlines()[-2:] == ["1 done, 1 waiting", f"1 runs -> {out}"]


def test_a_benchmark_that_takes_too_long_is_stopped_and_what_it_found_counts(tmp_path, monkeypatch, capsys):
    def stopped(command, seconds):
        which = {"device": machine_of(torch.device("cpu")), "network": "resnet8", "precision": "float32"}
        Path(command[-1]).write_text(json.dumps([rate("plain", 1) | which] * found))
        return False

    monkeypatch.setattr(gpu_record, "ends_in", stopped)
    specs = [Spec(dataset="cifar10", model="resnet8")]
    found = 0
    assert choose(specs, "cpu", tmp_path / "rates.json", time.time() + 60) == {}
    found = 1
    assert list(choose(specs, "cpu", tmp_path / "rates.json", time.time() + 60).values()) == [Choice("plain", 1)]
    assert "Measuring resnet8 was stopped after" in capsys.readouterr().out


CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(600)
"""


def test_a_command_that_is_stopped_leaves_no_process(tmp_path):
    assert gpu_record.ends_in([sys.executable, "-c", ""], 60)
    with pytest.raises(subprocess.CalledProcessError):
        gpu_record.ends_in([sys.executable, "-c", "raise SystemExit(3)"], 60)
    assert not gpu_record.ends_in([sys.executable, "-c", CHILD, str(tmp_path / "pid")], 2)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int((tmp_path / "pid").read_text())).wait(10)


def do_in_this_process(monkeypatch, place):
    monkeypatch.setattr(gpu_record, "_do_run", lambda spec, *_: run(spec, place / "runs") and 0)


def test_a_run_is_packed_as_soon_as_it_is_finished(place, monkeypatch):
    """A machine that goes before the end of a call has given back what was done."""
    path, out, packed = place / "grid.yaml", place / "out", []
    do_in_this_process(monkeypatch, place)

    def after_each():
        gpu_record.collect(path, place / "runs", out)
        with zipfile.ZipFile(out / "runs-00.zip") as archive:
            packed.append(len(archive.namelist()) // 3)

    gpu_record.do_runs(path, place / "runs", "cpu", time.time() + 60, {}, after_each=after_each)
    assert packed == [1, 2]


def damage(path):
    """As a bad disk does: what `status` looks at is as it was."""
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(255 - b for b in content[middle : middle + 64]) + content[middle + 64 :])


def digests_in(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name.split("/")[0] for name in opened.namelist()}


def test_a_damaged_run_keeps_no_other_from_coming_home(place):
    path, runs, out = place / "grid.yaml", place / "runs", place / "out"
    bad, good = read_grid(path)
    for spec in (bad, good):
        run(spec, runs)
    damage(runs / bad.digest / "logits.npz")
    assert [entry.state for entry in status([bad, good], runs)] == ["done", "done"]
    found = collect(path, runs, out)
    assert (found.packed, found.left, list(found.damaged)) == ([good.digest], 0, [bad.digest])
    assert digests_in(out / "runs-00.zip") == {good.digest}
    assert gpu_record.find_damaged(path, runs) == found.damaged
    assert gpu_record.find_damaged(path, runs, [bad.digest]) == {}  # which is home


def test_a_damaged_run_is_done_again_by_the_next_call(place, monkeypatch):
    runs = place / "runs"
    bad, good = read_grid(place / "grid.yaml")
    for spec in (bad, good):
        run(spec, runs)
    damage(runs / bad.digest / "logits.npz")
    late = call(place, "--minutes", "0.0001")  # no time to do it in
    assert late.exit_code == CALL_AGAIN, late.output
    assert late.stdout.splitlines()[-3].startswith(f"{bad.name} is not packed, and done again by the next call: ")
    assert late.stdout.splitlines()[-2:] == ["1 damaged, 1 done", f"1 runs -> {place / 'out'}"]
    do_in_this_process(monkeypatch, place)
    done = call(place, "--minutes", "5")
    assert done.exit_code == 0, done.output
    assert f"{bad.name} is done again: " in done.stdout
    assert done.stdout.splitlines()[-2:] == ["2 done", f"1 runs -> {place / 'out'}"]
    assert digests_in(place / "out" / "runs-00.zip") == {bad.digest}
    assert (runs / f"{bad.digest}.1" / "logits.npz").is_file()  # nothing is lost


def test_a_copy_that_is_damaged_is_made_anew(place, capsys):
    path, runs, out = place / "grid.yaml", place / "runs", place / "out"
    first, second = read_grid(path)
    for spec in (first, second):
        run(spec, runs)
    collect(path, runs, out)
    damage(runs / "recorded" / first.digest / "logits.npz")
    assert collect(path, runs, out) == ([first.digest, second.digest], 0, {})
    assert f"{first.name}: its copy is moved aside as {first.digest}.1, and made anew." in capsys.readouterr().out
    with zipfile.ZipFile(out / "runs-00.zip") as archive:
        archive.extractall(place / "home")
    np.testing.assert_array_equal(load(first, place / "home").test.logits, load(first, runs).test.logits)


def test_what_cannot_be_packed_ends_no_work(place, monkeypatch, capsys):
    path, tried = place / "grid.yaml", []
    monkeypatch.setattr(gpu_record, "_do_run", lambda spec, *_: tried.append(spec.digest) or 0)

    def after_each():
        raise OSError("no room")

    until = time.time() + 60
    assert gpu_record.do_runs(path, place / "runs", "cpu", until, {}, after_each=after_each) == set()
    assert tried == [spec.digest for spec in read_grid(path)]
    assert "Not packed yet. Got OSError: no room" in capsys.readouterr().out


def plant_failure(place, spec, reason):
    folder = place / "runs" / spec.digest
    folder.mkdir(parents=True)
    (folder / "failed.json").write_text(json.dumps({"reason": reason}))


def test_what_failed_is_tried_again_when_asked(place, monkeypatch):
    path, tried = place / "grid.yaml", []
    first, second = read_grid(path)
    plant_failure(place, first, "it became nan")
    monkeypatch.setattr(gpu_record, "_do_run", lambda spec, *_: tried.append(spec.digest) or int(spec != first))
    until = time.time() + 60
    assert gpu_record.do_runs(path, place / "runs", "cpu", until, {}) == {second.digest}
    assert tried == [second.digest]
    assert gpu_record.do_runs(path, place / "runs", "cpu", until, {}, again=True) == {second.digest}
    assert tried[1:] == [first.digest, second.digest]


def test_what_failed_once_and_goes_on_now_is_not_left_out(place, monkeypatch):
    path, tried = place / "grid.yaml", []
    first, second = read_grid(path)
    plant_failure(place, first, "the disk was full")
    clock = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["reproduction.engine.run"], "time", SimpleNamespace(time=lambda: next(clock)))
        with pytest.raises(TimeUp, match="time is up after epoch 1 of 2"):
            run(first, place / "runs", "cpu", until=3.5)
    monkeypatch.setattr(gpu_record, "_do_run", lambda spec, *_: tried.append(spec.digest) or 0)
    gpu_record.do_runs(path, place / "runs", "cpu", time.time() + 60, {})
    assert tried == [first.digest, second.digest]


def test_where_a_run_has_stopped_none_like_it_is_begun(place, monkeypatch):
    path, tried = place / "grid.yaml", []
    path.write_text(GRID.replace("n_train: 60", "n_train: [60, 50]"))
    monkeypatch.setattr(gpu_record, "_do_run", lambda spec, *_: tried.append((spec.n_train, spec.seed)) or CALL_AGAIN)
    assert gpu_record.do_runs(path, place / "runs", "cpu", time.time() + 60, {}) == set()
    assert tried == [(60, 0), (50, 0)]


def test_a_run_is_told_the_time_of_the_call(place, monkeypatch):
    commands = []
    done = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(gpu_record.subprocess, "run", lambda command, **_: commands.append(command) or done)
    until = time.time() + 60
    gpu_record.do_runs(place / "grid.yaml", place / "runs", "cpu", until, {}, since=until - 600)
    for command in commands:
        given = dict(zip(command[4::2], command[5::2], strict=True))
        assert (given["--until"], given["--since"]) == (f"{until:.0f}", f"{until - 600:.0f}")
    assert len(commands) == 2


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (subprocess.CompletedProcess([], 0, "focal 3: done", "warnings.warn("), "focal 3: done"),
        (subprocess.CompletedProcess([], 1, "", "Error: no images"), "Error: no images"),
        (subprocess.CompletedProcess([], CALL_AGAIN, "", "Stopped: time is up"), "Stopped: time is up"),
    ],
)
def test_what_a_run_said_last_is_told_and_warnings_of_one_that_went_well_are_not(
    place, monkeypatch, capsys, done, said
):
    monkeypatch.setattr(gpu_record.subprocess, "run", lambda command, **_: done)
    gpu_record.do_runs(place / "grid.yaml", place / "runs", "cpu", time.time() + 60, {})
    first = capsys.readouterr().out.splitlines()[0]
    assert said in first
    assert "warnings" not in first


@pytest.mark.parametrize("name", ["kk24-gpu.yaml", "kk24-gpu-cifar100.yaml"])
def test_the_grids_compare_what_the_record_without_a_gpu_does_seed_by_seed(name):
    folder = ROOT / "workflow" / "grids"
    specs, kk24 = read_grid(folder / name), ("KK24 Table 1", "KK24 section 5.2", "M20 Tables 1 and 7")
    assert [spec.seed for spec in specs] == sorted([0, 1, 2, 3, 4] * 7)
    record = [contrast for contrast in read_contrasts(folder / "cifar10-record.yaml") if contrast.table in kk24]
    assert list(read_contrasts(folder / name)) == record


def test_the_grid_of_a_quarter_of_an_hour_compares_the_same():
    folder = ROOT / "workflow" / "grids"
    assert read_contrasts(folder / "cifar10-resnet18.yaml") == read_contrasts(folder / "kk24-gpu.yaml")
    short, whole = (read_grid(folder / f"{name}.yaml") for name in ("cifar10-resnet18", "kk24-gpu"))
    assert {spec.label for spec in short} == {spec.label for spec in whole}
