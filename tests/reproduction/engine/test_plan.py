"""Before a grid is trained: what is wrong with a run is told, images are counted, hours come from a timed step."""

import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from focal_lib import cli
from reproduction.checkout import ROOT
from reproduction.engine import plan
from reproduction.engine.cost import images_to_train
from reproduction.engine.data.images import IMAGE_SETS
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.grids import read_grid
from reproduction.engine.machine import machine_name, spell_cores
from reproduction.engine.plan import Pace, check_runs, random_samples, say_hours
from reproduction.engine.run import run
from reproduction.engine.spec import Spec
from reproduction.engine.step import WAYS
from reproduction.engine.trainer import Trainer

GRIDS = sorted((ROOT / "workflow" / "grids").glob("*.yaml"))
COMMON = {"model": "small-cnn", "n_validation": 100}
GOOD = {"model": "mlp", "n_train": 40, "n_validation": 20}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A data set of one's own with 60 training images."""
    folder = tmp_path / "data" / "own"
    folder.mkdir(parents=True)
    for part in ("train.npz", "test.npz"):
        images = np.random.default_rng(0).integers(256, size=(60, 8, 8), dtype=np.uint8)
        np.savez(folder / part, images=images, labels=np.arange(60) % 3)
    monkeypatch.setenv("FOCAL_DATA", str(folder.parent))
    return folder


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"model": "nope"}, "model must be one of small-cnn, .* Got 'nope'"),
        ({"model": "gp-cnn"}, "model must be one of small-cnn"),
        ({"loss": "label-smoothing", "lam": 5}, "lam must be a share, at most 1. Got 5"),
        ({"dataset": "own-", "n_train": 40}, "dataset must be one of .* Got 'own-'"),
        ({"dataset": "cifar10-c-fog"}, "dataset must read cifar10-c-"),
        ({"dataset": "cifar10-c-fog-9"}, "dataset must read cifar10-c-<corruption>-<severity 1 to 5>"),
        ({"dataset": "cifar10-c-no-such-thing-3"}, "corruption must be one of .* Got 'no-such-thing'"),
        ({"dataset": "20-newsgroups", "model": "mlp"}, r"model for 20-newsgroups \(tokens\) must be one of"),
        ({"recipe": "cifar-one-cycle", "n_train": 39}, "a batch of .* must be there once"),
    ],
)
def test_a_run_that_cannot_be_prepared_is_named(own, wrong, told):
    good = Spec(dataset="own", **GOOD)
    bad = Spec(**{"dataset": "own", "seed": 3, **GOOD, **wrong})
    check_runs([good])
    with pytest.raises(ValueError, match=rf"run {bad.digest} \(.*seed 3\): {told}"):
        check_runs([good, bad])


def test_a_way_of_a_step_that_there_is_not(own, monkeypatch):
    for way in WAYS:
        monkeypatch.setenv("FOCAL_STEP", way)
        check_runs([Spec(dataset="own", **GOOD)])
    monkeypatch.setenv("FOCAL_STEP", "nonsense")
    with pytest.raises(ValueError, match=r"FOCAL_STEP must be plain, compiled or graph. Got 'nonsense'"):
        check_runs([Spec(dataset="own", **GOOD)])


def test_where_runs_are_done_elsewhere_files_are_not_asked_for(monkeypatch):
    """A login node may lack the data, and have a folder of that name that is none."""
    monkeypatch.setenv("FOCAL_DATA", "/none/of/the/nodes")
    check_runs([Spec(dataset="of-the-nodes", **GOOD)], data=False)
    with pytest.raises(ValueError, match="model must be one of"):
        check_runs([Spec(dataset="of-the-nodes", **GOOD | {"model": "nope"})], data=False)
    with pytest.raises(NotADirectoryError):
        check_runs([Spec(dataset="of-the-nodes", **GOOD)])


def test_every_grid_of_the_project_can_be_begun(tmp_path, monkeypatch):
    """Where no data are, which would be fetched; CheXNet's and the like are one's own."""
    monkeypatch.delenv("FOCAL_DATA", raising=False)
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path))
    assert len(GRIDS) > 30
    for path in GRIDS:
        check_runs(read_grid(path))


# --- images, hours ------ ----------------------------------------------------------------


def test_images_of_the_papers_tables():
    images = {path.stem: sum(map(images_to_train, read_grid(path))) for path in GRIDS}
    assert images["m20-tables"] == 80 * 350 * 45_000
    assert images["l25-tables"] == 56 * 350 * 45_000
    assert images["m20-text"] == 10 * 50 * 15_098 + 10 * 25 * 6_920


@pytest.fixture
def timed(monkeypatch):
    """Steps take a millisecond an image, an evaluation a tenth, a start 36 s; which were timed, on how many."""
    steps = []
    monkeypatch.setattr(plan, "_start", lambda where: 36.0)

    def take(spec, where, n):
        steps.append((spec, n))
        return Pace(1e-3, 1e-4)

    monkeypatch.setattr(plan, "_time_step", take)
    return steps


def test_a_step_is_timed_of_each_data_set_network_and_precision(timed):
    same = [Spec(gamma=gamma, n_train=1000, epochs=9) for gamma in (0, 1)]
    lines = say_hours([*same, Spec(model="mlp", n_train=1000, epochs=2000)], "cpu", cores=4)
    assert lines == [
        "  fashion-mnist, small-cnn, float32: 2 runs, 18,000 images, 0.027 h "
        "(start 0.02, training 0.005, evaluation 0.0021), by a step on 100, not compiled",
        "  fashion-mnist, mlp, float32: 1 runs, 2,000,000 images, 0.69 h "
        "(start 0.01, training 0.56, evaluation 0.12), by a step on 100, not compiled",
        f"Hours on {spell_cores(machine_name())}: 0.72 of one core, 0.18 with 4 at once, if none slows another.",
    ]
    assert [(spec.model, n) for spec, n in timed] == [("small-cnn", 2), ("small-cnn", 100), ("mlp", 2), ("mlp", 100)]
    assert ", training < 0.001, " in say_hours([Spec(n_train=10, epochs=1)], "cpu")[0]


def test_what_takes_longer_is_timed_by_itself(timed):
    given = [{"lam": 0.1}, {"lam": 0}, {"lam": 0.1, "precision": "bf16"}]
    lines = say_hours([Spec(), *(Spec(loss="hessian-trace", **own) for own in given)], "cpu")
    assert [line.split(": ")[0].split(", ")[2:] for line in lines[:-1]] == [
        ["float32"],  # with lam 0 no trace is computed
        ["float32", "hessian-trace"],
        ["bf16", "hessian-trace"],
    ]


def test_on_a_gpu_a_whole_batch_is_timed(timed, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    first, last = say_hours([Spec(recipe="m20-cifar", dataset="cifar10", epochs=9, n_train=1000)], "cuda")
    assert first.startswith(
        "  cifar10, small-cnn, bf16: 1 runs, 9,000 images, 0.014 h (start 0.01, training 0.0025, evaluation "
    )
    assert last == "Hours on Tesla T4: 0.014 of one GPU, 0.0068 with 2 at once, if none slows another."
    assert [n for _, n in timed] == [128]


@pytest.mark.parametrize("seconds", [1e-5, 0.07, 9.0])
def test_a_step_on_a_processor_takes_about_a_second(monkeypatch, seconds):
    sizes = []
    monkeypatch.setattr(plan, "_time_step", lambda spec, where, n: sizes.append(n) or Pace(seconds, seconds))
    monkeypatch.setattr(plan, "_start", lambda where: 1.0)
    say_hours([Spec()], "cpu")
    assert sizes == [2, {1e-5: 100, 0.07: 14, 9.0: 2}[seconds]]


@pytest.mark.parametrize(
    "given",
    [
        {"dataset": "20-newsgroups-m20", "model": "gp-cnn-glove", "recipe": "m20-newsgroups"},
        {"dataset": "sst", "model": "tree-lstm-glove", "recipe": "m20-sst"},
        {"dataset": "cifar10", "model": "mlp", "loss": "hessian-trace", "lam": 0.1, "precision": "bf16"},
        {"dataset": "cifar10-c-contrast-3", "model": "mlp", "loss": "mmce", "lam": 2},
        {"dataset": "cifar10", "model": "airbench-cnn", "recipe": "cifar-one-cycle", "loss": "flsd-53", "epochs": 4},
        {"dataset": "own", "model": "small-cnn"},
    ],
    ids=lambda given: given["dataset"],
)
def test_every_sort_of_network_is_timed(own, given):
    """On a few samples, of what is published without its files."""
    threads = torch.get_num_threads()
    assert all(0 < seconds < 10 for seconds in plan._time_step(Spec(**given), torch.device("cpu"), 4))
    assert torch.get_num_threads() == threads


def test_samples_have_the_shape_of_a_published_data_set(monkeypatch):
    monkeypatch.setattr("reproduction.engine.data.load", None)
    shapes = {name: random_samples(name, 3).train.inputs.shape for name in (*IMAGE_SETS, *TEXT_SETS)}
    assert shapes["20-newsgroups"] == (3, 1000)
    assert shapes["tiny-imagenet"] == (3, 64, 64, 3)
    assert shapes["sst"] == (3, 2 * 19 - 1, 4)
    assert random_samples("mine", 3) is None


def test_what_cannot_be_timed_says_why(own, monkeypatch):
    def fail(*_):
        raise RuntimeError("long\nthe reason")

    monkeypatch.setattr(plan, "_start", lambda where: 1.0)
    monkeypatch.setattr(Trainer, "train_epoch", fail)
    *lines, total = say_hours([Spec(), Spec(dataset="gone")], "cpu")
    assert lines[0].endswith(" images, not known h, the reason")
    assert "not known h, dataset must be one of" in lines[1]
    assert ": not known of one core, not known with " in total


def test_small_runs_tell_nothing_of_large_ones(own, tmp_path, timed):
    """Nor does their start: 1,000 h were once said of 30, after two runs of 2,000 images."""
    big = [Spec(dataset="own", model="mlp", n_train=45, n_validation=5, epochs=350, gamma=gamma) for gamma in (0, 2)]
    before = say_hours(big, "cpu")
    run(Spec(dataset="own", epochs=4, evaluate_every=1, **GOOD), tmp_path)
    assert say_hours(big, "cpu") == before
    start, training, evaluation = 2 * 36, 2 * 350 * 45 * 1e-3, 2 * (71 * (45 + 60) + 5) * 1e-4
    hours = (start + training + evaluation) / 3600
    assert float(re.search(r"([\d.]+) h", before[0])[1]) == pytest.approx(hours, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"n_train": 500, "epochs": 4, "evaluate_every": 1}, {"n_train": 4000, "epochs": 8}])
def test_an_estimate_is_at_most_one_and_a_half_times_off(write_npz, tmp_path, given):
    """Of a small run, which is start and evaluation, and of one that is training: seconds of a processor."""
    write_npz(tmp_path / "data" / "fashion-mnist", n_train=5000, n_test=10_000)
    spec = Spec(**COMMON, **given)
    (tmp_path / "grid.yaml").write_text("\n".join(f"{name}: {value}" for name, value in given.items() | COMMON.items()))
    environment = os.environ | {"FOCAL_DATA": str(tmp_path / "data")}

    def call(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "focal_lib.cli", *map(str, arguments)]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    told, _ = call("grid", tmp_path / "grid.yaml", "--root", tmp_path / "runs", "--dry-run")
    hours = re.search(r"images, ([\d.]+) h", told)
    assert hours is not None, told
    (own,) = read_grid(tmp_path / "grid.yaml")
    assert own == spec
    _, took = call("run", "--grid", tmp_path / "grid.yaml", "--digest", own.digest, "--root", tmp_path / "runs")
    assert took / 1.5 < 3600 * float(hours[1]) < took * 1.5


def test_a_dry_run_reads_no_data_and_leaves_nothing(grid, tmp_path, monkeypatch):
    for name in ("FOCAL_DATA", "FOCAL_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    path = grid("reproduces: T 7\ndiffers: [much]\nmodel: mlp\ngamma: [0, 1]\nn_train: 60\nepochs: 4")
    found = CliRunner().invoke(cli.main, ["grid", str(path), "--root", str(tmp_path / "runs"), "--dry-run"])
    assert found.exit_code == 0, found.output
    assert found.output.splitlines()[:5] == [
        "Reproduces: T 7.",
        "Differs from the paper in:",
        "  much",
        "2 runs: 2 waiting; 2 to do.",
        "Images (or texts) to train on, epochs x those of one: at most 480.",
    ]
    assert "by a step on " in found.output
    assert [*(tmp_path / "data").iterdir()] == []
    assert not (tmp_path / "runs").exists()


def test_import_is_light():
    code = "import sys, reproduction.engine.plan; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
