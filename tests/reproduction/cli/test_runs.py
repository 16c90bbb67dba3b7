"""focal run, focal grid, and what -p lists."""

import json
import shutil
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from focal_lib import cli
from reproduction.engine.grids import read_grid
from reproduction.engine.jobs import Ended
from reproduction.engine.locks import TimeUp
from reproduction.engine.run import run as train
from reproduction.engine.spec import chosen_fields
from reproduction.engine.status import Status, status
from reproduction.engine.trainer import NonFiniteLoss
from reproduction.studies.shared import experiments

SMALL = {"n_train": "60", "n_validation": "30", "epochs": "2", "batch_size": "20", "evaluate_every": "1"}


@pytest.fixture
def run(small_data, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path / "runs"))
    return lambda *args: CliRunner().invoke(cli.main, list(map(str, args)))


def flags(**values):
    return [part for name, value in (SMALL | values).items() for part in ("-p", name, value)]


@pytest.fixture
def grid(tmp_path):
    def write(text):
        path = tmp_path / "grid.yaml"
        path.write_text("\n".join([*(f"{name}: {value}" for name, value in SMALL.items()), text]))
        return path

    return write


def test_run_trains_and_then_only_tells(run):
    first = run("run", *flags(loss="flsd-53"))
    assert first.exit_code == 0, first.output
    assert "flsd-53, seed 0: test accuracy" in first.output
    again = run("run", *flags(loss="flsd-53"))
    assert first.output.strip().endswith(again.output.strip())  # no progress bar: nothing was trained


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("-p", "gama", "2"), "parameters must be among dataset, model, loss"),
        (("-p", "model", "resnet51"), "model must be one of small-cnn"),
        (("-p", "loss", "fcl"), "fcl needs gamma: L25"),
        (("-p", "gamma", "[1"), "gamma: must be YAML"),
        (("-p", "gamma", "1", "-p", "gamma", "2"), "Got gamma twice: 1 and 2"),
        (("--per-device", "2"), "--per-device is for --device cuda. Got auto."),
        (("--until", "nan"), "--until must be a time"),
        (("--page", "none/page.ipynb"), "There is no "),
    ],
)
def test_run_refuses_what_it_does_not_know(run, tmp_path, given, message):
    result = run("run", *flags(), *given)
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.count("\n") == 1  # no traceback
    assert not list((tmp_path / "runs").glob("[!.]*"))


def test_run_lists_its_parameters(run):
    text = " ".join(run("run", "--help").output.split())
    assert "-p NAME VALUE" in text
    for field in chosen_fields():
        assert f"{field.name} " in text
    assert "learning_rate at the start; 0: as in the recipe. A number >= 0. Default: 0.0." in text
    seed = "seed of the split, the weights and the order of the batches. A whole number >= 0, at most {}. Default: 0."
    assert seed.format(2**64 - 1) in text
    assert "fcl (gamma, lam)" in text
    assert "resnet50" in text


def test_notebook_lists_its_parameters(run):
    for command in (["notebook", "experiment", "--help"], ["notebook", "experiment", "-p", "gama", "2"]):
        text = " ".join(run(*command).output.split())
        assert "0: as in the recipe" in text
        assert "default 20" in text
    assert "Parameters" not in run("notebook", "--help").output
    assert "Missing argument 'NAME'" in run("notebook").output


def test_a_run_of_a_grid_by_its_digest(run, grid, tmp_path):
    path = grid("gamma: [0, 2]")
    spec = read_grid(path)[1]
    command = ["run", "--grid", path, "--digest", spec.digest, "--root", tmp_path / "there"]
    done = run(*command)
    assert done.output.startswith("focal 2, seed 0: test accuracy")
    assert run(*command).output == done.output
    log = (tmp_path / "there" / spec.digest / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in log] == ["start", "done"]
    assert "digest must be that of a run in grid.yaml" in run(*command[:4], "x").output
    assert "Got a mixture" in run(*command, "-p", "gamma", "3").output
    assert "Got a mixture" in run("run", "--grid", path).output
    run(*command, "--again")
    assert (tmp_path / "there" / f"{spec.digest}.1" / "logits.npz").is_file()


def test_a_run_that_stops_says_so(run):
    stopped = run("run", *flags(), "--until", "1")
    assert (stopped.exit_code, stopped.output) == (75, "Stopped: no time was left to begin.\n")


def test_a_run_waits_for_a_gpu_until_its_time_is_up(run, monkeypatch):
    def place(per_gpu, until):
        assert 500 < until - time.time() <= 540
        raise TimeUp("time is up, and every GPU is still taken.")

    monkeypatch.setattr("reproduction.engine.locks.place_on_a_gpu", place)
    stopped = run("run", *flags(), "--device", "cuda", "--per-device", "1", "--minutes", "9")
    assert (stopped.exit_code, stopped.output) == (75, "Stopped: time is up, and every GPU is still taken.\n")


def test_grid_status_says_what_failed_and_why(run, grid):
    path = grid("gamma: [0, 1]\nlearning_rate: [1e-3, 1e30]")
    specs = read_grid(path)
    assert [entry.state for entry in status(specs)] == ["waiting"] * 4
    train(specs[0])
    with pytest.raises(NonFiniteLoss):
        train(specs[1])
    states = [line.split()[0] for line in run("grid", path, "--status").output.splitlines()]
    assert states == ["done", "failed", "waiting", "waiting"]
    assert "must stay finite" in run("grid", path, "--status").output


@pytest.mark.slow
def test_grids_are_recorded_and_tabled(run, grid, tmp_path):
    path = grid("gamma: [0, 1]")
    root, kept, table = (tmp_path / name for name in ("runs", "kept", "table.parquet"))
    missing = run("grid", path, "--root", root, "--record", kept)
    assert missing.exit_code == 1
    assert "2 of 2 runs are not there" in missing.output
    assert "They are made by: focal grid" in missing.output
    assert run("grid", path, "--root", root, "--record", kept, "--part").exit_code == 1
    first, second = read_grid(path)
    train(second, root)
    assert "1 of 2 runs are not there" in run("grid", path, "--root", root, "--record", kept).output
    assert not kept.exists()
    assert "1 runs -> " in run("grid", path, "--root", root, "--record", kept, "--part").output
    train(first, root)
    assert "2 runs -> " in run("grid", path, "--root", root, "--record", kept).output
    assert "2 runs -> " in run("grid", path, "--root", kept, "--table", table).output
    assert pd.read_parquet(table)["loss"].unique().tolist() == ["cross-entropy", "focal 1"]


@pytest.mark.slow
def test_a_table_beside_a_record_holds_what_was_recorded_before(run, grid, tmp_path):
    path = grid("gamma: [0, 1]")
    kept = tmp_path / "kept"
    table = kept / "table.parquet"  # in the folder that the record makes
    for spec, root in zip(read_grid(path), (tmp_path / "here", tmp_path / "another machine"), strict=True):
        train(spec, root)
        assert run("grid", path, "--root", root, "--record", kept, "--table", table, "--part").exit_code == 0
    assert pd.read_parquet(table)["loss"].unique().tolist() == ["cross-entropy", "focal 1"]


def test_only_runs_without_a_copy_are_recorded(run, grid, record_runs, tmp_path):
    path, kept = grid("gamma: [0, 1]"), tmp_path / "kept"
    first, second = read_grid(path)
    train(first)
    train(second)
    record_runs([first], kept)

    written = (kept / first.digest / "logits.npz").stat().st_mtime_ns
    assert "2 runs -> " in run("grid", path, "--record", kept).output
    assert (kept / first.digest / "logits.npz").stat().st_mtime_ns == written
    other = Path(shutil.copytree(kept / second.digest, tmp_path / "other" / first.digest))
    shutil.copyfile(kept / first.digest / "spec.json", other / "spec.json")
    assert run("grid", path, "--record", tmp_path / "other").exit_code == 1
    assert len([*(tmp_path / "other").iterdir()]) == 1  # a copy in the way is found before anything is written


@pytest.fixture
def jobs(monkeypatch):
    """What `focal grid` asks of Snakemake, which does one run and comes back with that status."""
    asked = []

    def do(status, failed=None):
        def do_grid(path, root, **options):
            asked.append(options)
            train(read_grid(path)[0], root)
            return Ended(status, failed or {})

        monkeypatch.setattr("reproduction.engine.jobs.do_grid", do_grid)
        monkeypatch.setattr("reproduction.engine.jobs.shutil.which", lambda name: f"/usr/bin/{name}")  # sbatch, too
        return asked

    return do


def test_grid_within_minutes_says_what_is_left(run, grid, jobs):
    asked = jobs(1)
    stopped = run("grid", grid("gamma: [0, 1]"), "--minutes", "9", "--again", "--cores", "2", "--executor", "slurm")
    assert (stopped.exit_code, stopped.stdout) == (75, "1 done, 1 waiting\n")
    more = ("--executor", "slurm")
    options = {
        "cores": "2",
        "again": True,
        "minutes": 9.0,
        "device": "auto",
        "per_device": 1,
        "follow": (),
        "more": more,
    }
    assert asked == [options]
    jobs(0)
    assert run("grid", grid("gamma: 0")).exit_code == 0


def test_grid_says_images_before_it_starts(run, grid, monkeypatch):
    def do_grid(*_, **__):
        raise OSError("begun")

    monkeypatch.setattr("reproduction.engine.jobs.do_grid", do_grid)
    *told, last = run("grid", grid("gamma: [0, 1]"), "--device", "cpu").stderr.splitlines()
    assert last == "Error: begun"
    assert told == ["2 runs: 2 waiting; 2 to do.", "Images (or texts) to train on, epochs x those of one: at most 240."]


def test_grid_without_a_checkout_is_refused_before_it_is_planned(run, grid, tmp_path, monkeypatch):
    path = grid("gamma: [0, 1]")
    monkeypatch.setattr("reproduction.checkout.ROOT", tmp_path)
    monkeypatch.setattr("reproduction.engine.plan.check_runs", None)
    refused = run("grid", path)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: a grid of runs needs a checkout of the project")


def test_grid_with_a_failed_run_fails(run, grid, jobs, tmp_path):
    jobs(1)
    path = grid("gamma: [0, 1]")
    folder = tmp_path / "runs" / read_grid(path)[1].digest
    folder.mkdir(parents=True)
    (folder / "failed.json").write_text('{"reason": "because"}')
    assert run("grid", path, "--minutes", "9").exit_code == 1


def test_grid_whose_runs_cannot_be_prepared_fails_and_says_why(run, grid, jobs):
    """They leave no folder, so nothing but this call knows of it."""
    path = grid("gamma: [0, 1, 2, 3]")
    first, second, third, fourth = read_grid(path)
    train(first)
    jobs(1, {second.digest: "no data", third.digest: "no data"})
    assert run("grid", path, "--minutes", "9").exit_code == 75  # the fourth waits
    jobs(1, {second.digest: "no data", third.digest: "no data", fourth.digest: "no device"})
    ended = run("grid", path, "--minutes", "9")
    assert (ended.exit_code, ended.stdout) == (1, "1 done, 3 failed\n")
    assert ended.stderr.splitlines()[-2:] == ["focal 1, seed 0 and 1 more: no data", "focal 3, seed 0: no device"]


def test_what_a_scheduler_refused_is_told_at_the_end(run, grid, jobs, monkeypatch):
    path = grid("gamma: [0, 1]")
    jobs(1, {spec.digest: "its job did not begin" for spec in read_grid(path)})
    ended = run("grid", path, "--executor", "slurm")
    assert (ended.exit_code, ended.stdout) == (1, "2 failed\n")
    assert ended.stderr.splitlines()[-1] == "cross-entropy, seed 0 and 1 more: its job did not begin"
    monkeypatch.setattr("reproduction.engine.jobs.shutil.which", lambda name: None)
    refused = run("grid", path, "--executor", "slurm")
    assert refused.stderr == (
        "Error: --executor slurm must find the command sbatch, as a login node has it. It is not in PATH.\n"
    )


@pytest.mark.parametrize("flags", [("--profile", "workflow/slurm/gpu"), ("--executor=slurm",)])
def test_a_cluster_has_gpus_that_its_login_node_lacks(run, grid, jobs, monkeypatch, flags):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    asked = jobs(0)
    path = grid("gamma: [0, 1]")
    done = run("grid", path, "--device", "cuda", "--minutes", "110", *flags)
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[1:] == ["Images (or texts) to train on, epochs x those of one: at most 240."]
    assert asked[0]["more"] == flags
    assert "has 0 GPUs" in run("grid", path, "--device", "cuda", "--dry-run").output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--status", "--again"], "--status looks at the runs there are: leave out --again."),
        (["--status", "--record", "x", "--minutes", "9"], "leave out --minutes, --record."),
        (["--status", "--cores", "2", "-n"], "leave out --cores, -n."),
        (["--record", "x", "--device", "cuda"], "--record and --table look at the runs there are: leave out --device."),
        (["--table", "x.parquet", "--per-device", "2"], "leave out --per-device."),
        (["--per-device", "2"], "only --device cuda shares out GPUs: leave out --per-device."),
        (
            ["--device", "cuda", "--per-device", "2", "--profile", "workflow/slurm/gpu"],
            "on a cluster each run takes the GPU that its job was given: leave out --per-device.",
        ),
        (["--device", "cuda", "--per-device", "2", "-e", "slurm"], "on a cluster each run takes the GPU"),
        (["--part"], "--half and --part are for --record and --table: leave out --part."),
        (["--status", "--part"], "leave out --part."),
        (["--device", "cuda:1"], "Invalid value for '--device'"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, grid, jobs, given, message):
    asked = jobs(0)
    refused = run("grid", grid("gamma: [0, 1]"), *given)
    assert refused.exit_code == 2
    assert message in refused.output
    assert asked == []


def test_numbers_of_options_are_those_that_can_be(run, grid, jobs, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    asked = jobs(0)
    path = grid("gamma: 0")
    assert run("grid", path, "--minutes", "1e1").exit_code == 0
    assert asked[0]["minutes"] == 10
    assert "has 0 GPUs" in run("run", *flags(), "--device", "cuda", "--per-device", "2e0").output
    assert run("grid", path, "--device", "cuda", "--per-device", "2.5").exit_code == 2
    for value in ("nan", "0"):
        assert run("grid", path, "--minutes", value).exit_code == 2


@pytest.mark.slow
def test_a_table_with_other_runs_is_not_written_over(run, grid, tmp_path):
    kept, table = tmp_path / "kept", tmp_path / "t.parquet"
    path = grid("seed: [0, 1]")
    for spec in read_grid(path):
        train(spec, tmp_path / "runs")
    assert run("grid", path, "--root", tmp_path / "runs", "--record", kept, "--table", table).exit_code == 0
    before = table.read_bytes()
    shutil.rmtree(kept / read_grid(path)[1].digest)
    refused = run("grid", path, "--root", kept, "--table", table, "--part")
    assert refused.exit_code == 1
    assert "must have no run that the new table has not. Got 1: write elsewhere, or move it away." in refused.output
    assert table.read_bytes() == before


def test_tables_of_several_versions_are_refused(run, grid, tmp_path):
    path = grid("gamma: [0, 1]")
    for spec in read_grid(path):
        train(spec)
    record = tmp_path / "runs" / read_grid(path)[0].digest / "spec.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"training_version": 0}))
    for given in (["--table", tmp_path / "t.parquet"], ["--record", tmp_path / "kept"]):
        refused = run("grid", path, *given)
        assert refused.exit_code == 1
        assert "runs must be of one version of the training code. Got 1 of version 0, 1 of version 1." in refused.output
    assert not (tmp_path / "t.parquet").exists()
    assert "written as .parquet: its name must end so. Got t.csv" in run("grid", path, "--table", "t.csv").output


def test_what_is_recorded_says_what_it_cost(run, grid, tmp_path):
    path = grid("gamma: [0, 1]")
    for spec in read_grid(path):
        train(spec)
    (tmp_path / "README.md").write_text(f"# Runs\n\n{experiments.START}\n{experiments.END}\n\nMore.\n")
    done = run("grid", path, "--record", tmp_path / "kept")
    assert done.exit_code == 0, done.output
    assert "2 runs -> " in done.output
    assert "; compute used: 240 images in 0 minutes of one run at a time, on " in done.output
    text = (tmp_path / "README.md").read_text()
    assert "| `kept` | 2 | 240 images in 0 minutes" in text
    assert text.endswith("\n\nMore.\n")


@pytest.mark.parametrize("cores", ["0", "abc", "1.5", "1e9"])
def test_a_grid_has_one_core_or_more(run, grid, jobs, cores):
    """None is what Snakemake would wait with, for ever."""
    asked = jobs(0)
    refused = run("grid", grid("gamma: 0"), f"--cores={cores}")
    assert refused.exit_code == 2
    assert f"must be all, or a whole number from 1 to 100,000. Got '{cores}'" in refused.output
    assert asked == []
    assert run("grid", grid("gamma: 0"), "--cores", "2e0").exit_code == 0
    assert asked[0]["cores"] == "2"


def test_what_no_call_would_do_is_not_counted(run, grid, tmp_path, monkeypatch):
    path = grid("gamma: [0, 1, 2, 3, 4]")
    states = ["done", "running", "outdated", "stopped", "waiting"]
    entries = [Status(spec, state, "") for spec, state in zip(read_grid(path), states, strict=True)]
    monkeypatch.setattr(sys.modules["reproduction.engine.status"], "status", lambda specs, root, whole: entries)
    monkeypatch.setattr("reproduction.engine.data_identity.refuse_other_data", lambda specs, root: None)  # no files
    first, second, *_ = run("grid", path, "--dry-run").output.splitlines()
    assert first == "5 runs: 1 done, 1 running, 1 outdated, 1 stopped, 1 waiting; 3 to do."
    assert second.endswith(": at most 360.")
    assert run("grid", path, "--dry-run", "--again").output.splitlines()[0].endswith("; 4 to do.")


def test_what_a_run_cannot_do_is_told_before_the_first_is_begun(run, grid, jobs):
    asked = jobs(0)
    path = grid("loss: [{loss: focal, gamma: 2}, {loss: label-smoothing, lam: 5}]")
    for flag in ([], ["--dry-run"]):
        refused = run("grid", path, *flag)
        assert refused.exit_code == 1
        assert "label-smoothing 5, seed 0): lam must be a share, at most 1. Got 5" in refused.output
    assert asked == []


def test_where_runs_cannot_be_kept_is_told_before_anything_is_done(run, grid, jobs, tmp_path, monkeypatch):
    asked = jobs(0)
    file = tmp_path / "file"
    file.write_text("")
    path = grid("gamma: 0")
    for command in (["run", *flags()], ["grid", path]):
        refused = run(*command, "--root", file / "below")
        assert refused.exit_code == 1
        assert f"{file} must be a folder. Got a file" in refused.output
    monkeypatch.setenv("FOCAL_RUNS", str(file))
    for command in (["run", *flags()], ["grid", path], ["grid", path, "--status"], ["grid", path, "--dry-run"]):
        refused = run(*command)
        assert refused.exit_code == 1
        assert f"FOCAL_RUNS must be a folder, or nothing yet. Got '{file}'" in refused.output
    assert asked == []


def test_nothing_is_recorded_where_something_else_cannot_be(run, grid, tmp_path):
    path = grid("gamma: 0")
    train(read_grid(path)[0])
    refused = run("grid", path, "--record", tmp_path / "kept", "--table", tmp_path / "none" / "t.parquet")
    assert (refused.exit_code, (tmp_path / "kept").exists()) == (1, False)
    assert "There is no " in refused.output
    refused = run("grid", path, "--record", path)
    assert refused.exit_code == 1
    assert "grid.yaml must be a folder. Got a file" in refused.output


def test_finished_runs_need_no_data(run, grid, jobs, monkeypatch, tmp_path):
    path = grid("gamma: 0")
    train(read_grid(path)[0])
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "gone"))
    assert run("grid", path, "--dry-run").output == "1 runs: 1 done; 0 to do.\n"


@pytest.mark.slow
def test_a_run_leaves_a_page_of_its_own(run, tmp_path):
    page = tmp_path / "page.ipynb"
    done = run("run", *flags(gamma="2", keep_every="1"), "--page", page)
    assert done.exit_code == 0, done.output
    assert "keep_every = 1" in page.read_text()


def test_a_table_is_not_written_into_a_run(run, grid, tmp_path):
    path = grid("model: mlp\n")
    (tmp_path / "r" / "x").mkdir(parents=True)
    (tmp_path / "r" / "x" / "spec.json").write_text("{}")
    refused = run("grid", path, "--root", tmp_path / "r", "--table", tmp_path / "r" / "x" / "history.parquet")
    assert "a table must not lie in the folder of a run" in refused.output
    for option in ("--root", "--record", "--table"):
        assert "must have a name. Got ''; the current folder is '.'." in run("grid", path, option, "").output
