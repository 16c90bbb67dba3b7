"""What is wrong with a run of a grid is told before the first is begun."""

import subprocess
import sys

import numpy as np
import pytest

from reproduction.engine.grids import read_grid
from reproduction.engine.preflight import check_runs
from reproduction.engine.spec import Spec
from reproduction.engine.step import WAYS
from tests.reproduction.engine.test_grids import GRIDS

GOOD = {"model": "mlp", "n_train": 40, "n_validation": 20}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A data set of one's own with 60 training images."""
    folder = tmp_path / "data" / "own"
    folder.mkdir(parents=True)
    for part in ("train.npz", "test.npz"):
        np.savez(folder / part, images=np.zeros((60, 8, 8), np.uint8), labels=np.arange(60) % 3)
    monkeypatch.setenv("FOCAL_DATA", str(folder.parent))
    return folder


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"model": "nope"}, "model must be one of small-cnn, .* Got 'nope'"),
        ({"model": "gp-cnn"}, "model must be one of small-cnn"),
        ({"n_train": 41}, r"n_train \+ n_validation must be at most 60 of own. Got 41 \+ 20"),
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
    check_runs([Spec(dataset="of-the-nodes", **GOOD)], files=False)
    with pytest.raises(ValueError, match="model must be one of"):
        check_runs([Spec(dataset="of-the-nodes", **GOOD | {"model": "nope"})], files=False)
    with pytest.raises(NotADirectoryError):
        check_runs([Spec(dataset="of-the-nodes", **GOOD)])


def test_every_grid_of_the_project_can_be_begun(tmp_path, monkeypatch):
    """Where no data are, which would be fetched; CheXNet's and the like are one's own."""
    monkeypatch.delenv("FOCAL_DATA", raising=False)
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path))
    paths = list(GRIDS.glob("*.yaml"))
    assert len(paths) > 30
    for path in paths:
        check_runs(read_grid(path))


@pytest.mark.slow
def test_a_process_without_pytorch_asks_another(own, tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text("dataset: own\nmodel: [mlp, nope]\nn_train: 40\nn_validation: 20\n")
    code = (
        "import sys; from pathlib import Path; from reproduction.engine.preflight import check_runs_apart; "
        "from reproduction.engine.grids import read_grid; specs = read_grid(sys.argv[1]); "
        "check_runs_apart(Path(sys.argv[1]), specs[:1]); assert 'torch' not in sys.modules; "
        "check_runs_apart(Path(sys.argv[1]), specs)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert f"ValueError: run {read_grid(path)[1].digest}" in done.stderr
    assert "model must be one of small-cnn" in done.stderr
