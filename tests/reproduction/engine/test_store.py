"""The store: what is finished, whole and current."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.engine import store
from reproduction.engine.run import run, trained
from reproduction.engine.status import status
from reproduction.engine.store import RunDamaged, RunMissing, SeveralVersions, load, load_runs

GRID = "n_train: 60\nn_validation: 30\nepochs: 4\nbatch_size: 20\nevaluate_every: 1\n"


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
    assert [result.spec for result in load_runs(path, tmp_path, part=True)] == [finished[0]]
    with pytest.raises(RunMissing):  # nothing is no part
        load_runs("workflow/grids/smoke.yaml", tmp_path, part=True)


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def change(path):
    if path.suffix == ".parquet":
        pd.read_parquet(path).assign(accuracy=0.999).to_parquet(path)
    else:
        with np.load(path) as file:
            arrays = dict(file)
        np.savez(path, **arrays | {"test_logits": arrays["test_logits"] + 1})


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("logits.npz", cut, "must be whole. Got BadZipFile"),
        ("logits.npz", change, "must match its checksum. It does not"),
        ("history.parquet", cut, "must match its checksum"),
        ("history.parquet", change, "history.parquet must match its checksum. It does not"),
        ("history.parquet", Path.unlink, "must hold history.parquet. It does not"),
        ("spec.json", cut, "must have a readable spec.json. Got JSONDecodeError"),
        ("spec.json", Path.unlink, "must hold spec.json. It does not"),
    ],
)
def test_a_damaged_run_is_detected(finished, tmp_path, name, damage, message):
    spec, folder, _ = finished
    damage(folder / name)
    with pytest.raises(RunDamaged, match=message):
        load(spec, tmp_path)


def test_a_flipped_byte_of_the_logits_is_damage_or_changes_nothing(finished, tmp_path):
    spec, folder, result = finished
    whole, damaged = (folder / "logits.npz").read_bytes(), 0
    for place in [*range(0, len(whole), len(whole) // 40), *range(len(whole) - 60, len(whole))]:
        (folder / "logits.npz").write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            np.testing.assert_array_equal(load(spec, tmp_path).test.logits, result.test.logits)  # a time, say
        except RunDamaged:
            damaged += 1
    assert damaged > 50


def test_a_history_without_a_checksum_is_read_as_it_is(finished, change_record, tmp_path):
    """As of runs before there were any."""
    spec, folder, result = finished
    change_record(folder, files={})
    pd.testing.assert_frame_equal(load(spec, tmp_path).history, result.history)
    (folder / "history.parquet").write_bytes((folder / "history.parquet").read_bytes()[:-100])
    with pytest.raises(RunDamaged, match=r"must be whole. Got"):
        load(spec, tmp_path)


def test_another_specification_in_the_folder_is_moved_aside(finished, change_record, small, tmp_path):
    spec, folder, _ = finished
    change_record(folder, spec=small(gamma=9.0).as_dict)
    with pytest.raises(RunDamaged, match=r"named by. Got that of another run"):
        load(spec, tmp_path)
    assert status([spec], tmp_path)[0].state == "damaged"
    again = run(spec, tmp_path)
    np.testing.assert_array_equal(again.test.logits, finished[2].test.logits)
    assert json.loads((tmp_path / f"{spec.digest}.1" / "spec.json").read_text())["spec"]["gamma"] == 9.0


def test_runs_of_several_versions_are_not_mixed(finished, change_record, small, tmp_path):
    run(small(gamma=3.0), tmp_path)
    path = tmp_path / "grid.yaml"
    path.write_text(GRID + "gamma: [2, 3]")
    assert len(load_runs(path, tmp_path)) == 2
    change_record(finished[1], training_version=0)
    assert load(finished[0], tmp_path).training_version == 0  # by itself it can be read
    with pytest.raises(SeveralVersions, match=r"Got 1 of version 0, 1 of version 1. Mended by: focal grid"):
        load_runs(path, tmp_path)


def test_the_network_of_a_run_gives_its_logits(finished, tmp_path):
    spec, _, whole = finished
    model, parts = trained(spec, tmp_path, "cpu")
    np.testing.assert_allclose(model(parts["test"][0]).detach().numpy(), whole.test.logits, rtol=1e-5, atol=1e-6)


def test_where_runs_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("FOCAL_RUNS", raising=False)
    assert store.default_runs() == ROOT / "_build" / "runs"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOCAL_RUNS", "runs")
    assert store.default_runs() == tmp_path / "runs"  # from the current folder
    monkeypatch.delenv("FOCAL_RUNS")
    monkeypatch.setattr("reproduction.checkout.ROOT", tmp_path)  # as if installed
    with pytest.raises(FileNotFoundError, match="without --root or FOCAL_RUNS needs a checkout"):
        store.default_runs()


def test_a_run_that_is_whole_elsewhere_is_read_without_writing(finished, tmp_path):
    spec, folder, result = finished
    shutil.copytree(folder, tmp_path / "there" / spec.digest)
    np.testing.assert_array_equal(run(spec, tmp_path / "there").test.logits, result.test.logits)
    assert [p.name for p in (tmp_path / "there").iterdir()] == [spec.digest]


@pytest.mark.parametrize("error", [MemoryError, PermissionError, KeyboardInterrupt, ImportError])
def test_what_is_no_damage_repeats_nothing(finished, tmp_path, monkeypatch, error):
    spec, folder, _ = finished
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def refuse(*args, **options):
        raise error("planted")

    for owner, name in ((store, "_read"), (store.np, "load"), (store.pd, "read_parquet")):
        if error is PermissionError and owner is not store:
            continue  # those read from memory
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, refuse)
            with pytest.raises(error, match="planted"):
                run(spec, tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / f"{spec.digest}.1").exists()


def test_the_network_of_a_finished_run_that_lost_its_weights_is_made_again_on_demand(finished, tmp_path):
    spec, folder, _ = finished
    weights = (folder / "weights.pt").read_bytes()
    (folder / "weights.pt").write_bytes(weights[:-1])
    with pytest.raises(RunDamaged, match=r"weights.pt must match its checksum"):
        trained(spec, tmp_path)
    (folder / "weights.pt").unlink()
    with pytest.raises(RunMissing, match=r"has no weights here. They are made by: focal run .* --again"):
        trained(spec, tmp_path)
    run(spec, tmp_path, again=True)
    assert (folder / "weights.pt").read_bytes() == weights
