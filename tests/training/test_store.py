"""The store: what is finished, whole and current; copies to keep."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from focal_lib.checkout import ROOT
from focal_lib.training import store
from focal_lib.training.locks import held
from focal_lib.training.run import run, trained
from focal_lib.training.store import OtherSpecification, RunDamaged, RunMissing, load, load_runs, record_runs, status

GRID = "n_train: 60\nn_validation: 30\nepochs: 4\nbatch_size: 20\nevaluate_every: 1\n"


@pytest.fixture
def finished(small, tmp_path):
    """A finished run, its folder, and what it was."""
    spec = small(gamma=2.0)
    result = run(spec, tmp_path)
    return spec, tmp_path / spec.digest, result


def change_record(folder, **changes):
    record = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(json.dumps(record | changes))


def test_a_missing_run_says_which_command_makes_it(small, tmp_path):
    command = "focal run -p gamma 2 -p n_train 60 -p n_validation 30 -p epochs 4 -p batch_size 20 -p evaluate_every 1"
    with pytest.raises(RunMissing, match=rf"\(focal 2, seed 0\) is not there, .*: {command} --root {tmp_path}$"):
        load(small(gamma=2), tmp_path)


def test_a_missing_run_of_a_grid_says_which_command_makes_them_all(finished, tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text(GRID + "gamma: [2, 3]\nseed: [0, 1]")
    message = rf"3 of 4 runs are not there, .*\(focal 2, seed 1\) first.*: focal grid {path} --root {tmp_path}$"
    with pytest.raises(RunMissing, match=message):
        load_runs(path, tmp_path)
    with pytest.raises(RunMissing, match=r": focal grid workflow/grids/smoke.yaml --root"):
        load_runs("workflow/grids/smoke.yaml", tmp_path)


@pytest.mark.parametrize("name", ["logits.npz", "history.parquet", "spec.json"])
def test_a_damaged_run_is_detected(finished, tmp_path, name):
    spec, folder, _ = finished
    (folder / name).write_bytes((folder / name).read_bytes()[:-100])
    with pytest.raises(RunDamaged, match="must be whole"):
        load(spec, tmp_path)


@pytest.mark.parametrize("name", ["history.parquet", "spec.json"])
def test_a_finished_run_that_lacks_a_file_is_damaged(finished, tmp_path, name):
    (finished[1] / name).unlink()
    with pytest.raises(RunDamaged, match=r"must be whole. Got FileNotFoundError"):
        load(finished[0], tmp_path)


def test_changed_logits_are_detected(finished, tmp_path):
    spec, folder, _ = finished
    with np.load(folder / "logits.npz") as file:
        arrays = dict(file)
    arrays["test_logits"] = arrays["test_logits"] + 1
    np.savez(folder / "logits.npz", **arrays)
    with pytest.raises(RunDamaged, match="must match its checksum"):
        load(spec, tmp_path)


def test_another_specification_in_the_folder_is_refused(finished, small, tmp_path):
    spec, folder, _ = finished
    change_record(folder, spec=small(gamma=9.0).as_dict)
    with pytest.raises(OtherSpecification, match="must hold the specification it is named by"):
        load(spec, tmp_path)
    with pytest.raises(OtherSpecification):
        run(spec, tmp_path)


def test_recorded_runs_load_whatever_their_version(finished, tmp_path):
    spec, folder, result = finished
    change_record(folder, training_version=0)
    assert load(spec, tmp_path).training_version == 0
    np.testing.assert_array_equal(load(spec, tmp_path).test.logits, result.test.logits)


def test_runs_of_several_versions_are_not_mixed(finished, small, tmp_path):
    run(small(gamma=3.0), tmp_path)
    path = tmp_path / "grid.yaml"
    path.write_text(GRID + "gamma: [2, 3]")
    assert len(load_runs(path, tmp_path)) == 2
    change_record(finished[1], training_version=0)
    with pytest.raises(RunDamaged, match=r"one version of the training code. Got 0, 1. Mended by: focal grid"):
        load_runs(path, tmp_path)


def test_states(finished, small, tmp_path):
    spec, folder, _ = finished
    others = {name: small(gamma=gamma) for name, gamma in (("failed", 3), ("stopped", 5), ("waiting", 7))}
    (tmp_path / others["stopped"].digest).mkdir()
    (tmp_path / others["failed"].digest).mkdir()
    (tmp_path / others["failed"].digest / "failed.json").write_text('{"reason": "because"}')

    def states():
        return [entry[1:] for entry in status([spec, *others.values()], tmp_path)]

    rest = [("failed", "because"), ("stopped", "no checkpoint yet"), ("waiting", "")]
    assert states() == [("done", ""), *rest]
    with held(folder, "x"):
        assert states() == [("running", "no checkpoint yet"), *rest]
    change_record(folder, training_version=0)
    assert states() == [("outdated", "training code 0, today's is 1"), *rest]
    (folder / "spec.json").write_text("{")
    assert states() == [("damaged", "no readable spec.json"), *rest]


def test_copies_keep_what_a_table_needs(finished, tmp_path):
    spec, _, whole = finished
    assert record_runs([spec], tmp_path / "kept", tmp_path) == 1
    kept = load(spec, tmp_path / "kept")
    assert kept.train is None
    np.testing.assert_array_equal(kept.test.logits, whole.test.logits)
    pd.testing.assert_frame_equal(kept.history, whole.history)
    names = sorted(p.name for p in (tmp_path / "kept" / spec.digest).iterdir())
    assert names == ["history.parquet", "logits.npz", "spec.json"]
    with pytest.raises(RunMissing, match=r"has no weights here. They are made by: focal run"):
        trained(spec, tmp_path / "kept")
    with pytest.raises(RunMissing):
        record_runs([spec], tmp_path / "kept2", tmp_path / "nowhere")


def test_the_network_of_a_run_gives_its_logits(finished, tmp_path):
    spec, _, whole = finished
    model, parts = trained(spec, tmp_path, "cpu")
    np.testing.assert_allclose(model(parts["test"][0]).detach().numpy(), whole.test.logits, rtol=1e-5, atol=1e-6)


def test_where_runs_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("FOCAL_RUNS", raising=False)
    assert store.default_runs() == ROOT / "_build" / "runs"
    monkeypatch.setenv("FOCAL_RUNS", str(tmp_path))
    assert store.default_runs() == tmp_path
    monkeypatch.delenv("FOCAL_RUNS")
    monkeypatch.setattr("focal_lib.checkout.ROOT", tmp_path)  # as if installed
    with pytest.raises(FileNotFoundError, match="without --root or FOCAL_RUNS needs a checkout"):
        store.default_runs()


def test_a_run_that_is_whole_elsewhere_is_read_without_writing(finished, tmp_path):
    spec, folder, result = finished
    shutil.copytree(folder, tmp_path / "there" / spec.digest)
    np.testing.assert_array_equal(run(spec, tmp_path / "there").test.logits, result.test.logits)
    assert [p.name for p in (tmp_path / "there").iterdir()] == [spec.digest]


def test_a_relative_folder_of_runs_is_the_current_ones(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOCAL_RUNS", "runs")
    assert store.default_runs() == tmp_path / "runs"


def test_a_changed_history_is_detected(finished, tmp_path):
    spec, folder, result = finished
    result.history.assign(accuracy=0.999).to_parquet(folder / "history.parquet")
    with pytest.raises(RunDamaged, match=r"history.parquet must match its checksum. It does not"):
        load(spec, tmp_path)


def test_states_of_what_cannot_be_read(finished, small, tmp_path):
    spec, folder, _ = finished
    failed = small(gamma=3)
    (tmp_path / failed.digest).mkdir()
    for content in ("{", "[]", "{}"):
        (tmp_path / failed.digest / "failed.json").write_text(content)
        (folder / "spec.json").write_text(content)
        states = [entry[1:] for entry in status([spec, failed], tmp_path)]
        assert states == [
            ("damaged", "no readable spec.json"),
            ("failed", "for a reason that failed.json does not tell"),
        ]
