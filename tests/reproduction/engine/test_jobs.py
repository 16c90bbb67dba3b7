"""Grids through Snakemake: what failed is told in a line, the others are done, and a call ends when it is told to."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from yaml import safe_load

from reproduction.checkout import ROOT
from reproduction.engine import jobs
from reproduction.engine.grids import read_grid
from reproduction.engine.run import run
from reproduction.engine.status import CALL_AGAIN, status
from tests.reproduction.conftest import SMALL

GRID = """
dataset: fashion-mnist
model: mlp
n_train: 60
n_validation: 30
epochs: 2
batch_size: 10
evaluate_every: 1
gamma: 1
learning_rate: [1e-3, 1e30]
"""


def grid(path, root, *options):
    command = [sys.executable, "-m", "focal_lib.cli", "grid", str(path), "--root", str(root), "--cores", "1", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)


@pytest.mark.slow
def test_a_run_that_fails_is_told_and_the_others_are_done(small_data, tmp_path):
    """Of one call; of two at once, test_kill.py."""
    (tmp_path / "grid.yaml").write_text(GRID)
    process = grid(tmp_path / "grid.yaml", tmp_path / "my runs")
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 1, output
    specs = read_grid(tmp_path / "grid.yaml")
    for spec, entry in zip(specs, status(specs, tmp_path / "my runs"), strict=True):
        assert entry.state == ("failed" if spec.learning_rate > 1 else "done")
        log = (tmp_path / "my runs" / spec.digest / "log.jsonl").read_text().splitlines()
        events = [json.loads(line)["event"] for line in log]
        assert events[:2] == ["start", "failed"] if spec.learning_rate > 1 else events == ["start", "done"]
    reason = "run focal 1, seed 0 FAILED: the training loss must stay finite. Got nan in epoch 1."
    assert reason in output.splitlines()
    assert "Traceback" not in output
    before, _, _ = output.partition("Building DAG of jobs")
    assert "\n2 runs: " in f"\n{before}"
    assert not list((tmp_path / "my runs").glob(".logs-*"))


def test_snakemake_is_asked_for_what_is_not_done_by_the_run_itself(finished, tmp_path, monkeypatch):
    """Its markers are the call's own: a damaged run has none, nor has one that is to be made anew."""
    spec, folder, _ = finished
    path = tmp_path / "grid.yaml"
    path.write_text("\n".join(f"{name}: {value}" for name, value in {**SMALL, "gamma": 2}.items()))
    marked, commands = [], []
    monkeypatch.setattr(jobs.subprocess, "Popen", lambda command, **options: commands.append(command))
    monkeypatch.setattr(jobs, "_wait", lambda process, minutes: marked.append(names(tmp_path.glob(".logs-*/*"))) or 0)

    def names(paths):
        return [path.name for path in paths]

    before = sorted(names(folder.iterdir()))
    jobs.do_grid(path, tmp_path)
    jobs.do_grid(path, tmp_path, again=True)
    (folder / "logits.npz").write_bytes((folder / "logits.npz").read_bytes()[:-100])
    jobs.do_grid(path, tmp_path)
    assert marked == [[f"{spec.digest}.finished"], [], []]
    assert sorted(names(folder.iterdir())) == before
    assert all(command[1:3] == ["-m", "snakemake"] and "--nolock" in command for command in commands)
    assert read_grid(path) == [spec]


def test_snakemake_marks_nothing_where_another_call_could_remove_it():
    """What it makes lies in the folder of the call."""
    text = (ROOT / "workflow" / "grid.smk").read_text()
    made = re.findall(r"^    (?:output|log): (.*)", text, re.M)
    assert len(made) == 4
    assert all(re.fullmatch(r'(touch\()?f"\{RUN_LOGS\}/.*"\)?', where) for where in made)


@pytest.fixture
def ended(small_data, tmp_path, monkeypatch):
    """How a grid ends whose jobs leave these logs, by the name of the run or of the data set."""

    def end(content, logs, **options):
        path = tmp_path / "grid.yaml"
        path.write_text(content)
        names = {spec.name: f"run-{spec.digest}" for spec in read_grid(path)}

        def begin(command, **options):
            (folder,) = [Path(part.removeprefix("run_logs=")) for part in command if part.startswith("run_logs=")]
            for name, log in logs.items():
                file = folder / f"{names.get(name, name)}.txt"
                file.parent.mkdir(exist_ok=True)
                file.write_text(log)

        monkeypatch.setattr(jobs.subprocess, "Popen", begin)
        monkeypatch.setattr(jobs, "_wait", lambda process, minutes: 1)
        failed = jobs.do_grid(path, tmp_path / "runs", **options).failed
        return {spec.name: failed[spec.digest] for spec in read_grid(path) if spec.digest in failed}

    return end


def test_what_failed_in_a_call_is_known_by_what_the_jobs_said(ended):
    reason = "n_train + n_validation must be at most 100, each at least 1. Got 1000 + 30."
    logs = {
        "cross-entropy, seed 0": f"Warning: slow\nError: {reason}\n",
        "focal 1, seed 0": "Error: a batch of 20 does not fit.\nIts second line.\n",
        "focal 2, seed 0": "Traceback (most recent call last):\n  File ...\nModuleNotFoundError: No module named 'x'\n",
        "focal 3, seed 0": "focal 3, seed 0: another process is doing it, waiting\n",  # and killed
        "focal 4, seed 0": "Error: no\nStopped: time is up after epoch 1 of 2; the next call goes on.\n",
        "focal 5, seed 0": "",
    }
    assert ended(GRID.replace("gamma: 1", "gamma: [0, 1, 2, 3, 4, 5, 6]").replace("[1e-3, 1e30]", "1e-2"), logs) == {
        "cross-entropy, seed 0": reason,
        "focal 1, seed 0": "a batch of 20 does not fit.",
        "focal 2, seed 0": "ModuleNotFoundError: No module named 'x'",
    }


def test_runs_whose_data_are_not_to_be_had_failed(ended):
    two = GRID.replace("fashion-mnist", "[fashion-mnist, finsen]").replace("[1e-3, 1e30]", "[1e-2, 1e-3]")
    logs = {"_build/data-finsen": "Error: finsen was not found.\n", "_build/data-fashion-mnist": "fine\n"}
    found = ended(two, logs)
    assert list(found.values()) == ["finsen was not found."]  # its two runs have one name


def test_what_another_process_did_in_the_meantime_has_not_failed(finished, ended, tmp_path):
    spec, folder, _ = finished
    (tmp_path / "runs").mkdir()
    folder.rename(tmp_path / "runs" / spec.digest)
    content = "\n".join(f"{name}: {value}" for name, value in {**SMALL, "gamma": 2}.items())
    assert ended(content, {spec.name: "Error: no room\n"}) == {}


def test_all_failed_where_snakemake_began_nothing(ended, monkeypatch):
    """As of an option it does not know: a next call would begin nothing, too."""
    assert ended(GRID, {}, minutes=9)["focal 1, seed 0"] == jobs.NONE_BEGAN
    assert ended(GRID, {"run-other": ""}, minutes=9) == {}
    assert ended(GRID, {}, minutes=1e-9) == {}  # the time was up before


def test_what_a_scheduler_refused_has_failed_and_what_its_jobs_stopped_has_not(ended):
    two, slurm = GRID.replace("gamma: 1", "gamma: [1, 2, 3]").replace("[1e-3, 1e30]", "1e-2"), ("--executor", "slurm")
    logs = {"data-fashion-mnist": "fine\n", "focal 1, seed 0": "", "focal 2, seed 0": "Stopped: time is up.\n"}
    assert ended(two, logs, more=slurm) == {"focal 1, seed 0": jobs.NONE_BEGAN, "focal 3, seed 0": jobs.NONE_BEGAN}
    assert ended(two, logs) == {}


@pytest.mark.parametrize("more", ["--executor slurm --jobs 2", "--profile workflow/slurm/gpu"])
def test_slurm_is_looked_for_before_work_begins(monkeypatch, more):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(jobs.shutil, "which", lambda name: None)
    with pytest.raises(ValueError, match="--executor slurm must find the command sbatch"):
        jobs.check_scheduler(more.split())
    jobs.check_scheduler(["--executor", "kubernetes"])
    jobs.check_scheduler(["--executor", "local", *more.split()[2:]])
    monkeypatch.setattr(jobs.shutil, "which", lambda name: f"/usr/bin/{name}")
    jobs.check_scheduler(more.split())


@pytest.mark.slow
def test_a_grid_whose_runs_cannot_be_prepared_ends(write_npz, tmp_path, monkeypatch):
    """For what is found only when the data are read."""
    write_npz(tmp_path / "data" / "mine", n_train=100)
    (tmp_path / "data" / "mine" / "test.npz").write_bytes(b"cut")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    (tmp_path / "grid.yaml").write_text(
        "n_train: 50\nn_validation: 30\ndataset: [{dataset: mine, model: mlp}, {dataset: finsen, model: gp-cnn}]\n"
    )
    process = grid(tmp_path / "grid.yaml", tmp_path / "runs", "--minutes", "5")
    output = process.communicate(timeout=300)[0].splitlines()
    assert process.returncode == 1, output
    assert "2 failed" in output
    assert "test.npz must be a whole npz file of numbers, its images all of one size: provide it again" in output[-2]
    assert "finsen was not found" in output[-1]
    assert not list((tmp_path / "runs").glob("[!.]*"))


# --- Snakemake as a child, played by another: one that nobody ends is ended by an alarm ------

GRID_OF_A_CHILD = """
import signal, subprocess, sys
from pathlib import Path
from reproduction.engine import jobs
if sys.argv[4] == "nohup":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
begin = subprocess.Popen
jobs.subprocess.Popen = lambda command, **options: begin([sys.executable, "-c", sys.argv[3]])
jobs.do_grid(Path(sys.argv[1]), Path(sys.argv[2]))
"""
ENDS = """
import signal, sys
signal.alarm(10)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("ended", flush=True)))
print("begun", flush=True)
signal.pause()
"""


@pytest.fixture
def begun(tmp_path):
    """A grid at work, with that child in place of Snakemake."""
    begun = []

    def begin(child, more=""):
        (tmp_path / "grid.yaml").write_text("gamma: 1\n")
        command = [sys.executable, "-c", GRID_OF_A_CHILD, tmp_path / "grid.yaml", tmp_path / "runs", child, more]
        begun.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT))
        assert begun[-1].stdout.readline() == "begun\n"
        assert list((tmp_path / "runs").glob(".logs-*"))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_grid_that_is_ended_ends_snakemake_and_cleans_up(begun, tmp_path, number):
    process = begun(ENDS)
    process.send_signal(number)
    assert process.stdout.readline() == "ended\n"
    assert process.wait(10) == 128 + number
    assert not list((tmp_path / "runs").glob(".logs-*"))


def test_a_grid_outlives_its_terminal_under_nohup(begun):
    process = begun(ENDS, "nohup")
    process.send_signal(signal.SIGHUP)
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM


def child(code):
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    return process


def test_snakemake_is_waited_for_and_after_its_minutes_is_to_begin_no_further_job():
    for minutes in (None, 9):
        assert jobs._wait(child("print('begun'); raise SystemExit(3)"), minutes) == 3
    process = child(ENDS)
    started = time.monotonic()
    assert jobs._wait(process, 0.1 / 60) == 0
    assert time.monotonic() - started >= 0.1
    assert process.stdout.read() == b"ended\n"


@pytest.mark.parametrize("name", ["br{ace}", "two\nlines", "end'", 'end"'])
def test_a_root_that_snakemake_would_change_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"must have no {, } or line break in its name, nor a quotation mark at its"):
        jobs.check_root(tmp_path / name)


# --- what Snakemake is asked for --------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """The command that do_grid would give to Snakemake."""
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    commands = []
    monkeypatch.setattr(jobs.subprocess, "Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr(jobs, "_wait", lambda process, minutes: commands[-1].append(minutes) or 0)
    monkeypatch.setattr(jobs, "gpus_here", lambda: ["a", "b"])

    def ask(tmp_path, **options):
        (tmp_path / "grid.yaml").write_text("gamma: 1\n")
        assert jobs.do_grid(tmp_path / "grid.yaml", tmp_path / "runs", **options).code == 0
        *command, minutes = commands[-1]
        given = [part.removeprefix("run_options=") for part in command if str(part).startswith("run_options=")]
        return command, given[0].split() if given else [], minutes

    return ask


def test_here_the_scheduler_knows_the_places_and_a_job_takes_one(asked, tmp_path):
    command, options, _ = asked(tmp_path, device="cuda", per_device=3)
    assert command[command.index("--resources") + 1] == "gpu_places=6"
    assert options == ["--device", "cuda", "--per-device", "3"]
    command, options, _ = asked(tmp_path)
    assert "--resources" not in command
    assert "rules" in command
    assert options == []


def test_on_a_cluster_a_job_takes_what_it_was_given_and_has_its_own_minutes(asked, tmp_path):
    more = ["--profile", "workflow/slurm/gpu"]
    command, options, minutes = asked(tmp_path, device="cuda", minutes=110, more=more)
    assert "--resources" not in command
    assert options == ["--device", "cuda", "--minutes", "110"]
    assert minutes is None  # Snakemake is not stopped
    assert "rules" not in command  # it says why a job was not taken
    _, options, minutes = asked(tmp_path, minutes=9, again=True)
    assert options[:2] == ["--again", "--until"]
    assert 500 < float(options[2]) - time.time() <= 541
    assert minutes == 9


@pytest.mark.parametrize(
    ("more", "profile", "cluster"),
    [
        ("", "", False),
        ("--jobs 3 --verbose", "none", False),
        ("--jobs 9 -e slurm", "", True),
        ("--executor=slurm", "", True),
        ("-e local", "a-cluster", False),  # of a profile, the resources
        ("--executor dryrun", "", False),
        ("--profile workflow/slurm/gpu", "", True),
        ("--profile none", "a-cluster", False),
        ("--workflow-profile there", "", True),
        ("--workflow-profile none", "a-cluster", True),
        ("--executor-like x", "", False),
        ("", "a-cluster", True),
    ],
)
def test_what_hands_jobs_to_other_machines(monkeypatch, more, profile, cluster):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", profile)
    assert jobs.is_for_cluster(more.split()) == cluster


def test_a_job_takes_a_place_here_and_a_gpu_on_the_cluster():
    """Of the places that `focal grid` counts, and of the GPUs that Slurm knows."""
    (train,) = re.findall(r"^rule train:\n((?:    .*\n)+)", (ROOT / "workflow" / "grid.smk").read_text(), re.M)
    assert re.findall(r"^    resources: (\S+)", train, re.M) == ["gpu_places=1"]
    profile = safe_load((ROOT / "workflow" / "slurm" / "gpu" / "config.yaml").read_text())
    assert profile["executor"] == "slurm"
    assert profile["default-resources"]["gres"] == "gpu:1"


def test_no_gpu_here(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ValueError, match=r"this machine has 0 GPUs. Got 'cuda'"):
        jobs.do_grid(tmp_path / "grid.yaml", tmp_path, device="cuda")


def stop_in_time(path, root, epochs):
    """Calls with more and more minutes, until its run begins within them; whether it was stopped then, or done."""
    (spec,) = read_grid(path)
    minutes = 0.07
    for _ in range(12):
        process = grid(path, root, "--minutes", f"{minutes:g}")
        output = process.communicate(timeout=900)[0]
        ((_, state, _),) = status([spec], root)
        if state == "done":
            return False
        assert process.returncode == CALL_AGAIN, output
        assert f"1 {state}" in output.splitlines()
        if state == "stopped":
            assert f"run {spec.name} stopped: time is up after epoch " in output
            assert f" of {epochs}; the next call goes on.\n" in output
            return True
        assert state == "waiting", output
        minutes *= 1.5
    raise AssertionError(f"the run must begin within {minutes:g} minutes. It did not.")


@pytest.mark.slow
def test_a_grid_stopped_after_its_minutes_ends_as_one_that_never_was(small_data, tmp_path):
    """Where a machine becomes so much faster meanwhile that the run ends in its minutes, it is tried again."""
    epochs, path = 2000, tmp_path / "grid.yaml"  # more seconds than a grid takes to begin its run
    long = {"epochs": epochs, "evaluate_every": epochs, "learning_rate": 1e-3, "n_train": 48, "batch_size": 8}
    path.write_text("".join(f"{name}: {value}\n" for name, value in (safe_load(GRID) | long).items()))
    roots = [tmp_path / name for name in ("a", "b", "c")]
    root = next((root for root in roots if stop_in_time(path, root, epochs)), None)
    assert root is not None, "the run must be stopped. It ended within its minutes."
    process = grid(path, root)
    output = process.communicate(timeout=900)[0]
    assert process.returncode == 0, output
    (spec,) = read_grid(path)
    tries = [json.loads(line) for line in (root / spec.digest / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in tries] == ["start", "stopped", "start", "done"]
    assert 0 < tries[1]["epoch"] == tries[2]["epoch"] < epochs
    whole, stopped = run(spec, tmp_path / "whole"), run(spec, root)
    for part in ("validation", "test", "train"):
        assert (getattr(whole, part).logits == getattr(stopped, part).logits).all()
    assert whole.history.equals(stopped.history)
    weights = [folder / spec.digest / "weights.pt" for folder in (tmp_path / "whole", root)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
