"""A run is of the data it was begun with: other ones under the same name are refused, not taken for them."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from focal_lib import cli
from reproduction.engine import data, data_identity
from reproduction.engine.checkpoint import read_checkpoint, write_checkpoint
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.data_identity import OtherData, data_made_of
from reproduction.engine.run import run
from tests.reproduction.conftest import SMALL

TOLD = r"must have the data it was begun with, .* of SHA-256 [0-9a-f]{16}\. Got [0-9a-f]{16}: give the new data another"


@pytest.fixture
def other_images(tmp_path):
    """Changes one pixel of the test images."""

    def change(name="fashion-mnist", folder=tmp_path / "data"):
        path = folder / name / "test.npz"
        with np.load(path) as file:
            arrays = dict(file)
        arrays["images"][0, 0, 0] ^= 1
        np.savez(path, **arrays)

    return change


def test_what_a_fingerprint_is_of():
    def made(shift=0, label=0, words=("", "a"), **more):
        part = Split(np.arange(6, dtype=np.uint8).reshape(3, 2) + np.uint8(shift), np.array([0, 1, label]))
        return data_made_of(Dataset("own", 2, part, part, vocabulary=words, **more))

    split = Split(np.zeros((1, 2), np.uint8), np.zeros(1, np.int64))
    found = [made(), made(shift=1), made(label=1), made(words=("", "b")), made(words=()), made(validation=split)]
    assert len({one["sha256"] for one in found}) == len(found)
    assert made() == made()
    assert made()["own"]


def test_a_finished_run_is_not_that_of_other_data(small, tmp_path, other_images, epochs):
    spec = small()
    whole = run(spec, tmp_path)
    record = json.loads((tmp_path / spec.digest / "spec.json").read_text())
    assert record["data"] == {"sha256": data_made_of(data.load("fashion-mnist"))["sha256"], "own": True}
    other_images()
    epochs.clear()
    with pytest.raises(OtherData, match=TOLD):
        run(spec, tmp_path)
    assert epochs == []
    assert not np.array_equal(run(spec, tmp_path / "elsewhere").test.logits, whole.test.logits)
    run(spec, tmp_path, again=True)
    run(spec, tmp_path)
    assert (tmp_path / f"{spec.digest}.1" / "logits.npz").is_file()


def test_a_stopped_run_does_not_go_on_with_other_data(small, tmp_path, killed, other_images, epochs):
    spec = small()
    killed(2, spec, tmp_path)
    before = (tmp_path / spec.digest / "checkpoint").read_bytes()
    other_images()
    epochs.clear()
    with pytest.raises(OtherData, match=TOLD):
        run(spec, tmp_path)
    assert epochs == []
    assert (tmp_path / spec.digest / "checkpoint").read_bytes() == before
    run(spec, tmp_path, again=True)
    assert epochs == [0, 1, 2, 3]
    assert (tmp_path / spec.digest / "checkpoint.1").read_bytes() == before


def test_what_was_made_before_there_were_fingerprints_is_kept(small, tmp_path, killed, other_images, change_record):
    done, stopped = small(), small(seed=1)
    run(done, tmp_path)
    change_record(tmp_path / done.digest, data=None)
    killed(2, stopped, tmp_path)
    checkpoint = tmp_path / stopped.digest / "checkpoint"
    content = read_checkpoint(checkpoint, {})
    del content["data"]
    write_checkpoint(checkpoint, content)
    other_images()
    run(done, tmp_path)
    run(stopped, tmp_path)


def test_a_finished_run_is_told_where_its_data_are_gone(small, tmp_path, monkeypatch):
    spec = small(dataset="mine", model="mlp")
    shutil.copytree(tmp_path / "data" / "fashion-mnist", tmp_path / "data" / "mine")
    whole = run(spec, tmp_path)
    shutil.rmtree(tmp_path / "data" / "mine")
    for gone in (tmp_path / "data", tmp_path / "gone"):
        monkeypatch.setenv("FOCAL_DATA", str(gone))
        np.testing.assert_array_equal(run(spec, tmp_path).test.logits, whole.test.logits)


def test_own_data_under_a_published_name_are_not_the_published(small, tmp_path, write_npz, monkeypatch):
    """What is published is not read again, nor fetched to compare."""
    spec = small()
    run(spec, tmp_path)
    monkeypatch.delenv("FOCAL_DATA")
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    run(spec, tmp_path)  # nothing there to compare with
    write_npz(tmp_path / "cache" / "fashion-mnist", n_train=100, n_test=20)
    with pytest.raises(OtherData, match=TOLD):
        run(spec, tmp_path)
    run(spec, tmp_path / "published")
    with monkeypatch.context() as patch:
        patch.setattr(data_identity.data, "load", lambda name: pytest.fail("read"))
        run(spec, tmp_path / "published")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    with pytest.raises(OtherData, match=TOLD):
        run(spec, tmp_path / "published")


@pytest.mark.parametrize("option", ["--dry-run", "--cores=1"])
def test_a_grid_is_not_done_with_other_data(small, tmp_path, grid, other_images, option, monkeypatch):
    path = grid("\n".join(f"{name}: {value}" for name, value in {**SMALL, "seed": "[0, 1]"}.items()))
    read = []
    for seed in (0, 1):
        run(small(seed=seed), tmp_path)
    load = data.load
    monkeypatch.setattr(data_identity.data, "load", lambda name: read.append(name) or load(name))
    command = ["grid", str(path), "--root", str(tmp_path), option]
    assert CliRunner().invoke(cli.main, [*command, "--dry-run"]).output == "2 runs: 2 done; 0 to do.\n"
    assert read == ["fashion-mnist"]
    other_images()
    refused = CliRunner().invoke(cli.main, command)
    assert refused.exit_code == 1
    assert "must have the data it was begun with" in refused.output
