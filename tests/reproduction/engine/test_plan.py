"""What a grid would cost: exactly in images, about in hours, and what that rests on."""

import json
import subprocess
import sys
from collections import Counter

import pytest
import torch
from click.testing import CliRunner

from focal_lib import cli
from reproduction.checkout import ROOT
from reproduction.engine import speed, timing
from reproduction.engine.data.images import IMAGE_SETS
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.grids import read_grid
from reproduction.engine.machine import machine_name, spell_cores
from reproduction.engine.plan import plan_grid
from reproduction.engine.run import run
from reproduction.engine.spec import Spec
from reproduction.engine.speed import Kind, Speed, kind_of, measure_speeds, recorded_speeds
from reproduction.engine.status import Status
from reproduction.engine.store import CHECKPOINT, run_folder
from reproduction.engine.timing import measure_apart
from reproduction.engine.trainer import Trainer
from tests.quick import quick_but_for

GRIDS = sorted((ROOT / "workflow" / "grids").glob("*.yaml"))
SMALL = "n_train: 60\nn_validation: 30\nepochs: 4\nbatch_size: 20\nevaluate_every: 1\n"
CPU = torch.device("cpu")


@pytest.fixture
def grid(tmp_path):
    def write(text):
        (tmp_path / "grid.yaml").write_text(SMALL + text)
        return tmp_path / "grid.yaml"

    return write


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A folder in place of those of results/, where nothing is recorded yet."""
    (tmp_path / "recorded").mkdir()
    monkeypatch.setattr("reproduction.engine.plan.recorded_folders", lambda: [tmp_path / "recorded"])
    return tmp_path / "recorded"


def test_every_grid_is_planned_without_pytorch(tmp_path):
    code = """
import sys
from pathlib import Path
from reproduction.engine.plan import plan_grid
for path in sys.argv[2:]:
    plan = plan_grid(path, Path(sys.argv[1]), "cpu", measure="nothing")
    assert plan.finished == 0, path
    assert sum(part.runs for part in plan.parts) == plan.runs, path
    print(plan.images, flush=True)
assert "torch" not in sys.modules
"""
    plain = [path for path in GRIDS if "\ncontrasts:" not in path.read_text()]  # those bring the metrics' names, too
    command = [sys.executable, "-c", code, str(tmp_path), *map(str, plain)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    images = dict(zip([path.stem for path in plain], map(int, done.stdout.split()), strict=True))
    assert images["m20-tables"] == 80 * 350 * 45_000
    assert images["l25-tables"] == 56 * 350 * 45_000
    assert images["m20-text"] == 10 * 50 * 15_098 + 10 * 25 * 6_920
    for path in set(GRIDS) - set(plain):
        assert plan_grid(path, tmp_path, "cpu", measure="nothing").images > 0


@pytest.mark.parametrize(
    "path",
    quick_but_for([path for path in GRIDS if path.stem not in ("smoke", "m20-text")], GRIDS),
    ids=lambda p: p.stem,
)
def test_planning_reads_no_data_and_trains_nothing_but_timed_steps(path, recorded, tmp_path, monkeypatch):
    """Of each kind one step to count its FLOPs, and two of at most a batch and of little work."""

    def forbidden(*_, **__):
        raise AssertionError("planned, and nothing else")

    steps, step = [], speed._Step.__call__

    def counted(self, n):
        steps.append((self.kind, n))
        assert n == 2 or n <= min(self.size, speed.WORK / self.flops)
        return step(self, n) if n == 2 else 1e-4 * n

    monkeypatch.setattr(speed._Step, "__call__", counted)
    monkeypatch.setattr(Trainer, "train_epoch", forbidden)
    monkeypatch.setattr("reproduction.engine.data.load", forbidden)
    for name in ("FOCAL_DATA", "FOCAL_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "data"))
    plan = plan_grid(path, tmp_path / "runs", "cpu")
    assert plan.hours > 0
    assert set(Counter(kind for kind, _ in steps).values()) <= {1, 3}
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "runs").exists()


def test_costs_of_a_small_grid(small_data, grid, recorded, tmp_path):
    path = grid("differs: [much]\ngamma: [0, 2, 3]")
    made = run(Spec(gamma=2, **{k: int(v) for k, v in (line.split(": ") for line in SMALL.splitlines())}), tmp_path)
    record = tmp_path / made.spec.digest / "spec.json"
    changed = json.loads(record.read_text()) | {"seconds": 24.0, "threads": 2}
    record.write_text(json.dumps(changed))
    plan = plan_grid(path, tmp_path, "cpu", cores=4, measure="nothing")
    assert (plan.runs, plan.finished, plan.images) == (3, 1, 2 * 4 * 60)
    core_seconds = 2 * 24.0 / 240  # an image: of two threads
    assert plan.hours == pytest.approx(480 * core_seconds / 3600)
    assert plan.aims == "Differs from the paper in:\n  much"
    assert plan.costs.splitlines() == [
        "3 runs: 1 finished, 2 to do.",
        "Images (or texts) to train on, epochs x those of one: 480.",
        "  fashion-mnist, small-cnn, float32: 2 runs, 480 images, 0.027 h",
        "    5 images/s: recorded: median of 1 finished run here, evaluation included",
        f"Hours on {spell_cores(machine_name())}: about 0.027 of one core;",
        "0.0067 with 4 at once, if none slows another.",
    ]
    assert plan_grid(path, tmp_path, "cpu", measure="nothing", again=True).images == 3 * 4 * 60
    assert plan_grid(grid("gamma: 2"), tmp_path, "cpu", measure="nothing").costs == "1 runs: 1 finished, 0 to do."


def write_record(folder, name, **changes):
    record = {
        "spec": {"dataset": "d", "model": "m", "loss": "focal", "lam": 0.0},
        "precision": "bf16",
        "machines": ["here"],
    }
    record |= {"images": 100, "seconds": 10.0, "threads": 1} | changes
    (folder / name).mkdir()
    (folder / name / "spec.json").write_text(json.dumps(record))


def test_recorded_speeds_are_those_of_this_machine_by_kind(tmp_path):
    for i, seconds in enumerate((10.0, 20.0, 90.0)):
        write_record(tmp_path, f"a{i}", seconds=seconds)
    write_record(tmp_path, "b", precision="float32", threads=2)
    write_record(tmp_path, "c", machines=["there"], seconds=1.0)
    write_record(tmp_path, "d", machines=["here", "there"], seconds=1.0)
    write_record(tmp_path, "e", images=0)
    write_record(tmp_path, "shorter than a tenth of a second", seconds=0.0)
    write_record(tmp_path, "f", spec={"dataset": "d", "model": "m", "loss": "hessian-trace", "lam": 1.0})
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "spec.json").write_text("{")
    found = recorded_speeds([tmp_path], "here", on_gpu=False)
    assert {kind: value.seconds for kind, value in found.items()} == {
        Kind("d", "m", "bf16", ""): 0.2,
        Kind("d", "m", "float32", ""): 0.2,
        Kind("d", "m", "bf16", "hessian-trace"): 0.1,
    }
    assert "median of 3 finished runs" in found[Kind("d", "m", "bf16", "")].basis


def test_runs_on_some_of_the_cores_tell_how_fast_the_machine_is(tmp_path):
    write_record(tmp_path, "a", machines=["A, 1 cores, x86_64", "A, 2 cores, x86_64"])
    write_record(tmp_path, "b", machines=["A, 2 cores, arm64"], seconds=1.0)
    (found,) = recorded_speeds([tmp_path], "A, 16 cores, x86_64", on_gpu=False).values()
    assert found.seconds == 0.1


def test_records_of_such_a_machine_tell_how_long_a_grid_takes(grid, recorded, tmp_path):
    given = {
        "spec": {"dataset": "fashion-mnist", "model": "small-cnn", "loss": "focal", "lam": 0.0},
        "precision": "float32",
    }
    write_record(recorded, "a", **given, machines=[machine_name()])
    write_record(recorded, "b", **given, machines=["there"], seconds=1.0)
    root = tmp_path / "runs"
    (part,) = plan_grid(grid("gamma: [0, 1]"), root, "cpu", measure="nothing").parts
    assert part.speed.seconds == 0.1
    assert "median of 1 finished run in results/, on such a machine, evaluation included" in str(part)
    root.mkdir()
    write_record(root, "c", **given, machines=[machine_name()], seconds=2.0)
    (part,) = plan_grid(grid("gamma: [0, 1]"), root, "cpu", measure="nothing").parts
    assert part.speed.seconds == 0.02  # what was done here tells more
    assert "median of 1 finished run here, evaluation included" in str(part)


def test_the_threads_of_a_gpu_run_are_not_counted(tmp_path):
    write_record(tmp_path, "a", machines=["Tesla T4"], threads=8)
    (on_gpu,) = recorded_speeds([tmp_path], "Tesla T4", on_gpu=True).values()
    assert on_gpu.seconds == 0.1


def test_what_no_call_would_do_is_left_out(small_data, grid, tmp_path, monkeypatch):
    path = grid("gamma: [0, 1, 2, 3, 4]")
    states = ["done", "running", "newer", "stopped", "waiting"]
    specs = read_grid(path)
    entries = [Status(spec, state, "") for spec, state in zip(specs, states, strict=True)]
    monkeypatch.setattr("reproduction.engine.plan.status", lambda specs, root: entries)
    checkpoint = run_folder(specs[3], tmp_path) / CHECKPOINT
    checkpoint.parent.mkdir()
    checkpoint.touch()
    plan = plan_grid(path, tmp_path, "cpu", measure="nothing")
    assert (plan.finished, plan.images) == (1, 2 * 4 * 60)
    assert plan.costs.splitlines()[:2] == [
        "5 runs: 1 finished, 2 to do; left out: 1 running, 1 newer.",
        "Images (or texts) to train on, epochs x those of one: at most 480; 1 begun, which go on.",
    ]
    assert plan_grid(path, tmp_path, "cpu", measure="nothing", again=True).images == 3 * 4 * 60


def test_a_plan_for_other_machines_looks_at_none(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    plan = plan_grid(grid("gamma: [0, 1]"), tmp_path, "cuda", measure="nothing", here=False)
    assert plan.costs.splitlines() == [
        "2 runs: 0 finished, 2 to do.",
        "Images (or texts) to train on, epochs x those of one: 480.",
    ]


def test_kinds():
    assert kind_of(Spec(recipe="m20-cifar"), on_gpu=True).precision == "bf16"
    assert kind_of(Spec(recipe="m20-cifar"), on_gpu=False).precision == "float32"
    assert kind_of(Spec(precision="bf16"), on_gpu=False).precision == "bf16"
    assert str(kind_of(Spec(loss="hessian-trace", lam=1), on_gpu=False)).endswith("small-cnn, hessian-trace, float32")
    assert kind_of(Spec(loss="hessian-trace", lam=0), on_gpu=False) == kind_of(Spec(), on_gpu=False)  # none is computed


def test_a_timed_step_counts_its_flops():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    spec = Spec(model="mlp", gamma=2)
    ((kind, found),) = measure_speeds([spec, Spec(model="mlp", gamma=3)], CPU).items()
    assert kind == kind_of(spec, on_gpu=False)
    assert found.flops == 2 * (2 * 784 * 100 + 3 * 100 * 10)  # no gradient for the pixels
    assert 0 < found.seconds < 1
    assert "measured now: a step on 100, processor time of one thread" in found.basis
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_shapes_of_published_data_sets_are_known_without_loading_them(monkeypatch):
    monkeypatch.setattr("reproduction.engine.data.load", None)
    for name in (*IMAGE_SETS, *TEXT_SETS):
        shape, classes = speed._inputs(Spec(dataset=name))
        assert classes > 1
        assert shape is None or min(shape) > 0
    assert speed._inputs(Spec(dataset="20-newsgroups"))[0] == (1000,)
    assert speed._inputs(Spec(dataset="tiny-imagenet"))[0] == (3, 64, 64)


def test_a_network_that_cannot_be_counted_says_why(monkeypatch):
    def fail(*_):
        raise RuntimeError("long\nthe reason")

    monkeypatch.setattr(speed, "_network", fail)
    assert list(measure_speeds([Spec(model="mlp")], CPU).values()) == ["the reason"]


def test_data_sets_of_one_shape_are_timed_once():
    specs = [Spec(model="mlp", dataset=name, seed=seed) for name in ("cifar10", "cifar100") for seed in (0, 1)]
    found = measure_speeds(specs, CPU)
    assert [kind.dataset for kind in found] == ["cifar10", "cifar100"]
    assert len(set(found.values())) == 1


def test_large_networks_are_rated_by_flops(monkeypatch):
    monkeypatch.setattr(speed, "SMALL", 0.0)
    specs = [Spec(model=model, dataset=name) for model, name in (("mlp", "fashion-mnist"), ("resnet8", "cifar10"))]
    small, large = (measure_speeds(specs, CPU)[kind_of(spec, on_gpu=False)] for spec in specs)
    assert small.basis.startswith("measured now")
    assert "that mlp reached, which may be wrong by a factor of two" in large.basis
    assert large.flops > 100 * small.flops
    assert large.seconds > small.seconds


@pytest.mark.parametrize(
    "given",
    [
        {"dataset": "20-newsgroups-m20", "model": "gp-cnn", "recipe": "m20-newsgroups", "batch_size": 2},
        {"dataset": "sst", "model": "tree-lstm", "recipe": "m20-sst"},
        {"dataset": "cifar10", "model": "mlp", "loss": "hessian-trace", "lam": 0.1, "precision": "bf16"},
        {"dataset": "cifar10-c-contrast-3", "model": "mlp", "loss": "mmce", "lam": 2},
        {"dataset": "cifar100", "model": "mlp", "precision": "bf16"},
    ],
    ids=lambda given: given["dataset"],
)
def test_every_sort_of_network_is_timed(given):
    (found,) = measure_speeds([Spec(**given)], CPU).values()
    assert found.seconds > 0
    assert found.flops > 0


def test_what_cannot_be_timed_says_why(grid, tmp_path, monkeypatch):
    monkeypatch.delenv("FOCAL_DATA", raising=False)
    text = "dataset: [fashion-mnist, nowhere]\nmodel: [mlp, gp-cnn]"
    plan = plan_grid(grid(text), tmp_path, "cpu")
    assert plan.hours is None
    lines = plan.costs.splitlines()
    assert lines[-1] == f"Hours on {spell_cores(machine_name())}: not known."
    assert any("fashion-mnist, gp-cnn, float32: 1 run, 240 images, hours not known: model must be" in n for n in lines)
    assert any("nowhere, mlp, float32: 1 run, 240 images, hours not known: dataset must be one of" in n for n in lines)
    assert isinstance(next(part for part in plan.parts if part.why_not == "").speed, Speed)


# --- before a grid starts --------------------------------------------------------------------


def test_few_images_of_a_small_network_are_not_timed(grid, recorded, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("reproduction.engine.plan.measure_apart", lambda path, specs, device: asked.append(specs) or {})
    plan = plan_grid(grid("model: [mlp, small-cnn]"), tmp_path, "cpu", cores=2, measure="worth it")
    assert plan.hours == pytest.approx(2 * 240 * 1e-3 / 3600)
    assert asked == []
    assert plan.costs.splitlines()[2:4] == [
        "  fashion-mnist, mlp, float32: 1 run, 240 images, less than 0.001 h",
        "    1,000 images/s: assumed, most machines are faster; timing a step would take about as long as the runs",
    ]
    assert plan.costs.endswith("less than 0.001 with 2 at once, if none slows another.")
    many = f"model: [mlp, resnet8]\nseed: {list(range(1 + speed.FEW // 240))}"
    assert plan_grid(grid(many), tmp_path, "cpu", measure="worth it").hours is None
    assert [[(spec.model, spec.seed) for spec in specs] for specs in asked] == [[("mlp", 0), ("resnet8", 0)]]


@pytest.mark.parametrize("name", speed._QUICK)
def test_networks_that_are_not_timed_are_small(name):
    steps = [
        speed._Step(spec, kind_of(spec, on_gpu=False)) for spec in (Spec(model=name, dataset=d) for d in IMAGE_SETS)
    ]
    assert max(step.flops for step in steps) < 2e7


@pytest.mark.slow
def test_a_step_is_timed_in_a_process_of_its_own(grid, recorded, tmp_path, monkeypatch):
    monkeypatch.delenv("FOCAL_DATA", raising=False)
    monkeypatch.setattr(timing, "LIMIT", 600.0)
    monkeypatch.setattr(speed, "_timed", None)  # here nothing is timed
    plan = plan_grid(grid("model: resnet8\ndataset: [fashion-mnist, nowhere]"), tmp_path, "cpu", measure="worth it")
    known, unknown = plan.parts
    assert known.hours > 0
    assert "measured now: a step on 20, processor time of one thread" in known.speed.basis
    assert known.speed.flops > 1e7
    assert unknown.why_not.startswith("dataset must be one of")


def test_a_start_waits_no_longer_than_it_may(grid, recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "LIMIT", 0.01)
    plan = plan_grid(grid("model: resnet8"), tmp_path, "cpu", measure="worth it")
    assert plan.parts[0].why_not == "to time a step takes more than 0.01 s here; --dry-run waits for it"


def test_what_ends_the_timing_of_a_step_ends_no_grid(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "LIMIT", 600.0)
    ((kind, reason),) = measure_apart(tmp_path / "gone.yaml", [Spec(model="resnet8")], "cpu").items()
    assert kind.model == "resnet8"
    assert reason.startswith("FileNotFoundError: ")


def test_a_dry_run_does_nothing(grid, tmp_path):
    path = grid("reproduces: T 7\nmodel: mlp\ngamma: [0, 1]")
    found = CliRunner().invoke(cli.main, ["grid", str(path), "--root", str(tmp_path / "runs"), "--dry-run"])
    assert found.exit_code == 0, found.output
    assert found.output.startswith("Reproduces: T 7.\n2 runs: 0 finished, 2 to do.\n")
    assert "480 images" in found.output
    assert not (tmp_path / "runs").exists()
